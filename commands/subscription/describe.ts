import type { AddressText, Asset } from '../../src/domain/address.ts';
import {
  type Choices,
  DEFAULT_CHOICES,
  FOREVER,
  type Subscription,
  thresholdOf,
} from '../../src/domain/subscription.ts';
import { nameIn, type Translate } from '../../src/languages/index.ts';
import { writeDollars, writeUngrouped } from '../../src/languages/languages.ts';
import { hasNode, hasSeveral, onNetwork } from '../shared/networks.ts';
import { absoluteTime, fullAddress } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import type { TokenBook } from '../shared/tokens.ts';
import { countsDollars } from './file.ts';

type State = Pick<Subscription, 'paused' | 'mutedUntil'>;
type Watched = Choices & Partial<Pick<Subscription, 'network'>>;

const MAX_SHOWN = 5;

/** What a subscription posts, in phrases; the first one names the transfers. */
export function describe(choices: Watched, context: Context, tokens: TokenBook): string[] {
  const { t } = context;
  const { direction, kind, minimum, token } = choices;
  const narrower = [
    ...(minimum === null ? [] : [minimumPhrase(minimum, choices, context)]),
    ...dollarPhrases(choices, context),
    ...(token === null ? [] : [t('subscription.what.token', { token: tokens.nameOf(token) })]),
    ...filterPhrases(choices, context, tokens),
  ];
  const some = direction === 'any' && kind === 'any' && narrower.length > 0;
  return [
    some ? t('subscription.what.some') : t(`subscription.what.${direction}.${kind}`),
    ...narrower,
    ...networkPhrase(choices, context),
    ...schedulePhrases(choices, context),
    ...mentionPhrases(choices, context),
    ...balancePhrases(choices, context, tokens),
  ];
}

function networkPhrase({ network = null }: Watched, { t, settings }: Context): string[] {
  if (!hasSeveral(settings)) return [];
  if (network === null) return [t('subscription.what.anyNetwork')];
  const title = settings.networks.find(({ id }) => id === network)?.title;
  return [title ? t('subscription.what.network', { network: title }) : t('subscription.what.goneNetwork')];
}

/** A minimum of zero leaves out zero amounts, too, unless they are included; and one without a token counts any token. */
function minimumPhrase(minimum: string, { kind, token, filters }: Choices, { t, language }: Context): string {
  if (isZeroText(minimum) && !filters.zero) return t('subscription.what.aboveZero');
  const amount = writeUngrouped(minimum, language);
  const isAny = token === null && filters.tokens.length === 0 && kind !== 'native';
  return t(isAny && !isZeroText(minimum) ? 'subscription.what.minimumAny' : 'subscription.what.minimum', { amount });
}

function dollarPhrases(choices: Choices, { t, language, settings }: Context): string[] {
  if (!settings.hasPrices) return countsDollars(choices) ? [t('subscription.what.noPrices')] : [];
  const { minimumUsd } = choices;
  return minimumUsd === null ? [] : [t('subscription.what.minimumUsd', { amount: writeDollars(minimumUsd, language) })];
}

const isZeroText = (amount: string): boolean => !/[1-9]/.test(amount);

/** Small text fits on a phone's line. The link is to its only network's explorer, if it has one. */
export function addressLine({ address, network }: Pick<Subscription, 'address' | 'network'>, context: Context): string {
  return `-# ${fullAddress(address, onNetwork(context, network).settings)}`;
}

export function summary(
  subscription: Choices & State & Pick<Subscription, 'channelId' | 'network'>,
  context: Context,
  tokens: TokenBook,
): string[] {
  const [what = '', ...more] = describe(subscription, context, tokens);
  const first = context.t('subscription.target', { channel: `<#${subscription.channelId}>`, what });
  const silent = silentLine(subscription, context);
  return [first, ...more.map((phrase) => `- ${phrase}`), ...(silent === null ? [] : [silent])];
}

