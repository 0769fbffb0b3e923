import { type AddressText, NATIVE_SENTINEL, toAddress, ZERO_ADDRESS } from './address.ts';
import { wholeDigits } from './amount.ts';
import type { Transfer, TransferEvent, TransferKind } from './transfer.ts';

export type ParsedEvent = { ok: true; event: TransferEvent } | { ok: false; reason: string };

/** A uint256 has at most 78 digits. */
const MAX_DIGITS = 78;
/** Contracts store them in a byte. */
const MAX_DECIMALS = 255;
/** Longer numbers may be rounded to a double. Nobody moves that many pieces of one token. */
const MAX_ROUNDED_DIGITS = 15;

/** Anyone can write a name of any length into a contract: only this many characters are read. */
const MAX_TEXT = 1_000;
/** Without long texts. Events have 2,000 characters; a megabyte of numbers would block the event loop for 0.5 s. */
const MAX_BODY = 32 * 1024;
const BYTE_ORDER_MARK = 0xfeff;

/** Only fields that are named here are read, so a name such as `__proto__` is harmless. Numbers are their source text. */
type Fields = Record<string, unknown>;

const ODD_NUMBER = /:\s*(?:-|\d+[.eE])/;

/**
 * Never throws. Live services send null for unused fields, numbers for texts, brand names for the native coin, ids
 * beyond 2^53 as bare integers.
 */
export function parseEvent(body: string): ParsedEvent {
  const json = body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body;
  let fields: Fields;
  try {
    const text = json.length > MAX_BODY ? cutTexts(json) : json;
    fields = JSON.parse(text);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
      return { ok: false, reason: 'The body is not a single JSON object.' };
    let isPlain = true;
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (typeof value !== 'number') continue;
      fields[key] = String(value);
      isPlain &&= Number.isSafeInteger(value);
    }
    // Reading the source texts takes ten times as long. It is needed only if a number lost digits.
    if (!isPlain || ODD_NUMBER.test(text)) fields = JSON.parse(text, numbersAsWritten);
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, reason: `The body is no event: ${error.message}.` };
    return { ok: false, reason: `The body is not JSON${likeness(body)}.` };
  }
  return readEvent(fields);
}

function likeness(body: string): string {
  if (body.trim() === '') return ': it is empty';
  const isDeflate =
    ['x\x01', 'x^', 'x\ufffd'].some((start) => body.startsWith(start)) || /^x[\u0680-\u06bf]/.test(body);
  const compression = body.startsWith('\x1f\ufffd') ? 'gzip' : isDeflate ? 'deflate' : null;
  if (compression !== null) return `: it is compressed (${compression}); the sender must post it as it is`;
  if (body.startsWith('\ufffd\ufffd') || /^.?\0/su.test(body)) return ': it is UTF-16; the sender must post UTF-8';
  if (/^[\w.+%-]+=[^\s<>]*$/.test(body.slice(0, 1_000)))
    return ': it is a form (name=value); the sender must post JSON';
  if (body.trimStart().startsWith('<')) return ': it is HTML or XML';
  return '';
}

function cutTexts(json: string): string {
  let cut = '';
  let from = 0;
  for (let open = json.indexOf('"'); open >= 0 && cut.length + open - from <= MAX_BODY; ) {
    const end = endOfText(json, open);
    if (end - open > MAX_TEXT) {
      const text = JSON.parse(json.slice(open, end)) as string;
      cut += json.slice(from, open) + JSON.stringify(text.slice(0, MAX_TEXT));
      from = end;
    }
    open = json.indexOf('"', end);
  }
  if (cut.length + json.length - from > MAX_BODY) throw new RangeError('it has more than 32 KiB besides long texts');
  return cut + json.slice(from);
}

