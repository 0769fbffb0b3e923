import type { AutocompleteUse, Choice } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { apart } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { shortAddress } from './reply.ts';

/** The choices whose name or value holds what the person has typed so far. */
export function fitting({ options }: Pick<AutocompleteUse, 'options'>, choices: readonly Choice[]): Choice[] {
  const typed = options.getFocused().trim().toLowerCase();
  return choices.filter(({ name, value }) => [name, value].some((text) => text.toLowerCase().includes(typed)));
}

/** An address as a choice: under its name here and its ends, or in full where it has no name. */
export function addressChoice(address: AddressText, name: string | null): Choice {
  const value = checksumAddress(address);
  return { name: name === null ? value : `${apart(name)} · ${shortAddress(address)}`, value };
}
