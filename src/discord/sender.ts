import {
  DefaultRestOptions,
  DiscordAPIError,
  RateLimitError,
  REST,
  type RESTOptions,
  Routes,
  SnowflakeUtil,
} from 'discord.js';
import { MINUTE, SECOND } from '../domain/clock.ts';
import type { Sender, SendOutcome } from '../domain/sender.ts';

/** Sends each request once: retrying and waiting is up to the deliverer. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
  lock = null,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
  /** Asked right before each request: while the process slept, another one may have begun to send. */
  lock?: { isHeld(): boolean } | null;
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
      if (lock?.isHeld() === false) throw new Error('Another process sends now.');
      return readWhole(...request);
    },
  }).setToken(token);

  async function attempt(request: Promise<unknown>, isChange = false): Promise<SendOutcome> {
    try {
      const message = (await request) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error, isChange);
      // The library drops a token after one refusal.
      if (outcome.status === 'unauthorized') rest.setToken(token);
      return outcome;
    }
  }

  return {
    create: (channelId, payload, nonce, csv = null) =>
      attempt(
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    edit(channelId, messageId, payload, csv = null) {
      const route = Routes.channelMessage(channelId, messageId);
      if (csv === null) return attempt(rest.patch(route, { body: payload }), true);
      // Discord keeps only the files, old and new, that are listed.
      const body = { ...payload, attachments: [{ id: '0' }] };
      return attempt(rest.patch(route, { body, files: [fileOf(csv)] }), true);
    },

    async isMember(guildId) {
      const { status } = await attempt(rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    find: createMessageSearch(rest, attempt),
  };
}

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });

const DISCORD_EPOCH = Number(SnowflakeUtil.epoch);
const PAGE_SIZE = 100;
/** A message that may be beyond these pages is unknown. */
const MAX_PAGES = 11;

function createMessageSearch(rest: REST, attempt: (request: Promise<unknown>) => Promise<SendOutcome>): Sender['find'] {
  /** Also a channel with a hidden history shows the ID of its last message, which it keeps when that is deleted. */
  async function withoutHistory(
    channelId: string,
    after: bigint,
    countRequest: () => void,
  ): ReturnType<Sender['find']> {
    countRequest();
    const response = rest.get(Routes.channel(channelId));
    const outcome = await attempt(response);
    if (outcome.status === 'forbidden') return { status: 'unknown' };
    if (outcome.status !== 'sent') return outcome;
    const channel = await response.catch(() => null);
    const { last_message_id: last } = (channel ?? {}) as { last_message_id?: unknown };
    const isOlder = last === null || (typeof last === 'string' && /^\d+$/.test(last) && BigInt(last) < after);
    return { status: isOlder ? 'absent' : 'unknown' };
  }

  return async function find(channelId, reference, since, countRequest) {
    // A message's ID begins with its time; allows a minute for clocks that disagree.
    const after = BigInt(Math.max(0, since - MINUTE - DISCORD_EPOCH)) << 22n;
    let from: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      countRequest();
      const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(from === null ? {} : { after: from }) });
      const response = rest.get(Routes.channelMessages(channelId), { query });
      const outcome = await attempt(response);
      if (outcome.status === 'forbidden') return withoutHistory(channelId, after, countRequest);
      if (outcome.status !== 'sent') return outcome;
      const messages = await response.catch(() => null);
      if (!Array.isArray(messages)) return { status: 'unknown' };
      const list = messages as { id: string }[];
      const hit = list.find((message) => JSON.stringify(message, withoutQuotes).includes(reference));
      if (hit) return { status: 'found', messageId: hit.id };
      // Without permission to read the history, Discord returns an empty one.
      if (from === null && list.length === 0) return withoutHistory(channelId, after, countRequest);
      const ids = list.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
      // The newest messages reach back far enough, or there are no more.
      if (ids.length < PAGE_SIZE || (from === null && ids[0]! <= after)) return { status: 'absent' };
      from = (from === null ? after : ids.at(-1)!).toString();
    }
    return { status: 'unknown' };
  };
}

/** Ignores content that a reply or a forwarded message quotes. */
const withoutQuotes = (key: string, value: unknown): unknown =>
  key === 'referenced_message' || key === 'message_snapshots' ? undefined : value;

/** JSON codes of a 403 that concern one channel or guild. */
const FORBIDDEN = new Set<unknown>([50001, 50009, 50013, 50083, 50095, 160005, 50024]);
/** JSON codes of a 400 with which a channel refuses any new message: mostly closed threads. */
const CLOSED = new Set<unknown>([40058, 50008, 50024, 50083, 160005, 160006, 160007]);
/** JSON codes that concern a message's content: other messages are not affected. */
const UNWANTED = new Set<unknown>([20009, 200000, 240000, 400001]);
/** JSON codes with which Discord refuses all requests for a while. */
const OVERLOADED = new Set<unknown>([40004, 40006, 110001, 130000]);

class Misread extends Error {
  readonly outcome: SendOutcome;
  constructor(outcome: SendOutcome) {
    super(outcome.status);
    this.outcome = outcome;
  }
}

