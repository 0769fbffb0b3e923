import { z } from 'zod';
import { type AddressText, toAddress } from '../domain/address.ts';
import { type Answer, call, type Failure, failureOf } from './http.ts';

/** A token as the explorer describes it; null where it does not know. */
export interface Token {
  address: AddressText;
  name: string | null;
  symbol: string | null;
  /** `ERC-20`, `ERC-721`, or whatever comes. */
  type: string | null;
  decimals: number | null;
  /** Decimal text in the smallest unit. */
  totalSupply: string | null;
  cataloged: boolean | null;
}

/** What a look-up gave. `invalid`: the explorer does not take the address for one. */
export type TokenAnswer = { status: 'found'; token: Token } | { status: 'not-found' } | { status: 'invalid' } | Failure;

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
}

const FOUND_MS = 60_000;
const NOT_FOUND_MS = 15_000;
const CACHED = 500;

const text = z.string().trim().min(1).nullish().catch(null);
const digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .nullish()
  .catch(null);

const record = z.looseObject({
  contractAddress: text,
  name: text,
  symbol: text,
  type: text,
  decimals: digits,
  totalSupply: digits,
  cataloged: z.union([z.boolean(), z.stringbool()]).nullish().catch(null),
});

const frame = z.looseObject({
  status: z.string().nullish().catch(null),
  message: z.string().nullish().catch(null),
  result: z.unknown(),
});

/** The explorer's token look-up. */
export type Explorer = ReturnType<typeof createExplorer>;

/** Makes the client; answers are remembered briefly, and the same look-up is never under way twice. */
export function createExplorer({ url, addressParam, apiKey, now, timeoutMs = 10_000 }: ExplorerOptions) {
  const cache = new Map<AddressText, { until: number; answer: TokenAnswer }>();
  const pending = new Map<AddressText, Promise<TokenAnswer>>();
  let root = `${url}/`;

  const ask = (address: AddressText) => {
    const target = new URL(root);
    target.searchParams.set('module', 'token');
    target.searchParams.set('action', 'getToken');
    target.searchParams.set(addressParam, address);
    if (apiKey !== undefined) target.searchParams.set('apiKey', apiKey);
    return call({ url: target, timeoutMs });
  };

  async function lookUp(address: AddressText): Promise<TokenAnswer> {
    let answer = await ask(address);
    // Some deployments serve their root only without the slash at its end.
    if (isElsewhere(answer) && root.endsWith('/')) {
      root = url;
      answer = await ask(address);
      if (isElsewhere(answer)) root = `${url}/`;
    }
    const read = readAnswer(answer, address);
    const keep = read.status === 'found' ? FOUND_MS : read.status === 'not-found' ? NOT_FOUND_MS : 0;
    if (keep > 0) {
      cache.delete(address);
      cache.set(address, { until: now() + keep, answer: read });
      if (cache.size > CACHED) cache.delete(cache.keys().next().value!);
    }
    return read;
  }

  return {
    /** Looks up a token's catalogue record. */
    token(address: AddressText): Promise<TokenAnswer> {
      const known = cache.get(address);
      if (known && known.until > now()) return Promise.resolve(known.answer);
      const under = pending.get(address);
      if (under) return under;
      const asked = lookUp(address).finally(() => pending.delete(address));
      pending.set(address, asked);
      return asked;
    },
  };
}

function isElsewhere(answer: Answer): boolean {
  if (answer.status !== 'answered') return false;
  return (answer.code >= 300 && answer.code < 400) || (answer.code === 404 && !isFrame(answer.json));
}

function isFrame(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'message' in json && 'status' in json;
}

/** "Not found" and "invalid" come with any status code, in the message of the frame. */
function readAnswer(answer: Answer, address: AddressText): TokenAnswer {
  const failure = failureOf(answer);
  const parsed = frame.safeParse(answer.status === 'answered' ? answer.json : undefined);
  if (failure && failure.status !== 'rejected') return failure;
  if (!parsed.success) return failure ?? { status: 'unreadable' };
  const token = record.safeParse(parsed.data.result);
  if (!failure && token.success) return { status: 'found', token: toToken(token.data, address) };
  const message = parsed.data.message ?? '';
  if (/not\s*found|no\s+(token|contract)/i.test(message)) return { status: 'not-found' };
  if (/invalid.*(address|hash)/i.test(message)) return { status: 'invalid' };
  if (/rate|limit|too many/i.test(message)) return { status: 'limited' };
  if (failure) return failure;
  return parsed.data.status === '1' && parsed.data.result === null ? { status: 'not-found' } : { status: 'unreadable' };
}

function toToken(row: z.output<typeof record>, address: AddressText): Token {
  const decimals = row.decimals == null ? null : Number(row.decimals);
  return {
    address: toAddress(row.contractAddress) ?? address,
    name: row.name ?? null,
    symbol: row.symbol ?? null,
    type: row.type ?? null,
    decimals: decimals !== null && decimals <= 255 ? decimals : null,
    totalSupply: row.totalSupply ?? null,
    cataloged: row.cataloged ?? null,
  };
}
