import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import type { TokenAnswer } from '../domain/token.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { type Answer, call } from './http.ts';
import { createMemory } from './memory.ts';
import { readAnswer } from './token.ts';

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
  onAnswer?(failure: UpstreamFailure | null): void;
}

const FOUND_MS = MINUTE;
const NOT_FOUND_MS = 15 * SECOND;
const CACHED = 500;

/** The explorer's token lookup. */
export type Explorer = ReturnType<typeof createExplorer>;

/** Creates the client. Results are cached briefly, and equal lookups share one call. */
export function createExplorer(options: ExplorerOptions) {
  const { url, addressParam, apiKey, now, timeoutMs = 10_000, onAnswer } = options;
  const remember = createMemory<TokenAnswer>(CACHED, now);
  let root = `${url}/`;

  const ask = (address: AddressText, base: string) => {
    const target = new URL(base);
    target.searchParams.set('module', 'token');
    target.searchParams.set('action', 'getToken');
    target.searchParams.set(addressParam, address);
    if (apiKey !== undefined) target.searchParams.set('apiKey', apiKey);
    return call({ url: target, timeoutMs });
  };

  async function lookUp(address: AddressText): Promise<TokenAnswer> {
    const first = root;
    let answer = await ask(address, first);
    // Some deployments serve their root only without a trailing slash.
    if (isElsewhere(answer)) {
      const other = first === url ? `${url}/` : url;
      answer = await ask(address, other);
      if (answer.status === 'answered' && !isElsewhere(answer)) root = other;
    }
    const read = readAnswer(answer, address);
    onAnswer?.(isAnswered(read) ? null : read);
    return read;
  }

  return {
    /** Looks up a token's catalog record. */
    token: (address: AddressText): Promise<TokenAnswer> =>
      remember(address, {
        ask: () => lookUp(address),
        keepMs: ({ status }) => (status === 'found' ? FOUND_MS : status === 'not-found' ? NOT_FOUND_MS : 0),
      }),
    /** Makes a request, bypassing the cache. */
    probe: (): Promise<TokenAnswer> => lookUp(ZERO_ADDRESS),
  };
}

type Answered = Extract<TokenAnswer, { status: 'found' | 'not-found' | 'invalid' }>;

const isAnswered = (answer: TokenAnswer): answer is Answered =>
  answer.status === 'found' || answer.status === 'not-found' || answer.status === 'invalid';

function isElsewhere(answer: Answer): boolean {
  if (answer.status !== 'answered') return false;
  return (answer.code >= 300 && answer.code < 400) || (answer.code === 404 && !isFrame(answer.json));
}

function isFrame(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'message' in json && 'status' in json;
}