/**
 * Uses Node's `fetch` for a request with a file: on this Node version the library does not accept the form data that it
 * builds itself. Follows no redirects, because they would drop the message.
 */
export const makeRequest: RESTOptions['makeRequest'] = (url, init) =>
  init.body instanceof FormData
    ? (fetch(url, { ...(init as unknown as RequestInit), redirect: 'manual' }) as unknown as ReturnType<
        RESTOptions['makeRequest']
      >)
    : DefaultRestOptions.makeRequest(url, init);

/**
 * Reads a whole response within the request's time limit. The library counts every page below 400 as a success, waits
 * minutes for a response's end, and ignores `Retry-After` except in Discord's own 429.
 */
const readWhole: RESTOptions['makeRequest'] = async (url, init) => {
  const response = await makeRequest(url, init);
  const { status, ok } = response;
  const headers = new Headers(response.headers as unknown as Headers);
  const text = await response.text();
  let json: object | undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) json = parsed;
  } catch {
    // A page of something in front of Discord.
  }
  const isJson = json !== undefined;
  // Limits with a code of their own may have the right time only in the body.
  const asked = Number(headers.get('retry-after'));
  const seconds = Math.max(asked, asked > 0 ? ownLimit(json) : 0);
  if (seconds > asked) headers.set('retry-after', String(seconds));
  const wait: { retryAfterMs?: number } = seconds > 0 ? { retryAfterMs: seconds * SECOND } : {};
  const reason = `HTTP ${status}${isJson ? '' : ' without JSON'}`;
  // The library parses JSON only with the right content type, which proxies may leave out.
  if (isJson) headers.set('content-type', 'application/json');
  // An empty body is Discord's. Cloudflare's limits, which apply to everything, come with a page or a few words.
  const isLimit = status === 429 && wait.retryAfterMs !== undefined && text === '';
  // The message may have been posted.
  if (status >= 500 || (ok && !isJson)) throw new Misread({ status: 'unconfirmed', reason, ...wait });
  if (status === 413) throw new Misread({ status: 'refused', reason });
  // A redirect, or something in front of Discord.
  const isForeign = status < 400 ? !ok : status !== 401 && !isLimit && !isJson;
  if (isForeign) throw new Misread({ status: 'breaker', reason, ...wait });
  // The library checks only the headers to see whether a limit is global.
  const isGlobal = status === 429 && json !== undefined && 'global' in json && json.global === true;
  if (isGlobal && wait.retryAfterMs && !headers.has('x-ratelimit-global'))
    throw new Misread({ status: 'rate-limited', global: true, local: false, retryAfterMs: wait.retryAfterMs });
  return new Response(text, { status, headers });
};

/** The seconds in the body of a limit with its own code, such as for edits of published messages. */
function ownLimit(json: { code?: unknown; retry_after?: unknown } = {}): number {
  return json.code ? Number(json.retry_after) || 0 : 0;
}

/** `isChange`: of an edit, for which some refusals mean something else. */
function classify(error: unknown, isChange: boolean): SendOutcome {
  if (error instanceof Misread) return error.outcome;
  if (error instanceof RateLimitError) {
    // A Retry-After that is not a number of seconds, such as a date, is ignored.
    if (!(error.retryAfter > 0)) return { status: 'breaker', reason: '429 without Retry-After' };
    // They are equal to the millisecond only where the library computed the wait itself.
    const local = error.retryAfter === error.timeToReset;
    return { status: 'rate-limited', global: error.global, local, retryAfterMs: error.retryAfter };
  }
  if (error instanceof DiscordAPIError) return classifyRefusal(error, isChange);
  const { name, message } = error as Error;
  return {
    status: 'unconfirmed',
    reason: name === 'AbortError' ? 'no response in time' : `${name}: ${message}`.slice(0, 200),
  };
}

function classifyRefusal({ status, code, message }: DiscordAPIError, isChange: boolean): SendOutcome {
  if (status === 401) return { status: 'unauthorized' };
  const refused = { status: 'refused', reason: `${code}: ${message}`.slice(0, 500) } as const;
  if (UNWANTED.has(code)) return refused;
  // The message belongs to another bot that this one replaced, and cannot be edited.
  if (isChange && code === 50005) return { status: 'sent', messageId: null };
  if (status === 403) {
    return FORBIDDEN.has(code)
      ? { status: 'forbidden', code: Number(code) }
      : { status: 'breaker', reason: `403 (${code ?? 'no code'})` };
  }
  // Code 0: no such route or method, which is not the message's fault; for an edit a breaker would be too much.
  if (typeof code !== 'number' || OVERLOADED.has(code) || (code === 0 && status !== 400 && !isChange))
    return { status: 'breaker', reason: `${status} (${code ?? 'no code'})` };
  // "Unknown message": for a create with a known nonce, delivered and deleted since; for an edit, nothing left to do.
  if (code === 10008) return { status: 'sent', messageId: null };
  if (code === 10003 || code === 10004) return { status: 'gone', code };
  // Sent messages of an archived thread cannot be changed, while new ones open it again.
  if (CLOSED.has(code) && !isChange) return { status: 'forbidden', code };
  return refused;
}
