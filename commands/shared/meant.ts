import { editDistance } from '../../src/domain/edit-distance.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { echoing, listInCode, quoted } from './reply.ts';

/** Typing errors that still leave a word recognizable. */
const MAX_ERRORS = 2;
/** A typed text without errors may be shorter: the beginning of a word. */
const MIN_BEGINNING = 3;
/** Letters of each text that are compared, and how many known texts: the work is the product of both. */
const COMPARED = 60;
const MAX_KNOWN = 2_000;

/** A refusal that shows what was typed and, of what is known, the nearest text that was probably meant. */
export function refusing(reason: string, typed: string, known: Iterable<string>, t: Translate): UserError {
  return echoing(new UserError(withMeant(reason, typed, known, t)), typed, t);
}

/** The error for a text that is none of an option's choices; `option`: its name as the person sees it. */
export function notAmong(option: string, typed: string, choices: readonly string[], t: Translate): UserError {
  const reason = t('subscription.filter.choice', { option, choices: listInCode(choices, t) });
  return new UserError(withMeant(reason, typed, choices, t));
}

/** A reason, followed by the known text that was probably meant, if there is one. */
export function withMeant(reason: string, typed: string, known: Iterable<string>, t: Translate): string {
  const meant = meantBy(typed, known);
  return meant === null ? reason : `${reason} ${t('reply.meant', { text: quoted(meant) })}`;
}

/** The known text that a typed one was probably meant to be: the one with the fewest typing errors; null: none. */
export function meantBy(typed: string, known: Iterable<string>): string | null {
  const wanted = folded(typed);
  if (wanted.length < MIN_BEGINNING) return null;
  const most = Math.min(MAX_ERRORS, Math.floor(wanted.length / 3));
  let best: { text: string; errors: number } | null = null;
  let looked = 0;
  for (const text of known) {
    if (++looked > MAX_KNOWN) break;
    const other = folded(text);
    const errors = other.startsWith(wanted) ? 0.5 : editDistance(wanted, other, MAX_ERRORS);
    if (errors <= most && (!best || errors < best.errors)) best = { text, errors };
  }
  return best?.text ?? null;
}

const folded = (text: string): string =>
  text.trim().toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').slice(0, COMPARED);
