import * as Address from 'ox/Address';

/** A 20-byte address as lower-case hex with 0x; the only form that is stored and compared. */
export type AddressText = `0x${string}`;

/** What notification services put in `tokenAddress` for the native coin. */
export const NATIVE_SENTINEL: AddressText = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
/** The other end of a mint or a burn. */
export const ZERO_ADDRESS: AddressText = '0x0000000000000000000000000000000000000000';

/** Lower-cases what looks like an address, without judging its checksum; null for anything else. */
export function toAddress(text: unknown): AddressText | null {
  if (typeof text !== 'string') return null;
  const trimmed = text.trim();
  return /^0x[0-9a-f]{40}$/i.test(trimmed) ? (trimmed.toLowerCase() as AddressText) : null;
}

/** What a person typed as an address: its stored form, or the reason why it is none. */
export type ParsedAddress = { ok: true; address: AddressText } | { ok: false; reason: string };

/** Reads an address that a person typed; mixed case must carry a right EIP-55 checksum. */
export function parseAddress(text: string): ParsedAddress {
  const trimmed = text.trim();
  const address = toAddress(trimmed);
  if (!address) {
    return { ok: false, reason: 'An address is `0x` followed by 40 hexadecimal digits (0–9, a–f).' };
  }
  const digits = trimmed.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && checksumAddress(address) !== `0x${digits}`) {
    return {
      ok: false,
      reason:
        'The capital letters of this address do not fit its digits (EIP-55 checksum), so a character is probably ' +
        'mistyped. Copy it again from your wallet, or type it all in lower case if you are sure.',
    };
  }
  return { ok: true, address };
}

/** Like {@link parseAddress} for an address to watch: the zero address and the native sentinel are refused. */
export function parseWatchable(text: string): ParsedAddress {
  const parsed = parseAddress(text);
  if (parsed.ok && (parsed.address === ZERO_ADDRESS || parsed.address === NATIVE_SENTINEL)) {
    const what = parsed.address === ZERO_ADDRESS ? 'the zero address (every mint and burn)' : 'the native coin itself';
    return {
      ok: false,
      reason: `This is ${what}: it would match nearly everything. Watch a wallet or a token instead.`,
    };
  }
  return parsed;
}

/** The EIP-55 form of an address, as people see it. */
export function checksumAddress(address: AddressText): string {
  return Address.checksum(address);
}
