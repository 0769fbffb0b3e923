import type { ControlEvent, Discord, MessageState } from '../../sandbox/discord/index.ts';
import { componentsIn } from '../../sandbox/discord/message-rules.ts';
import type { Transfer } from './transfers.ts';

/** One alert that was posted for the first time. */
export interface PostedAlert {
  /**
   * When the transfer's first request began that the sender did not abort before the alert was posted, and when the
   * stand-in had its message; milliseconds of `performance`.
   */
  sentAt: number;
  postedAt: number;
}

/** The results of everything that was sent: `acknowledged` counts transfers, the others count alerts. */
export type Counts = ReturnType<Tally['close']>;
/** Records what was sent and what was posted. */
export type Tally = ReturnType<typeof createTally>;

/** Compares what was sent with what the channels show, by the transactions' hashes in the messages' links. */
export function createTally(discord: Discord) {
  const transfers = new Map<
    string,
    { sentAt: number; isBrokenOff: boolean; channels: string[]; acknowledged: boolean }
  >();
  /** How often each alert is shown in its channel, and the alerts of each message's current version. */
  const shown = new Map<string, number>();
  const messages = new Map<string, string[]>();
  const posted: PostedAlert[] = [];
  let digests = 0;

  function see(event: ControlEvent): void {
    if (event.type !== 'message' || event.message.visibleTo !== null) return;
    const { id, deleted, message } = event.message;
    if (event.change === 'created' && message.embeds.some(({ title }) => title?.includes('Digest'))) digests++;
    for (const alert of messages.get(id) ?? []) shown.set(alert, shown.get(alert)! - 1);
    const alerts = deleted ? [] : alertsOf(event.message);
    messages.set(id, alerts);
    for (const alert of alerts) {
      const sentAt = transfers.get(alert.split(' ')[1]!)?.sentAt;
      if (!shown.has(alert) && sentAt !== undefined) posted.push({ sentAt, postedAt: performance.now() });
      shown.set(alert, (shown.get(alert) ?? 0) + 1);
    }
  }
  const stop = discord.on(see);

  return {
    posted,
    begin({ hash, channels }: Transfer): void {
      transfers.set(hash, { sentAt: performance.now(), isBrokenOff: false, channels, acknowledged: false });
    },
    /** A request with this body begins; its transfer's time counts from here if the previous one was aborted. */
    request(body: string): void {
      const transfer = transfers.get(hashIn(body))!;
      if (transfer.isBrokenOff) Object.assign(transfer, { sentAt: performance.now(), isBrokenOff: false });
    },
    /** The sender aborted a request with this body; it will be retried. */
    brokeOff(body: string): void {
      transfers.get(hashIn(body))!.isBrokenOff = true;
    },
    acknowledge(hash: string): void {
      transfers.get(hash)!.acknowledged = true;
    },
    /** Counts which alerts are shown once, more often, and not at all; stops recording. */
    close() {
      stop();
      const counts = { acknowledged: 0, owed: 0, shown: 0, doubled: 0, lost: 0, digests };
      const problems: string[] = [];
      for (const [hash, { channels, acknowledged }] of transfers) {
        if (acknowledged) counts.acknowledged++;
        for (const channelId of channels) {
          const times = shown.get(`${channelId} ${hash}`) ?? 0;
          if (acknowledged) counts.owed++;
          if (times === 1) counts.shown++;
          if (times > 1) counts.doubled++;
          if (acknowledged && times === 0) counts.lost++;
          if (times > 1 || (acknowledged && times === 0))
            problems.push(`${hash} posted ${times} times in ${channelId}`);
        }
      }
      return { ...counts, problems };
    },
  };
}

const hashIn = (body: string): string => /"txHash":"([^"]+)"/.exec(body)![1]!;

/** The alerts in a message, by channel and hash; each transaction has one transfer here, so more are duplicates. */
function alertsOf({ channelId, message }: MessageState): string[] {
  const texts = [...componentsIn(message.components, [])].map(([{ content }]) => String(content ?? ''));
  return [...texts, ...message.embeds.map((embed) => JSON.stringify(embed))].flatMap((text) => {
    const times = Number(/×(\d+)|(\d+) transfers/.exec(text)?.slice(1).find(Boolean) ?? 1);
    const hashes = [...new Set(text.match(/0x[0-9a-f]{64}/g))];
    return hashes.flatMap((hash) => Array<string>(times).fill(`${channelId} ${hash}`));
  });
}
