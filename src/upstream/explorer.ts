import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import type { TokenResult } from '../domain/token.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { createCache } from './cache.ts';
import { call, type HttpResult } from './http.ts';
import { readToken } from './token.ts';

/** Where and how tokens are looked up. */
export interface ExplorerOptions {
  /** Root of the interface, with its version segment. */
  url: string;
  /** Query parameter that carries the contract address. */
  addressParam: string;
  apiKey: string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  timeoutMs?: number;
  /** A lookup ended; null: successfully. */
  onResponse?(failure: UpstreamFailure | null): void;
}

const FOUND_CACHE_MS = MINUTE;
const NOT_FOUND_CACHE_MS = 15 * SECOND;
/** Maximum number of cached tokens. */
const MAX_CACHED = 500;

/** The explorer's token lookup. */
export type Explorer = ReturnType<typeof createExplorer>;

/** Creates the client. Results are cached briefly, and equal lookups share one call. */
export function createExplorer(options: ExplorerOptions) {
  const { url, addressParam, apiKey, now, timeoutMs = 10_000, onResponse } = options;
  const cached = createCache<TokenResult>(MAX_CACHED, now);
  let root = `${url}/`;

  const request = (address: AddressText, base: string) => {
    const target = new URL(base);
    target.searchParams.set('module', 'token');
    target.searchParams.set('action', 'getToken');
    target.searchParams.set(addressParam, address);
    if (apiKey !== undefined) target.searchParams.set('apiKey', apiKey);
    return call({ url: target, timeoutMs });
  };

  async function lookUp(address: AddressText): Promise<TokenResult> {
    const first = root;
    let response = await request(address, first);
    // Some deployments serve their root only without a trailing slash.
    if (isElsewhere(response)) {
      const other = first === url ? `${url}/` : url;
      response = await request(address, other);
      if (response.status === 'answered' && !isElsewhere(response)) root = other;
    }
    const read = readToken(response, address);
    onResponse?.(isAnswered(read) ? null : read);
    return read;
  }

  return {
    /** Looks up a token's catalog record. */
    token: (address: AddressText): Promise<TokenResult> =>
      cached(address, {
        load: () => lookUp(address),
        keepMs: ({ status }) => (status === 'found' ? FOUND_CACHE_MS : status === 'not-found' ? NOT_FOUND_CACHE_MS : 0),
      }),
    /** Makes a request, bypassing the cache. */
    probe: (): Promise<TokenResult> => lookUp(ZERO_ADDRESS),
  };
}

type Answered = Extract<TokenResult, { status: 'found' | 'not-found' | 'invalid' }>;

const isAnswered = (response: TokenResult): response is Answered =>
  response.status === 'found' || response.status === 'not-found' || response.status === 'invalid';

function isElsewhere(response: HttpResult): boolean {
  if (response.status !== 'answered') return false;
  return (response.code >= 300 && response.code < 400) || (response.code === 404 && !isFrame(response.json));
}

function isFrame(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'message' in json && 'status' in json;
}
