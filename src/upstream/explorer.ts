import { z } from 'zod';
import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import type { Token, TokenResult } from '../domain/token.ts';
import { type ClientOptions, call, createCache, failureOf, type HttpResult } from './http.ts';

export interface ExplorerOptions extends ClientOptions {
  addressParam: string;
  apiKey: string | undefined;
  now(): number;
}

const FOUND_CACHE_MS = MINUTE;
const NOT_FOUND_CACHE_MS = 15 * SECOND;
const MAX_CACHED = 500;

export type Explorer = ReturnType<typeof createExplorer>;

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
    /** `beforeCall` may throw; a cached result needs no call. */
    token: (address: AddressText, beforeCall?: () => void): Promise<TokenResult> =>
      cached(address, {
        load() {
          beforeCall?.();
          return lookUp(address);
        },
        keepMs: ({ status }) => (status === 'found' ? FOUND_CACHE_MS : status === 'not-found' ? NOT_FOUND_CACHE_MS : 0),
      }),
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

/** As in events: a contract may choose a name of any length. */
const MAX_TEXT = 300;
const text = z
  .string()
  .trim()
  .min(1)
  // A copy: a slice would keep the whole text in memory for as long as the result is cached.
  .transform((all) => Buffer.from(all.slice(0, MAX_TEXT)).toString())
  .nullish()
  .catch(null);
const digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .nullish()
  .catch(null);

const supply = z
  .string()
  .regex(/^(\d{1,78}|\d(\.\d{1,30})?e\+?\d{1,2})$/i)
  .nullish()
  .catch(null);

const record = z.looseObject({
  name: text,
  symbol: text,
  type: text,
  decimals: digits,
  totalSupply: supply,
  cataloged: z.union([z.boolean(), z.stringbool()]).nullish().catch(null),
});

const frame = z.looseObject({
  status: z.string().nullish().catch(null),
  message: z.string().nullish().catch(null),
  result: z.unknown(),
});

const NOT_FOUND = /not\s*found|no\s+(token|contract)/i;

/** "Not found" and "invalid" may have any status code and are in the envelope's message. */
function readToken(response: HttpResult, address: AddressText): TokenResult {
  const failure = failureOf(response);
  const parsed = frame.safeParse(response.status === 'answered' ? response.json : undefined);
  if (failure && failure.status !== 'rejected') return failure;
  if (!parsed.success) return failure ?? { status: 'unreadable' };
  const token = record.safeParse(parsed.data.result);
  const { message: reason, result } = parsed.data;
  // Some services return "NOTOK" with the reason in place of the record.
  const message = [reason, typeof result === 'string' ? result : ''].join(' ').slice(0, 300);
  // "Not found" may have an empty record.
  const isRefused = failure !== null || (parsed.data.status === '0' && NOT_FOUND.test(message));
  if (!isRefused && token.success) return { status: 'found', token: toToken(token.data, address) };
  if (NOT_FOUND.test(message)) return { status: 'not-found' };
  if (/invalid.*(address|hash)/i.test(message)) return { status: 'invalid' };
  if (/rate|limit|too many/i.test(message)) return { status: 'limited' };
  if (failure) return failure;
  return parsed.data.status === '1' && result === null ? { status: 'not-found' } : { status: 'unreadable' };
}

function toToken(row: z.output<typeof record>, address: AddressText): Token {
  const decimals = row.decimals == null ? null : Number(row.decimals);
  return {
    // Never the one that the response names: what is shown and watched is the contract that was asked for.
    address,
    name: row.name ?? null,
    symbol: row.symbol ?? null,
    type: row.type ?? null,
    decimals: decimals !== null && decimals <= 255 ? decimals : null,
    totalSupply: row.totalSupply ?? null,
    cataloged: row.cataloged ?? null,
  };
}
