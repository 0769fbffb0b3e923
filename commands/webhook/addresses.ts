import type { AddressText } from '../../src/domain/address.ts';
import { type AddressFault, parseAddress } from '../../src/domain/typed-address.ts';

/** The addresses in a pasted text, each once, and its other words, each with why it is not an address. */
export interface Pasted {
  addresses: AddressText[];
  wrong: { text: string; fault: AddressFault }[];
}

/** Reads addresses from text with spaces, commas, line breaks, quotes or brackets between them. */
export function readAddresses(text: string): Pasted {
  const addresses = new Set<AddressText>();
  const wrong = new Map<string, AddressFault>();
  for (const word of text.split(/[\s,;，；、|"'`<>()[\]{}]+/u).filter(Boolean)) {
    const parsed = parseAddress(word);
    if (parsed.ok) addresses.add(parsed.address);
    else wrong.set(word, parsed.fault);
  }
  return { addresses: [...addresses], wrong: [...wrong].map(([word, fault]) => ({ text: word, fault })) };
}
