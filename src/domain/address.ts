import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { chainOf } from './network.ts';

/** A 20-byte address as lower-case hex with 0x; the only form that is stored and compared. */
export type AddressText = `0x${string}`;

export type Asset = AddressText | 'native';

/** What notification services put in `tokenAddress` for the native coin. */
export const NATIVE_SENTINEL: AddressText = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
export const ZERO_ADDRESS: AddressText = '0x0000000000000000000000000000000000000000';

/** Does not judge the checksum. */
export function toAddress(text: unknown): AddressText | null {
  if (typeof text !== 'string') return null;
  const trimmed = text.trim();
  return /^0x[0-9a-f]{40}$/i.test(trimmed) ? (trimmed.toLowerCase() as AddressText) : null;
}

/**
 * `besides`: a cut or mistyped one beside it; `transaction`: as many digits as a hash; `foreign`: another kind of chain;
 * `zero`, `sentinel`: match nearly anything.
 */
export type AddressFault =
  | 'form'
  | 'bare'
  | 'several'
  | 'besides'
  | 'transaction'
  | 'foreign'
  | 'checksum'
  | 'zero'
  | 'sentinel';

export type ParsedAddress = { ok: true; address: AddressText; chainId?: number } | { ok: false; fault: AddressFault };

/** Invisible characters that people copy from a page. */
const UNSEEN = /\p{Cf}/gu;

/** An address in a text, where it stands alone: in a hash there are 40 digits as well. */
const WITHIN = /(?<![0-9a-z])0x[0-9a-f]{40}(?![0-9a-z])/gi;
/** The name or number of a chain, before an address. */
const PREFIX = /(?<![\p{L}\d-])(?:eip155:(?<id>\d{1,15})(?:\/[a-z\d-]+)?|(?<name>[a-z][a-z\d-]*)):(?:pay-)?$/iu;
const LINKS = /(?:https?:\/\/|ethereum:)[^\s,;|()[\]<>"'`]*/gi;
/** Base58 and Bech32, which Solana, Tron, Bitcoin and Cosmos use. */
const FOREIGN = /^(?![0-9a-fA-F]+$)(?:[1-9A-HJ-NP-Za-km-z]{32,44}|[a-z]{2,12}1[02-9ac-hj-np-z]{38,})$/;

export const addressesIn = (text: string): string[] => [...new Set(text.match(WITHIN))];

/** An address that was meant, but not one that a page shortens (`0x12…ab`), nor a chain's number (`@0x1`). */
export const NO_ADDRESS = /(?<![\da-z@])0x(?![\da-f]{40}(?![\da-z]))(?:[\da-f]+|[\da-z]{20,})(?![\da-z…]|\.\.)/gi;

/** Such a text beside an address; in links there are other numbers, and a transaction may stand beside it. */
export const brokenIn = (text: string): string | undefined =>
  text
    .replace(LINKS, '')
    .match(NO_ADDRESS)
    ?.find((word) => faultOf(word) !== 'transaction');

/**
 * Also in a link, after a name, in quotes, and as EIP-3770, CAIP-10 and ERC-681 write it (`eth:0x…`, `eip155:1:0x…`,
 * `ethereum:0x…@1`). Mixed case must carry a right EIP-55 checksum.
 */
export function parseAddress(text: string): ParsedAddress {
  const typed = text.replace(UNSEEN, '').trim();
  const written = addressesIn(typed);
  // A page of two addresses, such as a holder's balance of a token, may be meant for either.
  if (new Set(written.map(toAddress)).size > 1) return { ok: false, fault: 'several' };
  const [only] = written;
  const address = toAddress(only);
  if (only === undefined || address === null) return { ok: false, fault: faultOf(typed) };
  if (brokenIn(typed) !== undefined) return { ok: false, fault: 'besides' };
  const digits = only.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && checksumAddress(address) !== `0x${digits}`) return { ok: false, fault: 'checksum' };
  const chainId = chainNamed(typed, typed.indexOf(only), only.length);
  return { ok: true, address, ...(chainId !== null && { chainId }) };
}

export function chainsIn(text: string): number[] {
  const seen = text.replace(UNSEEN, '');
  return [
    ...new Set(
      [...seen.matchAll(WITHIN)].flatMap(({ index, 0: written }) => chainNamed(seen, index, written.length) ?? []),
    ),
  ];
}

function chainNamed(text: string, at: number, length: number): number | null {
  const after = /^@(0x[\da-f]{1,12}|\d{1,15})(?![\da-z])/i.exec(text.slice(at + length))?.[1];
  const before = PREFIX.exec(text.slice(0, at));
  const number = after ?? before?.groups?.id;
  if (number !== undefined) return Number(number);
  const { name } = before?.groups ?? {};
  // Without `@`, a payment request means the chain that the wallet is on.
  return name === undefined || name.toLowerCase() === 'ethereum' ? null : (chainOf(name) ?? null);
}

function faultOf(text: string): AddressFault {
  if (/(?<![0-9a-z])(0x)?[0-9a-f]{64}(?![0-9a-z])/i.test(text)) return 'transaction';
  if (bareDigits(text) !== null) return 'bare';
  return FOREIGN.test(text) ? 'foreign' : 'form';
}

