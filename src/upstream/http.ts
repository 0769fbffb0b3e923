import secureJson from 'secure-json-parse';
import { request } from 'undici';
import { numbersAsWritten } from '../domain/event.ts';
import { MIB } from '../domain/units.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';

/** `json` is undefined when the body is not JSON. By default numbers are their source texts. */
export interface HttpResponse {
  status: 'answered';
  code: number;
  json: unknown;
}

/** Contains nothing of the request or the raw body, because both may contain keys. */
export type HttpResult = HttpResponse | { status: 'timeout' } | { status: 'unreachable' };

/** What the client of every interface is given. */
export interface ClientOptions {
  /** Root of the interface, with its version segment. */
  url: string;
  timeoutMs?: number | undefined;
  /** A request ended; null: successfully. */
  onResponse?: ((failure: UpstreamFailure | null) => void) | undefined;
}

export interface Call {
  url: URL;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: unknown;
  /** Time limit from the connection to the last byte. */
  timeoutMs: number;
  /** The rest of a larger response is not read; the default is larger than any response of the three interfaces. */
  maxBytes?: number;
  /** Parses the body; null: it is too large. Errors are caught. */
  parse?(body: Buffer | null): unknown;
}

/** Sends a request and reads the response as JSON; never throws, never follows a redirect. */
export async function call({
  url,
  method = 'GET',
  headers = {},
  body,
  timeoutMs,
  maxBytes = 4 * MIB,
  parse = parseExactly,
}: Call): Promise<HttpResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request(url, {
      method,
      headers: {
        accept: 'application/json',
        // Without this header, a service may choose any compression.
        'accept-encoding': 'identity',
        // Some firewalls refuse requests without it.
        'user-agent': 'Ledgerbell',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    const bytes = await readBody(response.body, maxBytes);
    return { status: 'answered', code: response.statusCode, json: parsed(bytes, parse) };
  } catch {
    return signal.aborted ? { status: 'timeout' } : { status: 'unreachable' };
  }
}

export async function readBody(body: AsyncIterable<Buffer>, max: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > max) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseExactly(body: Buffer | null): unknown {
  if (body === null) return undefined;
  return secureJson.parse(body.toString('utf8'), numbersAsWritten, {
    protoAction: 'remove',
    constructorAction: 'remove',
  });
}

function parsed(body: Buffer | null, parse: (body: Buffer | null) => unknown): unknown {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}

export function failureOf(response: HttpResult): UpstreamFailure | null {
  if (response.status !== 'answered') return response;
  const { code } = response;
  if (code >= 200 && code < 300) return null;
  if (code === 401 || code === 403) return { status: 'forbidden' };
  if (code === 400 || code === 404 || code === 422) return { status: 'rejected' };
  if (code === 408 || code === 504) return { status: 'timeout' };
  return code === 429 ? { status: 'limited' } : { status: 'broken', code };
}

export function jsonOf(response: HttpResult): { status: 'ok'; json: unknown } | UpstreamFailure {
  const failure = failureOf(response);
  if (failure) return failure;
  return { status: 'ok', json: 'json' in response ? response.json : undefined };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `keepMs`: 0: the result is not cached. */
interface Loading<Result> {
  load(): Promise<Result>;
  keepMs(result: Result): number;
}

/** Equal requests share one call. lru-cache would save no line: 0 means forever there, and eviction aborts requests. */
export function createCache<Result>(max: number, now: () => number) {
  const cached = new Map<string, { until: number; result: Result }>();
  const loading = new Map<string, Promise<Result>>();

  return (key: string, { load, keepMs }: Loading<Result>): Promise<Result> => {
    const found = cached.get(key);
    if (found && found.until > now()) return Promise.resolve(found.result);
    const underWay = loading.get(key);
    if (underWay) return underWay;
    const loaded = load()
      .then((result) => {
        const keep = keepMs(result);
        if (keep === 0) return result;
        cached.delete(key);
        cached.set(key, { until: now() + keep, result });
        if (cached.size > max) cached.delete(cached.keys().next().value!);
        return result;
      })
      .finally(() => loading.delete(key));
    loading.set(key, loaded);
    return loaded;
  };
}
