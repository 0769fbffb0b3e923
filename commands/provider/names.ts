import type { AutocompleteUse, Choice } from '../../src/discord/command.ts';
import { type Clock, inTime } from '../../src/domain/clock.ts';
import { isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Discovery, ProviderQuery } from '../../src/upstream/discovery.ts';
import { fingerprint } from '../shared/components.ts';
import { choicesWith, closestMatch } from '../shared/suggestions.ts';
import { groupProviders } from './show.ts';

/** Discord's limit of a choice's value. */
const MAX_VALUE = 100;
const DIGITS = 8;

/** Stands for a name where the name itself is too long. */
const marked = (name: string): string => `#${fingerprint(name).slice(0, DIGITS)}`;
const isMarked = (text: string): boolean => new RegExp(`^#[0-9a-f]{${DIGITS}}$`).test(text);

/** The names in a text, separated by commas. A name may contain commas, so the whole text is one of them, and the first. */
export function namesIn(text: string | null): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  const whole = text?.trim() ?? '';
  return [...new Set([whole, ...names])].filter((name) => name !== '');
}

/** The names of {@link namesIn} for a custom ID: as they were typed if they fit, otherwise as fingerprints. */
export function encodeNames(names: readonly string[], max: number): string {
  const whole = names[0] ?? '';
  if (whole.length <= max && !whole.includes('#')) return whole;
  return names.map(marked).join(',');
}

/** The names that fingerprints stand for; null if the category no longer has them. */
export async function decodeNames(
  names: readonly string[],
  category: string,
  discovery: Discovery,
): Promise<readonly string[] | null> {
  if (!names.some(isMarked)) return names;
  const known = new Map((await providerNames(category, discovery)).map((name) => [marked(name), name]));
  const found = names.flatMap((name) => (isMarked(name) ? (known.get(name) ?? []) : [name]));
  return found.length > 0 ? found : null;
}

/** The provider of the category whose name is closest to that of a query without results; null: none is close. */
export async function closestProvider(query: ProviderQuery, discovery: Discovery): Promise<string | null> {
  const { category, providers } = query;
  if (providers.length !== 1) return null;
  return closestMatch(providers[0]!, await providerNames(category, discovery));
}

async function providerNames(category: string, discovery: Discovery): Promise<string[]> {
  const response = await discovery.rows({ category, search: null, providers: [] });
  return response.status === 'ok' ? groupProviders(response.rows).flatMap(({ name }) => name || []) : [];
}

/** Names, which a third party chose, as Discord shows them in the list: without links and invisible characters. */
function choiceName(names: string, t: Translate): string {
  if (looksLikeLink(names)) return t('alert.hiddenName');
  return isolate(plainText(names, MAX_VALUE) ?? t('provider.unnamed'));
}

/** The providers of the chosen category that match the last typed name, each after the names before it. */
export async function offerProviders(
  interaction: AutocompleteUse,
  category: string,
  { discovery, after, t }: { discovery: Discovery; after: Clock['after']; t: Translate },
  withinMs: number,
): Promise<Choice[]> {
  const typed = interaction.options.getFocused();
  const before = typed.slice(0, typed.lastIndexOf(',') + 1).trim();
  const last = typed.slice(typed.lastIndexOf(',') + 1);
  const names = (await inTime(providerNames(category, discovery), withinMs, { after })) ?? [];
  const prefix = before === '' ? '' : `${before} `;
  const choices = names.map((name) => {
    const value = `${prefix}${name}`;
    return { name: choiceName(value, t), value: value.length <= MAX_VALUE ? value : `${prefix}${marked(name)}` };
  });
  return choicesWith(last, choices);
}
