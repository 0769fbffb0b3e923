import { DefaultRestOptions, DiscordAPIError, RateLimitError, type RESTOptions } from 'discord.js';
import { SECOND } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/sender.ts';

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
export const readWhole: RESTOptions['makeRequest'] = async (url, init) => {
  const response = await makeRequest(url, init);
  const { status, ok } = response;
  const headers = new Headers(response.headers as unknown as Headers);
  const text = await response.text();
  const json = parse(text);
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

function parse(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

/** `isChange`: of an edit, for which some refusals mean something else. */
export function classify(error: unknown, isChange: boolean): SendOutcome {
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
