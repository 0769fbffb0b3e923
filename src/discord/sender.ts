import { REST, Routes } from 'discord.js';
import { MINUTE } from '../domain/clock.ts';
import type { FindOutcome, Sender, SendOutcome } from '../domain/send-outcome.ts';
import { classify, readWhole } from './outcome.ts';

/** The beginning of 2015, from which the times in Discord's ids are counted. */
const DISCORD_EPOCH = 1_420_070_400_000;

/** Sends over Discord's REST alone, once: it never retries and never waits; the outbox does. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
}): Sender {
  const rest = new REST({
    version: '10',
    api: apiUrl,
    retries: 0,
    rejectOnRateLimit: () => true,
    timeout: timeoutMs,
    offset: 20,
    globalRequestsPerSecond: 1_000,
    makeRequest: readWhole,
  }).setToken(token);

  async function attempt(request: () => Promise<unknown>, isChange = false): Promise<SendOutcome> {
    try {
      const message = (await request()) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error, isChange);
      // The library forgets a token that was refused once.
      if (outcome.status === 'unauthorized') rest.setToken(token);
      return outcome;
    }
  }

  /** Whether nothing was sent since `after` to a channel that shows no messages. */
  async function silent(channelId: string, after: bigint, onRequest: () => void): Promise<FindOutcome | SendOutcome> {
    onRequest();
    let channel: { last_message_id?: string | null } = {};
    const outcome = await attempt(async () => {
      channel = (await rest.get(Routes.channel(channelId))) as typeof channel;
    });
    if (outcome.status === 'forbidden') return { status: 'unknown' };
    if (outcome.status !== 'sent') return outcome;
    const last = channel.last_message_id;
    return { status: last === null || (last !== undefined && BigInt(last) < after) ? 'absent' : 'unknown' };
  }

  return {
    /** Creates the message of a frozen body; a repeat with the same nonce creates nothing new for some minutes. */
    create: (channelId: string, payload: object, nonce: string, csv: string | null = null) =>
      attempt(() =>
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    /** Changes what the payload names; a `csv` takes the place of the file that the message has. */
    edit: (channelId: string, messageId: string, payload: object, csv: string | null = null) =>
      attempt(() => {
        const route = Routes.channelMessage(channelId, messageId);
        if (csv === null) return rest.patch(route, { body: payload });
        // Discord keeps of a message's files, old and new, those that are listed.
        return rest.patch(route, { body: { ...payload, attachments: [{ id: '0' }] }, files: [fileOf(csv)] });
      }, true),

    /** Whether the bot is in a guild; null when no answer says so. */
    async isMember(guildId: string): Promise<boolean | null> {
      const { status } = await attempt(() => rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    /**
     * Looks for the message whose text holds `reference` among the newest 100, however wrong this machine's clock was,
     * and among those since `since` (milliseconds); `onRequest` before each of the requests that this needs.
     */
    async find(
      channelId: string,
      reference: string,
      since: number,
      onRequest: () => void,
    ): Promise<FindOutcome | SendOutcome> {
      // A message's id begins with its time; a minute of slack for clocks that disagree.
      const after = BigInt(Math.max(0, since - MINUTE - DISCORD_EPOCH)) << 22n;
      let from: string | null = null;
      for (let page = 0; page <= 10; page++) {
        let messages: unknown;
        onRequest();
        const query = new URLSearchParams({ limit: '100', ...(from === null ? {} : { after: from }) });
        const outcome = await attempt(async () => {
          messages = await rest.get(Routes.channelMessages(channelId), { query });
        });
        if (outcome.status === 'forbidden') return { status: 'unknown' };
        if (outcome.status !== 'sent') return outcome;
        if (!Array.isArray(messages)) return { status: 'unknown' };
        const list = messages as { id: string }[];
        const hit = list.find((message) => JSON.stringify(message, withoutQuotes).includes(reference));
        if (hit) return { status: 'found', messageId: hit.id };
        // Who may not read a channel's history is shown an empty one.
        if (from === null && list.length === 0) return silent(channelId, after, onRequest);
        const ids = list.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
        // The newest reach back far enough, or there are no more.
        if (ids.length < 100 || (from === null && ids[0]! <= after)) break;
        from = (from === null ? after : ids.at(-1)!).toString();
      }
      return { status: 'absent' };
    },
  };
}

/** What a reply or a forwarded message shows of another one is not its own. */
const withoutQuotes = (key: string, value: unknown): unknown =>
  key === 'referenced_message' || key === 'message_snapshots' ? undefined : value;

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });
