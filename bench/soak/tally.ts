import type { ControlEvent } from '../../sandbox/discord/index.ts';
import type { Transfer } from './body.ts';

/** One line that was told for the first time. */
export interface Told {
  /** When the first request of its transfer began, and when the stand-in had its message; milliseconds of `performance`. */
  sentAt: number;
  toldAt: number;
}

/** What became of everything that was acknowledged. `lost` and `doubled` must be 0. */
export interface Verdict {
  acknowledged: number;
  lines: number;
  shown: number;
  lost: number;
  doubled: number;
  digests: number;
  problems: string[];
}

/** Compares what was sent with what the channels show, by the transactions' hashes in the messages' links. */
export function createTally() {
  const transfers = new Map<string, { sentAt: number; channels: string[]; acknowledged: boolean }>();
  /** How often each line stands in its channel, by channel and hash. */
  const lines = new Map<string, number>();
  /** The lines of each message as it looks now. */
  const messages = new Map<string, string[]>();
  const told: Told[] = [];
  let digests = 0;

  return {
    told,
    begin({ hash, channels }: Transfer): void {
      transfers.set(hash, { sentAt: performance.now(), channels, acknowledged: false });
    },
    acknowledge(hash: string): void {
      transfers.get(hash)!.acknowledged = true;
    },
    /** Takes note of a message that came, changed or went. */
    see(event: ControlEvent): void {
      if (event.type !== 'message') return;
      const { id, channelId, deleted, visibleTo, message } = event.message;
      if (visibleTo !== null) return;
      if (event.change === 'created' && message.embeds.some(({ title }) => title?.includes('Digest'))) digests++;
      for (const line of messages.get(id) ?? []) lines.set(line, lines.get(line)! - 1);
      const now = deleted ? [] : linesOf(message).map((hash) => `${channelId} ${hash}`);
      messages.set(id, now);
      for (const line of now) {
        const times = lines.get(line);
        lines.set(line, (times ?? 0) + 1);
        const sentAt = transfers.get(line.split(' ')[1]!)?.sentAt;
        if (times === undefined && sentAt !== undefined) told.push({ sentAt, toldAt: performance.now() });
      }
    },
    verdict(): Verdict {
      const verdict: Verdict = { acknowledged: 0, lines: 0, shown: 0, lost: 0, doubled: 0, digests, problems: [] };
      for (const [hash, { channels, acknowledged }] of transfers) {
        if (acknowledged) verdict.acknowledged++;
        for (const channelId of channels) {
          const times = lines.get(`${channelId} ${hash}`) ?? 0;
          if (acknowledged) verdict.lines++;
          if (times === 1) verdict.shown++;
          if (times > 1) verdict.doubled++;
          if (acknowledged && times === 0) verdict.lost++;
          if (times !== 1) verdict.problems.push(`${hash} told ${times} times in ${channelId}`);
        }
      }
      return verdict;
    },
  };
}

/** The hashes that a message tells of, one as often as it counts. */
function linesOf(message: { embeds: object[] }): string[] {
  return message.embeds.flatMap((embed) => {
    const text = JSON.stringify(embed);
    const times = Number(/×(\d+)/.exec(text)?.[1] ?? 1);
    return [...new Set(text.match(/0x[0-9a-f]{64}/g))].flatMap((hash) => Array<string>(times).fill(hash));
  });
}