/** The digits of an address without `0x`; null: there are none, or several. */
export function bareDigits(text: string): string | null {
  const [only, ...others] = text.match(/(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z])/gi) ?? [];
  return only !== undefined && others.length === 0 ? only : null;
}

export function parseWatchable(text: string): ParsedAddress {
  const parsed = parseAddress(text);
  if (parsed.ok && parsed.address === ZERO_ADDRESS) return { ok: false, fault: 'zero' };
  if (parsed.ok && parsed.address === NATIVE_SENTINEL) return { ok: false, fault: 'sentinel' };
  return parsed;
}

/** A letter is a capital where the digit of the hash is 8 or more. A library for it would take 20 ms of each start. */
export function checksumAddress(address: AddressText): string {
  const digits = address.slice(2);
  const hashed = bytesToHex(keccak_256(utf8ToBytes(digits)));
  let text = '0x';
  for (let at = 0; at < digits.length; at++) text += hashed[at]! >= '8' ? digits[at]!.toUpperCase() : digits[at];
  return text;
}

/** The full address must be shown elsewhere. */
export function shortAddress(address: AddressText): string {
  const text = checksumAddress(address);
  return `${text.slice(0, 6)}…${text.slice(-4)}`;
}

/** The first and last four digits: what most people compare, and what a look-alike copies. */
export function outerDigitsOf(address: AddressText): string {
  return address.slice(2, 6) + address.slice(-4);
}

export interface ListedAddress {
  text: string;
  label: string | null;
  chainId: number | null;
}

const IN_LINK = /(?:https?:\/\/|ethereum:)\S*$/i;
/** Such as `#tokentxns`. */
const REST_OF_LINK = /^[^\s,;|()[\]<>"'`]*/;
const CHAIN_AFTER = /^@[\w:-]+/;
/** Longer texts beside an address are no name. */
const MAX_BETWEEN = 500;
const MARKUP = /[\s"'`‘’“”„«»*_~()[\]<>]+$/u;
const MARK = /[:=|→–—-]$/u;
const AROUND =
  /^(?:[\s\-*•·>#|,;:=→–—"'`‘’“”„«»~_()[\]]|@\d+|\d{1,4}[.)](?=\s))+|[\s\-*•·|,;:=→–—"'`‘’“”„«»~_()[\]<>]+$/gu;

/** `isMarked`: a sign or a link separates the name from the address. */
function nameBefore(before: string): { name: string; isMarked: boolean } {
  const unlinked = before.replace(/https?:\/\/\S*$/i, '');
  const bare = unlinked.replace(PREFIX, (whole, id?: string, name = '') =>
    id !== undefined || /^ethereum$/i.test(name) || chainOf(name) !== undefined ? '' : whole,
  );
  const linked = /\[([^[\]]*)\]\($/.exec(bare)?.[1];
  const text = bare.replace(MARKUP, '');
  const isMarked = linked !== undefined || /\t\s*$/.test(bare) || MARK.test(text);
  return { name: (linked ?? text).replace(AROUND, ''), isMarked };
}

/**
 * A label stands before its address, or after it if nothing stands before the first one. In a sentence a word before an
 * address is no label: a sign must separate them, or each of several lines has one address. `isList`: a list also
 * without line breaks, which Discord removes from options.
 */
export function addressList(text: string, isList = false): ListedAddress[] {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => ({ line, written: [...line.matchAll(WITHIN)] }));
  const isColumn = isList || lines.filter(({ written }) => written.length === 1).length > 1;
  const found = new Map<string, ListedAddress>();
  for (const { line, written } of lines) {
    const ends = written.map(({ index, 0: written }) => index + written.length);
    const linked = (end: number) => IN_LINK.test(line.slice(Math.max(0, end - MAX_BETWEEN), end));
    const after = (end: number, until?: number) =>
      line.slice(end, until).replace(linked(end) ? REST_OF_LINK : CHAIN_AFTER, '');
    const between = [
      line.slice(0, written[0]?.index),
      ...ends.map((end, at) => after(end, written[at + 1]?.index)),
    ].map((text, at) => (at === written.length ? text.slice(0, MAX_BETWEEN) : text.slice(-MAX_BETWEEN)));
    const names = between.map(nameBefore);
    const isAfter = isColumn && names[0]?.name === '' && names.at(-1)?.name !== '';
    for (const [at, { index, 0: other }] of written.entries()) {
      const { name, isMarked } = names[isAfter ? at + 1 : at]!;
      const isLabel = isMarked || isList || (isColumn && written.length === 1);
      const known = found.get(other.toLowerCase());
      const label = isLabel && name !== '' ? name : null;
      // It is valid if any of its spellings is.
      const spelling = known && parseAddress(known.text).ok ? known.text : other;
      const chainId = known ? known.chainId : chainNamed(line, index, other.length);
      found.set(other.toLowerCase(), { text: spelling, label: known?.label ?? label, chainId });
    }
  }
  return [...found.values()];
}
