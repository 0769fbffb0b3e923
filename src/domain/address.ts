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
