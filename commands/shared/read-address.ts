import type { AddressText } from '../../src/domain/address.ts';
import { plainText } from '../../src/domain/text.ts';
import { type AddressFault, addressesIn, bareDigits, parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { namesByAddress } from './naming.ts';
import { withInput } from './reply.ts';
import type { Context } from './services.ts';
import { suggestionError } from './suggestions.ts';

/** Addresses with the names by which people may type them. */
export type Names = readonly (readonly [address: AddressText, name: string])[];

/** The names of a guild's address book, which everybody who may configure the bot sees. */
export const bookOf = async (guildId: string, context: Context): Promise<Names> => [
  ...(await namesByAddress(guildId, context)),
];

/** How to read a typed address, and the reason to show if it is neither an address nor one of the names. */
interface Rules {
  parse?: typeof parseAddress;
  names?: Names;
  noName?: string;
}

/**
 * The address that a person typed, or the one with the typed name; throws a {@link UserError}. An address is never taken
 * for a name, which anybody who may configure the bot could have chosen to look like it.
 */
export function readAddress(typed: string, t: Translate, rules: Rules = {}): AddressText {
  const { parse = parseAddress, names = [], noName = t('address.form') } = rules;
  const parsed = parse(typed);
  if (parsed.ok) return parsed.address;
  const [called, ...others] = addressesNamed(typed, names);
  if (others.length > 0) throw withInput(new UserError(t('label.several')), typed, t);
  if (called !== undefined) return readAddress(called, t, { parse });
  if (parsed.fault !== 'form' || /^0x/i.test(typed.trim())) {
    throw withInput(new UserError(faultText(parsed.fault, typed, t)), typed, t);
  }
  throw suggestionError(
    noName,
    typed,
    names.map(([, name]) => name),
    t,
  );
}

/** The addresses that a name stands for. */
export const addressesNamed = (typed: string, names: Names): AddressText[] => {
  const wanted = plainText(typed, Infinity)?.toLowerCase();
  return [...new Set(names.filter(([, name]) => name.toLowerCase() === wanted).map(([address]) => address))];
};

/** Why a text is not an address, with the address that it probably means. */
export function faultText(fault: AddressFault, typed: string, t: Translate): string {
  const reason = t(`address.${fault}`);
  const digits = fault === 'bare' ? bareDigits(typed) : null;
  return digits === null ? reason : `${reason} ${t('reply.suggestion', { text: `\`0x${digits}\`` })}`;
}

/** The entries of a typed list: names as a whole, although they may contain blanks, and all other words. */
export function entriesOf(text: string, names: Names): string[] {
  const parts = text.split(/[,;，；、|\r\n]+/u).map((part) => part.trim());
  const isName = (part: string) => addressesIn(part).length === 0 && addressesNamed(part, names).length > 0;
  return parts.flatMap((part) => (isName(part) ? [part] : part.split(/\s+/u))).filter(Boolean);
}

/** The addresses in a pasted text, each once, and its other words, each with why it is not an address. */
export interface Pasted {
  addresses: AddressText[];
  wrong: { text: string; fault: AddressFault }[];
}

/** Reads a pasted list of addresses and names. Words beside an address, such as what it is called, are ignored. */
export function readAddresses(text: string, names: Names = []): Pasted {
  const addresses = new Set<AddressText>();
  const wrong = new Map<string, AddressFault>();
  for (const part of text.split(/[,;，；、|\r\n]+/u)) {
    const isNamed = addressesIn(part).length > 0;
    for (const entry of entriesOf(part, names)) {
      const parsed = parseAddress(entry);
      const [called, ...others] = parsed.ok ? [parsed.address] : addressesNamed(entry, names);
      if (called !== undefined && others.length === 0) addresses.add(called);
      else if (!parsed.ok && !(isNamed && parsed.fault === 'form' && !/^0x/i.test(entry))) {
        wrong.set(entry.replace(/^["'`<([{]+|["'`>)\]}]+$/g, ''), parsed.fault);
      }
    }
  }
  return { addresses: [...addresses], wrong: [...wrong].map(([word, fault]) => ({ text: word, fault })) };
}
