import { REST, Routes } from 'discord.js';
import { MINUTE } from '../domain/clock.ts';
import type { FindOutcome, Sender, SendOutcome } from '../domain/send-outcome.ts';
import { classify, readWhole } from './outcome.ts';

/** The beginning of 2015, from which the times in Discord's ids are counted. */
const DISCORD_EPOCH = 1_420_070_400_000;

/** Sends each request to Discord's REST API once. Never retries and never waits; the deliverer does. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
  maySend = () => true,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
  /** Whether a request may still be sent, right before it is; a process may have slept since it was decided. */
  maySend?(): boolean;
}): Sender {
  const rest = new REST({
    version: '10',
    api: apiUrl,
    retries: 0,
    rejectOnRateLimit: () => true,
    timeout: timeoutMs,
    offset: 20,
    globalRequestsPerSecond: 1_000,
    async makeRequest(...request) {
      if (!maySend()) throw new Error('Another process sends now.');
      return readWhole(...request);
    },
  }).setToken(token);

  async function attempt(request: () => Promise<unknown>, isChange = false): Promise<SendOutcome> {
    try {
      const message = (await request()) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error, isChange);
      // The library drops a token after one refusal.
      if (outcome.status === 'unauthorized') rest.setToken(token);
      return outcome;
    }
  }

  /** Whether a channel with a hidden history got no message since `after`. */
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
    create: (channelId: string, payload: object, nonce: string, csv: string | null = null) =>
      attempt(() =>
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    edit: (channelId: string, messageId: string, payload: object, csv: string | null = null) =>
      attempt(() => {
        const route = Routes.channelMessage(channelId, messageId);
        if (csv === null) return rest.patch(route, { body: payload });
        // Discord keeps only the files, old and new, that are listed.
        return rest.patch(route, { body: { ...payload, attachments: [{ id: '0' }] }, files: [fileOf(csv)] });
      }, true),

    async isMember(guildId: string): Promise<boolean | null> {
      const { status } = await attempt(() => rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    async find(
      channelId: string,
      reference: string,
      since: number,
      onRequest: () => void,
    ): Promise<FindOutcome | SendOutcome> {
      // A message's ID begins with its time; allows a minute for clocks that disagree.
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
        // Without permission to read the history, Discord returns an empty one.
        if (from === null && list.length === 0) return silent(channelId, after, onRequest);
        const ids = list.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
        // The newest messages reach back far enough, or there are no more.
        if (ids.length < 100 || (from === null && ids[0]! <= after)) break;
        from = (from === null ? after : ids.at(-1)!).toString();
      }
      return { status: 'absent' };
    },
  };
}

/** Ignores content that a reply or a forwarded message quotes. */
const withoutQuotes = (key: string, value: unknown): unknown =>
  key === 'referenced_message' || key === 'message_snapshots' ? undefined : value;

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });
