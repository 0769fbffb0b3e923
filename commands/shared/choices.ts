import type { Choice } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { isolate } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { shortAddress } from './reply.ts';

/** The choices whose name or value contains the typed text. */
export function choicesWith(typed: string, choices: readonly Choice[]): Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ name, value }) => [name, value].some((text) => text.toLowerCase().includes(wanted)));
}

/** An address as a choice: its name and the shortened address, or the full address if it has no name. */
export function addressChoice(address: AddressText, name: string | null): Choice {
  const value = checksumAddress(address);
  return { name: name === null ? value : `${isolate(name)} · ${shortAddress(address)}`, value };
}
