import * as Address from 'ox/Address';
import { type AddressText, NATIVE_SENTINEL, toAddress, ZERO_ADDRESS } from './address.ts';

/**
 * Why a text is not a usable address: not `0x` and 40 hexadecimal digits (`transaction`: as long as a transaction's
 * hash; `foreign`: as chains of other kinds have it), a link that names several, capitals that contradict EIP-55, or
 * (only where something is to be watched) an address that nearly everything would match. The texts `address.…` explain
 * it to people.
 */
export type AddressFault = 'form' | 'several' | 'transaction' | 'foreign' | 'checksum' | 'zero' | 'sentinel';

/** What a person typed as an address: its stored form, or why it is not an address. */
export type ParsedAddress = { ok: true; address: AddressText } | { ok: false; fault: AddressFault };

/** Invisible characters that people copy from a page. */
const UNSEEN = /\p{Cf}/gu;

/** An address in a text, where it stands alone: in a hash there are 40 digits as well. */
const WITHIN = /(?<![0-9a-z])0x[0-9a-f]{40}(?![0-9a-z])/gi;
/** Base58 and Bech32, which Solana, Tron, Bitcoin and Cosmos use. */
const FOREIGN = /^(?![0-9a-fA-F]+$)(?:[1-9A-HJ-NP-Za-km-z]{32,44}|[a-z]{2,12}1[02-9ac-hj-np-z]{38,})$/;

/** The addresses that a text names, as they are written there, each once. */
export const addressesIn = (text: string): string[] => [...new Set(text.match(WITHIN))];

/**
 * Reads an address that a person typed, or the link to its page in an explorer; mixed case must carry a right EIP-55
 * checksum.
 */
export function parseAddress(text: string): ParsedAddress {
  const typed = text.replace(UNSEEN, '').trim();
  const linked = /^https?:\/\//i.test(typed) ? addressesIn(typed) : [];
  // A page of two addresses, such as a holder's balance of a token, may be meant for either.
  if (new Set(linked.map(toAddress)).size > 1) return { ok: false, fault: 'several' };
  const trimmed = linked[0] ?? typed;
  const address = toAddress(trimmed);
  if (!address) return { ok: false, fault: faultOf(typed) };
  const digits = trimmed.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && checksumAddress(address) !== `0x${digits}`) return { ok: false, fault: 'checksum' };
  return { ok: true, address };
}

function faultOf(text: string): AddressFault {
  if (/(?<![0-9a-z])(0x)?[0-9a-f]{64}(?![0-9a-z])/i.test(text)) return 'transaction';
  return FOREIGN.test(text) ? 'foreign' : 'form';
}

/** Like {@link parseAddress} for an address to watch: the zero address and the native sentinel are refused. */
export function parseWatchable(text: string): ParsedAddress {
  const parsed = parseAddress(text);
  if (parsed.ok && parsed.address === ZERO_ADDRESS) return { ok: false, fault: 'zero' };
  if (parsed.ok && parsed.address === NATIVE_SENTINEL) return { ok: false, fault: 'sentinel' };
  return parsed;
}

/** The EIP-55 form of an address, as people see it. */
export const checksumAddress = (address: AddressText): string => Address.checksum(address);
