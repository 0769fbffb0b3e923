import type { AddressText } from '../domain/address.ts';
import type { ChainNode } from '../domain/chain-node.ts';
import type { TokenFacts } from '../domain/completeness.ts';

/** Most tokens that are remembered: anybody can make more. */
const MAX_TOKENS = 1_000;
const MAX_TEXT = 200;

const SELECTORS = { name: '0x06fdde03', symbol: '0x95d89b41', decimals: '0x313ce567' } as const;

export function createTokenReader(chain: Pick<ChainNode, 'read'>) {
  const known = new Map<AddressText, TokenFacts>();
  return async (token: AddressText): Promise<TokenFacts> => {
    const before = known.get(token);
    if (before) return before;
    const decimals = numberIn(await chain.read(token, SELECTORS.decimals));
    const facts = {
      name: textIn(await chain.read(token, SELECTORS.name)),
      symbol: textIn(await chain.read(token, SELECTORS.symbol)),
      decimals: decimals !== null && decimals <= 255n ? Number(decimals) : null,
    };
    if (known.size >= MAX_TOKENS) known.delete(known.keys().next().value!);
    known.set(token, facts);
    return facts;
  };
}

const numberIn = (data: string | null): bigint | null =>
  data !== null && /^0x[0-9a-f]{64}$/i.test(data) ? BigInt(data) : null;

/** A text in a response: a string, or 32 bytes as old tokens write it; null for anything else. */
function textIn(data: string | null): string | null {
  if (data === null || !/^0x(?:[0-9a-f]{64})+$/i.test(data)) return null;
  const bytes = Buffer.from(data.slice(2), 'hex');
  const isString = bytes.length >= 96 && BigInt(data.slice(0, 66)) === 32n;
  const length = isString ? bytes.readUInt32BE(60) : bytes.length;
  const text = isString ? bytes.subarray(64, 64 + Math.min(length, MAX_TEXT * 4)) : bytes.subarray(0, 32);
  return text.toString('utf8').replaceAll('\0', '').slice(0, MAX_TEXT) || null;
}
