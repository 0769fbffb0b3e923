import { DiscordAPIError, HTTPError, RateLimitError, REST, Routes } from 'discord.js';
import { makeRequest } from './request.ts';

/** What became of a request to send, as far as its answer tells. */
export type Outcome =
  | { status: 'sent'; messageId: string | null }
  /** `local`: the library knew the limit and asked nobody. */
  | { status: 'rate-limited'; global: boolean; local: boolean; retryAfterMs: number }
  /** Time-out, broken connection, cut answer, 5xx: it may have been done. */
  | { status: 'unsure'; reason: string }
  /** Not Discord itself, or Discord without a word on how long: hold everything. */
  | { status: 'breaker'; reason: string }
  | { status: 'unauthorised' }
  | { status: 'forbidden'; code: number }
  | { status: 'gone'; code: number }
  | { status: 'refused'; reason: string };

/** Whether a message with a reference is in a channel; `unknown` when its history cannot be read and holds something. */
export type Found = { status: 'found'; messageId: string } | { status: 'absent' } | { status: 'unknown' };

/** JSON codes of a 403 that concern one channel. */
const FORBIDDEN = new Set<unknown>([50001, 50013, 50083, 160005, 50024]);
/** Sends over Discord's REST alone, once: it never retries and never waits; the outbox does. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
}) {
  const rest = new REST({
    version: '10',
    api: apiUrl,
    retries: 0,
    rejectOnRateLimit: () => true,
    timeout: timeoutMs,
    offset: 20,
    globalRequestsPerSecond: 1_000,
    makeRequest,
  }).setToken(token);

  async function attempt(request: () => Promise<unknown>): Promise<Outcome> {
    try {
      const message = (await request()) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error);
      // The library forgets a token that was refused once.
      if (outcome.status === 'unauthorised') rest.setToken(token);
      return outcome;
    }
  }

  /** Whether nothing was sent since `after` to a channel that shows no messages. */
  async function silent(channelId: string, after: bigint, onRequest: () => void): Promise<Found | Outcome> {
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
      }),

    /**
     * Looks for the message whose text holds `reference` among the newest 100, however wrong this machine's clock was,
     * and among those since `since` (milliseconds); `onRequest` before each of the requests that this needs.
     */
    async find(channelId: string, reference: string, since: number, onRequest: () => void): Promise<Found | Outcome> {
      // A message's id begins with its time; a minute of slack for clocks that disagree.
      const after = BigInt(Math.max(0, since - 60_000 - 1_420_070_400_000)) << 22n;
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
        const hit = list.find((message) => JSON.stringify(message).includes(reference));
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

/** Sends over Discord's REST alone. */
export type Sender = ReturnType<typeof createSender>;

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });

function classify(error: unknown): Outcome {
  if (error instanceof RateLimitError) {
    if (error.retryAfter <= 0) return { status: 'breaker', reason: '429 without Retry-After' };
    // Only what the library computed itself is equal to the millisecond.
    const local = error.retryAfter === error.timeToReset;
    return { status: 'rate-limited', global: error.global, local, retryAfterMs: error.retryAfter };
  }
  if (error instanceof DiscordAPIError) return classifyRefusal(error);
  if (error instanceof HTTPError) return { status: 'unsure', reason: `HTTP ${error.status}` };
  const { name, message } = error as Error;
  return {
    status: 'unsure',
    reason: name === 'AbortError' ? 'no answer in time' : `${name}: ${message}`.slice(0, 200),
  };
}

function classifyRefusal({ status, code, message }: DiscordAPIError): Outcome {
  if (status === 401) return { status: 'unauthorised' };
  if (status === 403) {
    return FORBIDDEN.has(code)
      ? { status: 'forbidden', code: Number(code) }
      : { status: 'breaker', reason: `403 (${code ?? 'no code'})` };
  }
  if (typeof code !== 'number') return { status: 'breaker', reason: `${status} without a code` };
  // "Unknown message": for a create with a known nonce, delivered and deleted since; for an edit, nothing left to do.
  if (code === 10008) return { status: 'sent', messageId: null };
  if (code === 10003 || code === 10004) return { status: 'gone', code };
  return { status: 'refused', reason: `${code}: ${message}`.slice(0, 500) };
}
