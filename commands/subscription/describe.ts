import type { AddressText } from '../../src/domain/address.ts';
import type { Asset, Choices, Subscription } from '../../src/domain/subscription.ts';
import { DEFAULT_CHOICES, FOREVER } from '../../src/domain/subscription.ts';
import { nameIn } from '../../src/languages/definitions.ts';
import { writeUngrouped } from '../../src/languages/number.ts';
import { absoluteTime, fullAddress } from '../shared/reply.ts';
import type { CommandServices, ContextWith } from '../shared/services.ts';
import type { TokenBook } from './token-book.ts';

type Needs = ContextWith<'settings' | 'now'>;

/** Maximum number of a list's entries that are shown one by one. */
const MAX_SHOWN = 5;

/** What a subscription posts, in phrases; the first one names the transfers. */
export function describe(choices: Choices, context: Needs, tokens: TokenBook): string[] {
  const { t, language } = context;
  const { direction, kind, minimum, token } = choices;
  const narrower = [
    ...(minimum === null ? [] : [t('subscription.what.minimum', { amount: writeUngrouped(minimum, language) })]),
    ...(token === null ? [] : [t('subscription.what.token', { token: tokens.nameOf(token) })]),
    ...filterPhrases(choices, context, tokens),
  ];
  const some = direction === 'any' && kind === 'any' && narrower.length > 0;
  return [
    some ? t('subscription.what.some') : t(`subscription.what.${direction}.${kind}`),
    ...narrower,
    ...schedulePhrases(choices, context),
    ...mentionPhrases(choices, context),
  ];
}

/** The address in small text, which fits on a phone's line. */
export function addressLine(
  address: AddressText,
  { settings }: Pick<CommandServices, 'settings'>,
  page: 'address' | 'token' = 'address',
): string {
  return `-# ${fullAddress(address, settings, page)}`;
}

/** Where alerts go and what they are, as lines. */
export function summary(subscription: Subscription, context: Needs, tokens: TokenBook): string[] {
  const [what = '', ...more] = describe(subscription, context, tokens);
  const first = context.t('subscription.target', { channel: `<#${subscription.channelId}>`, what });
  const silent = silentLine(subscription, context);
  return [first, ...more.map((phrase) => `- ${phrase}`), ...(silent === null ? [] : [silent])];
}

/** Why nothing is posted now; empty: alerts are posted. */
export function stateOf({ paused, mutedUntil }: Subscription, { now, t }: ContextWith<'now'>): string {
  if (paused) return t('subscription.state.paused');
  if (mutedUntil === null || mutedUntil <= now()) return '';
  return mutedUntil === FOREVER
    ? t('subscription.state.mutedForever')
    : t('subscription.state.muted', { time: absoluteTime(mutedUntil) });
}

/** A line if nothing is posted now; null: alerts are posted. */
export function silentLine(subscription: Subscription, context: ContextWith<'now'>): string | null {
  const state = stateOf(subscription, context);
  return state === '' ? null : context.t('subscription.state.silent', { state });
}

function filterPhrases({ filters }: Choices, { t, language, settings }: Needs, tokens: TokenBook): string[] {
  const several = <Value>(values: readonly Value[], show: (value: Value) => string): string => {
    const shown = values.slice(0, MAX_SHOWN).map(show).join(t('reply.comma'));
    return values.length > MAX_SHOWN ? t('subscription.what.more', { shown, count: values.length - MAX_SHOWN }) : shown;
  };
  const named = (assets: Asset[]) => ({ tokens: several(assets, tokens.nameOf) });
  const people = (addresses: AddressText[]) => ({ addresses: several(addresses, (one) => fullAddress(one, settings)) });
  const minimums = Object.entries(filters.minimums) as [Asset, string][];
  return [
    ...minimums.map(([asset, least]) =>
      t('subscription.what.minimumOf', { amount: writeUngrouped(least, language), token: tokens.nameOf(asset) }),
    ),
    filters.tokens.length > 0 && t('subscription.what.tokens', named(filters.tokens)),
    filters.deniedTokens.length > 0 && t('subscription.what.deniedTokens', named(filters.deniedTokens)),
    filters.counterparties.length > 0 && t('subscription.what.counterparties', people(filters.counterparties)),
    filters.deniedCounterparties.length > 0 &&
      t('subscription.what.deniedCounterparties', people(filters.deniedCounterparties)),
    filters.cataloged && t('subscription.what.cataloged'),
    !filters.internal && t('subscription.what.noInternal'),
    filters.zero && t('subscription.what.zero'),
    filters.self && t('subscription.what.self'),
  ].filter((phrase) => phrase !== false);
}

function schedulePhrases({ digest, quiet, watchSilence, style }: Choices, { t, server }: Needs): string[] {
  return [
    digest !== null && t(`subscription.what.${digest}`),
    quiet !== null && t('subscription.what.quiet', { hours: quiet.replace('-', '–'), zone: server.timezone ?? 'UTC' }),
    watchSilence && t('subscription.what.silence'),
    style !== null && t(`subscription.what.${style}`),
  ].filter((phrase) => phrase !== false);
}

function mentionPhrases({ mention, mentionMinimum, mentionCooldown }: Choices, { t, language }: Needs): string[] {
  if (mention === null) {
    if (mentionMinimum === null && mentionCooldown === DEFAULT_CHOICES.mentionCooldown) return [];
    const option = nameIn(language, 'subscription add mention');
    return [t('subscription.what.noMention', { option })];
  }
  const role = { role: `<@&${mention}>` };
  const pings =
    mentionMinimum === null
      ? t('subscription.what.mention', role)
      : t('subscription.what.mentionFrom', { ...role, amount: writeUngrouped(mentionMinimum, language) });
  if (mentionCooldown === DEFAULT_CHOICES.mentionCooldown) return [pings];
  return [pings, t('subscription.what.cooldown', { count: mentionCooldown })];
}
