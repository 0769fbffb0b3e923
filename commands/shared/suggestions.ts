import type { Choice } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress, shortAddress } from '../../src/domain/address.ts';
import { editDistance, isolate } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { nameIn, type Translate } from '../../src/languages/index.ts';
import { listInCode, quoted, withInput } from './reply.ts';
import type { Context } from './services.ts';

/** With more typing errors, a word is no longer recognizable. */
const MAX_ERRORS = 2;
/** A typed text without errors may be shorter: the beginning of a word. */
const MIN_BEGINNING = 3;
/** Maximum characters compared of each text, and maximum number of known texts: the work is their product. */
const MAX_COMPARED = 60;
const MAX_KNOWN = 2_000;

export function suggestionError(reason: string, typed: string, known: Iterable<string>, t: Translate): UserError {
  return withInput(new UserError(withSuggestion(reason, typed, known, t)), typed, t);
}

export function invalidChoiceError(option: string, typed: string, choices: readonly string[], t: Translate): UserError {
  const reason = t('subscription.filter.choice', { option, choices: listInCode(choices, t) });
  return new UserError(withSuggestion(reason, typed, choices, t));
}

/** `path` is the option's, such as `setup server style`. */
export function readChoice<const Value extends string>(
  path: string,
  typed: string,
  values: readonly Value[],
  { t, language }: Context,
): Value {
  const found = values.find((value) => value === typed);
  if (found === undefined) throw withInput(invalidChoiceError(nameIn(language, path), typed, values, t), typed, t);
  return found;
}

export function withSuggestion(reason: string, typed: string, known: Iterable<string>, t: Translate): string {
  const suggestion = closestMatch(typed, known);
  return suggestion === null ? reason : `${reason} ${t('reply.suggestion', { text: quoted(suggestion) })}`;
}

export function closestMatch(typed: string, known: Iterable<string>): string | null {
  const wanted = folded(typed);
  if (wanted.length < MIN_BEGINNING) return null;
  const max = Math.min(MAX_ERRORS, Math.floor(wanted.length / 3));
  let best: { text: string; errors: number } | null = null;
  for (const text of Iterator.from(known).take(MAX_KNOWN)) {
    const other = folded(text);
    const errors = other.startsWith(wanted) ? 0.5 : editDistance(wanted, other, MAX_ERRORS);
    if (errors <= max && (!best || errors < best.errors)) best = { text, errors };
  }
  return best?.text ?? null;
}

const folded = (text: string): string =>
  text.trim().toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').slice(0, MAX_COMPARED);

export function choicesWith(typed: string, choices: readonly Choice[]): Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ name, value }) => [name, value].some((text) => text.toLowerCase().includes(wanted)));
}

export function addressChoice(address: AddressText, name: string | null): Choice {
  const value = checksumAddress(address);
  return { name: name === null ? value : `${isolate(name)} · ${shortAddress(address)}`, value };
}