function endOfText(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close >= 0; close = json.indexOf('"', close + 1)) {
    let backslashes = 0;
    while (json[close - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return close + 1;
  }
  throw new SyntaxError('no end of a text');
}

/** A reviver for `JSON.parse`: amounts may be integers beyond 2^53. */
export function numbersAsWritten(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

/** A field that cannot be read is null. */
function readEvent(fields: Fields): ParsedEvent {
  const txHash = text(fields.txHash);
  const from = toAddress(fields.from);
  const to = toAddress(fields.to);
  const tokenAddress = toAddress(fields.tokenAddress);
  if (!txHash || !/^[0-9a-z]{1,80}$/i.test(txHash)) {
    return { ok: false, reason: 'The event has no transaction hash (txHash).' };
  }
  // Nobody can watch the native coin's sentinel, so an event with no other address would never be posted.
  if (!from && !to && (!tokenAddress || tokenAddress === NATIVE_SENTINEL)) {
    return { ok: false, reason: 'The event contains no address (from, to, tokenAddress).' };
  }
  const id = text(fields.tokenId);
  const exactId = id === null || (/[.e]/i.test(id) && !/^0x/i.test(id)) ? null : integer(id);
  const tokenId = exactId ?? id?.slice(0, 80) ?? null;
  // Only this project's own service sends the pieces of an ERC-1155: in the specification the ID replaces the value.
  const value = integer(fields.value) ?? integer(fields.quantity);
  const kind = readKind(fields, tokenAddress, tokenId, value);
  const native = kind === 'native';
  const transfer: Transfer = {
    kind,
    txHash: txHash.toLowerCase(),
    from,
    to,
    token: native ? null : tokenAddress,
    value,
    tokenId,
    tokenIdExact: tokenId === exactId,
    tokenType: text(fields.tokenType),
    tokenName: native ? null : text(fields.tokenName),
    tokenSymbol: native ? null : text(fields.tokenSymbol),
    decimals: native ? 18 : smallInteger(fields.tokenDecimals, MAX_DECIMALS),
    internal: fields.isInternalTransaction === true || fields.isInternalTransaction === 'true',
    blockNumber: smallInteger(fields.blockNumber, Number.MAX_SAFE_INTEGER),
    blockHash: text(fields.blockHash)?.toLowerCase() ?? null,
    gasFee: integer(fields.gasFee),
  };
  const direction = text(fields.direction)?.toLowerCase();
  const addressType = text(fields.addressType)?.toLowerCase();
  return {
    ok: true,
    event: {
      transfer,
      direction: direction === 'incoming' || direction === 'outgoing' ? direction : null,
      addressType: addressType?.startsWith('wallet') ? 'wallet' : addressType?.startsWith('token') ? 'token' : null,
      projectId: text(fields.projectId),
    },
  };
}

function readKind(
  fields: Fields,
  tokenAddress: AddressText | null,
  tokenId: string | null,
  value: string | null,
): TransferKind {
  const type =
    text(fields.tokenType)
      ?.replace(/[^0-9a-z]/gi, '')
      .toUpperCase() ?? '';
  if (tokenAddress === NATIVE_SENTINEL) return 'native';
  if (type === 'ERC20') return 'erc20';
  // Some senders also use this type for ERC-1155. The value then counts the pieces, unless it repeats the ID.
  const id = integer(fields.tokenId);
  const isId = value === id || (value !== null && value.length > MAX_ROUNDED_DIGITS && value.length === id?.length);
  const isOne = tokenId === null || value === null || value === '0' || value === '1' || isId;
  if (type === 'ERC721') return isOne ? 'erc721' : 'erc1155';
  if (type === 'ERC1155') return 'erc1155';
  if (type === 'NATIVE') return 'native';
  // Nobody can deploy a token at the zero address: some senders use it for the native coin.
  if (tokenAddress === null || tokenAddress === ZERO_ADDRESS) return tokenId !== null ? 'unknown' : 'native';
  if (type !== '') return 'unknown';
  if (tokenId !== null) return value !== null ? 'erc1155' : 'erc721';
  return value !== null && smallInteger(fields.tokenDecimals, MAX_DECIMALS) !== null ? 'erc20' : 'unknown';
}

function text(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const trimmed = value.slice(0, MAX_TEXT).trim();
  return trimmed === '' ? null : trimmed.slice(0, 300);
}

/** A non-negative integer of at most 78 digits as plain decimal text; reads hex and `1.5e+21` too. */
function integer(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 400) return null;
  const source = value.trim();
  let digits: string | null = null;
  if (/^\d+$/.test(source)) digits = source.replace(/^0+(?=\d)/, '');
  else if (/^0x[0-9a-f]+$/i.test(source)) digits = BigInt(source).toString();
  else digits = wholeDigits(source);
  return digits !== null && digits.length <= MAX_DIGITS ? digits : null;
}

function smallInteger(value: unknown, max: number): number | null {
  const digits = integer(value);
  return digits !== null && Number(digits) <= max ? Number(digits) : null;
}
