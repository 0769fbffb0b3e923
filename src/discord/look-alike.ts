import type { AddressText } from '../domain/address.ts';
import { checksumAddress } from '../domain/typed-address.ts';

/** Where two look-alikes begin to differ: eight characters of each from there on, as inline code. */
export function differenceOf(fake: AddressText, known: AddressText): { fake: string; known: string } {
  let start = 0;
  while (start < fake.length && fake[start] === known[start]) start++;
  const part = (address: AddressText) => `\`…${checksumAddress(address).slice(start, start + 8)}…\``;
  return { fake: part(fake), known: part(known) };
}
