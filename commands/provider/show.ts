import type { APIButtonComponent } from 'discord.js';
import type { Choice } from '../../src/discord/command.ts';
import { inTime } from '../../src/domain/clock.ts';
import { isLinkable, isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Discovery, ProviderRow } from '../../src/upstream/discovery.ts';
import { linkButton } from '../shared/components.ts';
import { thirdPartyName, thirdPartyText } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { choicesWith } from '../shared/suggestions.ts';

export interface Provider {
  name: string;
  rows: ProviderRow[];
}

const PLACED = new Set(
  'slug,provider,offer,actionButtons,starred,tag,price,planType,planName,description,name,category,id,_id'.split(','),
);
/** Maximum characters of a provider's section: about a fifth of what fits into an embed. */
const MAX_SECTION = 740;
/** After this, the last known or the specified categories are offered, and no providers. */
export const CHOICES_MS = 1_000;
const MAX_ACTIONS = 50;
const MAX_ACTION = 2_000;
const LINK = /\[([^\]]{0,200})\]\(([^)]{1,700})\)/g;

const nameOf = ({ columns }: ProviderRow): string => columns.provider ?? columns.name ?? columns.slug ?? '';

export function groupProviders(rows: readonly ProviderRow[]): Provider[] {
  const groups = Map.groupBy(rows, (row) => nameOf(row).toLowerCase());
  return [...groups.values()].map((group) => ({ name: nameOf(group[0]!), rows: group }));
}

export function sectionOf(t: Translate, { name, rows }: Provider, number: number): string[] {
  const first = rows[0]!.columns;
  const badges = [first.starred === '✓' ? '⭐' : '', first.tag ? thirdPartyName(t, first.tag, '') : ''];
  const parts = [`### ${number}.`, thirdPartyName(t, name, t('provider.unnamed')), ...badges];
  const title = parts.filter(Boolean).join(' ');
  let room = MAX_SECTION - title.length;
  const fits = (text: string | null): text is string => {
    if (text === null || text.length > room) return false;
    room -= text.length + 3;
    return true;
  };
  const lines = [
    first.offer ? thirdPartyText(first.offer, 120) : null,
    first.description ? thirdPartyText(first.description, 220) : null,
    plansOf(t, rows),
  ].filter(fits);
  const extras = extrasOf(t, rows).filter(fits);
  return [title, ...lines, ...(extras.length > 0 ? [`-# ${extras.join(' · ')}`] : [])];
}

function plansOf(t: Translate, rows: readonly ProviderRow[]): string | null {
  const plans = rows.flatMap(({ columns: { planName, planType, price } }) => {
    const parts = [planName ?? planType, price].filter((part) => part !== undefined);
    return parts.length > 0 ? [parts.map((part) => thirdPartyName(t, part, '')).join(' ')] : [];
  });
  const distinct = [...new Set(plans)];
  if (distinct.length === 0) return null;
  const more = distinct.length > 5 ? ` +${distinct.length - 5}` : '';
  return t('provider.plans', { count: distinct.length, list: `${distinct.slice(0, 5).join(' · ')}${more}` });
}

const MAX_PLANS = 3;

/** At most four columns that only this category has: one value if all plans agree, else one per plan. */
function extrasOf(t: Translate, rows: readonly ProviderRow[]): string[] {
  const names = new Set(rows.flatMap(({ columns }) => Object.keys(columns)));
  const shown = [...names].filter((name) => !PLACED.has(name) && /^[A-Za-z]\w{0,30}$/.test(name)).slice(0, 4);
  return shown.map((name) => `${words(name)}: ${shownValue(t, name, rows)}`);
}

function shownValue(t: Translate, name: string, rows: readonly ProviderRow[]): string {
  const [first] = rows as [ProviderRow];
  if (rows.every(({ columns }) => columns[name] === first.columns[name]))
    return thirdPartyText(first.columns[name]!, 80);
  const having = rows.filter(({ columns }) => columns[name] !== undefined);
  const each = having.map(({ columns }) => {
    const plan = columns.planName ?? columns.planType ?? columns.price;
    return [plan && thirdPartyName(t, plan, ''), thirdPartyText(columns[name]!, 40)].filter(Boolean).join(' ');
  });
  const distinct = [...new Set(each)];
  const more = distinct.length > MAX_PLANS ? ` +${distinct.length - MAX_PLANS}` : '';
  return distinct.slice(0, MAX_PLANS).join(t('reply.comma')) + more;
}

/** `supportedChains` and `supported_chains` → `Supported chains`. */
function words(name: string): string {
  const text = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Only https, and each label ends in the host. */
export function linksOf(t: Translate, { rows }: Provider, number: number, max: number): APIButtonComponent[] {
  const found = new Map<string, string>();
  for (const action of rows.flatMap(({ actions }) => actions).slice(0, MAX_ACTIONS)) {
    for (const [, label = '', inner = ''] of action.slice(0, MAX_ACTION).matchAll(LINK)) {
      const [target = ''] = inner.trim().replace(/^</, '').split(/[\s>]/);
      const url = URL.canParse(target) ? new URL(target) : null;
      if (url?.protocol !== 'https:' || url.username || url.password || !isLinkable(url.href)) continue;
      // 80 characters fit. The host must be fully visible.
      const host = url.hostname.slice(-50);
      // A label that contains another host would be read before the real one, which a phone may cut off.
      const shown = looksLikeLink(label) ? null : plainText(label);
      const name = (shown ?? t('provider.open')).slice(0, 70 - host.length).replace(/[\ud800-\udbff]$/, '');
      found.set(url.href, `${number} · ${name} · ${host}`);
    }
  }
  return [...found].slice(0, max).map(([url, label]) => linkButton(label, url));
}

/** Discord's limit of a choice, in characters. */
const MAX_VALUE = 100;

/** The names in a text, separated by commas. A name may contain commas, so the whole text is one of them, and the first. */
export function namesIn(text: string | null): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  const whole = text?.trim() ?? '';
  return [...new Set([whole, ...names])].filter((name) => name !== '');
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

/** Each choice repeats the names that were typed before it. What is too long for a choice can still be typed. */
export async function offerProviders(
  typed: string,
  category: string,
  discovery: Discovery,
  context: Context,
): Promise<Choice[]> {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1).trim();
  const last = typed.slice(typed.lastIndexOf(',') + 1);
  const names = (await inTime(providerNames(category, discovery), CHOICES_MS, context)) ?? [];
  const prefix = before === '' ? '' : `${before} `;
  const values = names.map((name) => `${prefix}${name}`).filter(({ length }) => length <= MAX_VALUE);
  const choices = values.map((value) => ({ name: choiceName(value, context.t), value }));
  return choicesWith(last, choices);
}