/** Why nothing is posted now; empty: alerts are posted. */
export function stateOf({ paused, mutedUntil }: State, { now, t }: Context): string {
  if (paused) return t('subscription.state.paused');
  if (mutedUntil === null || mutedUntil <= now()) return '';
  return mutedText(mutedUntil, t);
}

export const mutedText = (until: number, t: Translate): string =>
  t(`subscription.state.${until === FOREVER ? 'mutedForever' : 'muted'}`, { time: absoluteTime(until) });

export function silentLine(subscription: State, context: Context): string | null {
  const state = stateOf(subscription, context);
  return state === '' ? null : context.t('subscription.state.silent', { state });
}

function filterPhrases({ filters }: Choices, { t, language, settings }: Context, tokens: TokenBook): string[] {
  const several = <Value>(values: readonly Value[], show: (value: Value) => string): string => {
    const shown = values.slice(0, MAX_SHOWN).map(show).join(t('reply.comma'));
    return values.length > MAX_SHOWN ? t('subscription.what.more', { shown, count: values.length - MAX_SHOWN }) : shown;
  };
  const named = (assets: Asset[]) => ({ tokens: several(assets, tokens.nameOf) });
  const people = (addresses: AddressText[]) => ({
    addresses: several(addresses, (address) => fullAddress(address, settings)),
  });
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

function schedulePhrases({ digest, quiet, holdAll, watchSilence, style }: Choices, { t, server }: Context): string[] {
  return [
    digest !== null && t(`subscription.what.${digest}`),
    quiet !== null && t('subscription.what.quiet', { hours: quiet.replace('-', '–'), zone: server.timezone ?? 'UTC' }),
    !holdAll && (digest !== null || quiet !== null) && t('subscription.what.passes'),
    holdAll && digest !== null && t('subscription.what.holdAllDigest'),
    holdAll && quiet !== null && t('subscription.what.holdAllQuiet', { end: quiet.slice(-5) }),
    watchSilence && t('subscription.what.silence'),
    style !== null && t(`subscription.what.${style}`),
  ].filter((phrase) => phrase !== false);
}

function mentionPhrases(
  { mention, mentionMinimum, mentionMinimumUsd, mentionCooldown }: Choices,
  { t, language, settings }: Context,
): string[] {
  if (mention === null) {
    if ((mentionMinimum ?? mentionMinimumUsd) === null && mentionCooldown === DEFAULT_CHOICES.mentionCooldown)
      return [];
    const option = nameIn(language, 'subscription add mention');
    return [t('subscription.what.noMention', { option })];
  }
  const role = { role: `<@&${mention}>` };
  return [
    mentionMinimum === null
      ? t('subscription.what.mention', role)
      : t('subscription.what.mentionFrom', { ...role, amount: writeUngrouped(mentionMinimum, language) }),
    mentionMinimumUsd !== null &&
      settings.hasPrices &&
      t('subscription.what.mentionFromUsd', { amount: writeDollars(mentionMinimumUsd, language) }),
    mentionCooldown === 0 && t('subscription.what.noCooldown'),
    ![0, DEFAULT_CHOICES.mentionCooldown].includes(mentionCooldown) &&
      t('subscription.what.cooldown', { count: mentionCooldown }),
  ].filter((phrase) => phrase !== false);
}

function balancePhrases(
  { showBalance, warnBelow, network = null }: Watched,
  { t, language, settings }: Context,
  tokens: TokenBook,
): string[] {
  if (!showBalance && warnBelow === null) return [];
  const { amount, asset } = thresholdOf(warnBelow ?? '');
  const threshold = { amount: writeUngrouped(amount, language), token: tokens.nameOf(asset) };
  return [
    ...(showBalance ? [t('subscription.what.balance')] : []),
    ...(warnBelow === null ? [] : [t('subscription.what.warnBelow', threshold)]),
    ...(hasNode(settings, network) ? [] : [t('subscription.what.needsNode')]),
  ];
}
