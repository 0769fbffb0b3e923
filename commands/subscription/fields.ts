import { amountOfToken, typedAmount } from '../../src/domain/amount.ts';
import {
  type Asset,
  type Choices,
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
} from '../../src/domain/subscription.ts';
import { halfWidth } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { ifRefused, UserError } from '../../src/errors.ts';
import { readName } from '../shared/naming.ts';
import { addressInCode, withInput } from '../shared/reply.ts';
import { writeAsset } from '../shared/tokens.ts';
import {
  type Field,
  type Input,
  list,
  nullable,
  oneOf,
  oneOrNull,
  type Reading,
  readAmount,
  readAmountOf,
  readCooldown,
  readCounterparty,
  readDollars,
  readMinimums,
  readQuiet,
  readRole,
  readThreshold,
  readToken,
  withCause,
  withoutDollar,
  writeMinimums,
  writeThreshold,
  yesOrNo,
} from './field-values.ts';

/** Everything that people choose, in one flat object. */
type Flat = Omit<Choices, 'filters'> & Filters;

/** Every choice by its name in a subscription, in the order in which they are offered. */
export const FIELDS: { [Key in keyof Flat]: Field<Flat[Key]> } = {
  label: nullable('label', (text, { t }) => readName(text, t)),
  direction: oneOf('direction', ['any', 'incoming', 'outgoing']),
  kind: oneOf('kind', ['any', 'native', 'erc20', 'nft']),
  minimum: nullable('minimum', (text, reading) => readAmount('minimum', text, reading)),
  minimumUsd: nullable('minimum-usd', (text, reading) => readDollars('minimum-usd', text, reading)),
  token: nullable('token', readToken, checksumAddress),
  mention: nullable('mention', readRole, (role) => `<@&${role}>`),
  minimums: { option: 'minimums', read: readMinimums, write: writeMinimums },
  tokens: list('tokens', (text, { tokens }) => tokens.find(text), writeAsset),
  deniedTokens: list('exclude-tokens', (text, { tokens }) => tokens.find(text), writeAsset),
  counterparties: list('counterparties', readCounterparty, checksumAddress),
  deniedCounterparties: list('exclude-counterparties', readCounterparty, checksumAddress),
  internal: yesOrNo('internal', DEFAULT_FILTERS.internal),
  cataloged: yesOrNo('cataloged', DEFAULT_FILTERS.cataloged),
  zero: yesOrNo('zero', DEFAULT_FILTERS.zero),
  self: yesOrNo('self', DEFAULT_FILTERS.self),
  digest: { option: 'digest', read: oneOrNull('digest', 'off', ['hourly', 'daily']), write: (value) => value ?? 'off' },
  quiet: nullable('quiet', readQuiet),
  holdAll: yesOrNo('hold-all', DEFAULT_CHOICES.holdAll),
  mentionMinimum: nullable('mention-minimum', (text, reading) => readAmount('mention-minimum', text, reading)),
  mentionMinimumUsd: nullable('mention-minimum-usd', (text, reading) =>
    readDollars('mention-minimum-usd', text, reading),
  ),
  mentionCooldown: { option: 'mention-cooldown', read: readCooldown, write: String },
  watchSilence: yesOrNo('silence', DEFAULT_CHOICES.watchSilence),
  style: { option: 'style', read: oneOrNull('style', 'default', ['compact', 'full']), write: (value) => value ?? '' },
  showBalance: yesOrNo('balance', DEFAULT_CHOICES.showBalance),
  warnBelow: nullable('warn-below', readThreshold, writeThreshold),
};

const KEYS = Object.keys(FIELDS) as (keyof Flat)[];

/**
 * Applies the chosen options to the previous choices; `input` returns the text of each option. Throws a {@link
 * UserError} for an invalid text.
 */
export function readChoices(typed: Input, before: Choices, reading: Reading): Choices {
  const input = withDollars(typed, reading);
  const chosen = flat(before);
  const split = minimumOfToken(input, before, reading);
  const ping = readPair('mention-minimum', input, reading);
  const alone: Input = (option) => (option === 'mention-minimum' && ping ? ping.amount : split(option));
  for (const key of KEYS) readField(key, alone, chosen, reading);
  const after = unflat(chosen);
  checkTogether(after, reading);
  if (ping) checkPing(ping, after, reading);
  return after;
}

/** `minimum: $100` is `minimum-usd: 100` instead of a minimum in units; without either, neither is left. */
function withDollars(input: Input, reading: Reading): Input {
  const dollars = new Map<string, string>();
  for (const option of ['minimum', 'mention-minimum']) {
    const text = input(option);
    const bare = halfWidth(text?.trim() ?? '');
    if (/^(none|off)$/i.test(bare) && reading.language !== null) dollars.set(`${option}-usd`, 'none');
    if (!reading.hasPrices || withoutDollar(bare) === null) continue;
    const amount = withTyped(option, text!, reading, () => readDollars(option, bare, reading));
    dollars.set(option, 'none').set(`${option}-usd`, amount);
  }
  return (option) => dollars.get(option) ?? input(option);
}

/** Refuses `mention-minimum: 100 HUSD` unless nothing but this token is watched: it counts whatever moves. */
function checkPing({ amount, asset }: Pair, after: Choices, { t, tokens, called }: Reading): void {
  if (asset === (after.token ?? (after.kind === 'native' ? 'native' : null))) return;
  const options = { option: called('mention-minimum'), token: called('token') };
  throw new UserError(t('subscription.filter.pingToken', { ...options, amount, what: tokens.nameOf(asset) }));
}

interface Pair {
  amount: string;
  asset: Asset;
}

/** The amount and token of an option such as `100 HUSD`; null: it has no token. Throws a {@link UserError}. */
function readPair(option: string, input: Input, reading: Reading): Pair | null {
  const text = input(option) ?? '';
  const pair = amountOfToken(halfWidth(text));
  const isToken = (name: string) =>
    ifRefused(
      () => Boolean(reading.tokens.find(name)),
      () => false,
    );
  // `1.5 M` is an amount, unless a token is called so.
  if (pair && typedAmount(halfWidth(text).trim()) !== null && !isToken(pair.token)) return null;
  return pair && withTyped(option, text, reading, () => readAmountOf(option, pair, reading));
}

/** `minimum: 100 HUSD` is a minimum of that token, beside those of others. */
function minimumOfToken(input: Input, { filters }: Choices, reading: Reading): Input {
  const pair = readPair('minimum', input, reading);
  if (!pair) return input;
  const others = input('minimums') ?? writeMinimums(filters.minimums);
  const all = `${/^(none|off)$/i.test(others) ? '' : others}, ${writeAsset(pair.asset)}=${pair.amount}`;
  return (option) => (option === 'minimum' ? undefined : option === 'minimums' ? all : input(option));
}

function readField<Key extends keyof Flat>(key: Key, input: Input, chosen: Flat, reading: Reading): void {
  const { option, read } = FIELDS[key];
  const text = input(option);
  if (text === undefined) return;
  chosen[key] = withTyped(option, text, reading, () => read(halfWidth(text.trim()), reading));
}

/** Reads an option; a refusal says what was typed, and where. */
function withTyped<Value>(option: string, text: string, { t, language, called }: Reading, read: () => Value): Value {
  return ifRefused(
    () => withCause(text, read),
    (error) => {
      // For a file, each fault is shown once with its line numbers. Nobody types a role.
      throw language === null || option === 'mention' ? error : withInput(error, text, t, called(option));
    },
  );
}

/** Every choice of a subscription as text, in the order of {@link FIELDS}. */
export function writeChoices(choices: Choices): string[] {
  return KEYS.map((key) => writeField(key, flat(choices)));
}

/** An option's choice as text; empty: there is no such option. */
export function writeChoice(option: string, choices: Choices): string {
  const key = KEYS.find((one) => FIELDS[one].option === option);
  return key === undefined ? '' : writeField(key, flat(choices));
}

/** The option of a choice by its name in a subscription; null: it is not a choice. */
export const optionOf = (key: string): string | null =>
  Object.hasOwn(FIELDS, key) ? FIELDS[key as keyof Flat].option : null;

const writeField = <Key extends keyof Flat>(key: Key, choices: Flat): string => FIELDS[key].write(choices[key]);

const flat = (choices: Choices): Flat => ({ ...choices, ...choices.filters });

function unflat(choices: Flat): Choices {
  const part = <Whole extends object>(like: Whole) =>
    Object.fromEntries(Object.keys(like).map((key) => [key, choices[key as keyof Flat]]));
  const { filters: _, ...own } = DEFAULT_CHOICES;
  return { ...part(own), filters: part(DEFAULT_FILTERS) } as unknown as Choices;
}

/** Refuses contradictory choices, so that nobody waits for alerts that can never arrive. */
function checkTogether({ kind, token, minimum, filters }: Choices, { t, tokens, called, valueName }: Reading): void {
  const ofKind = `${called('kind')}: ${valueName('kind', kind)}`;
  const pair = (asset: Asset) => ({ kind: ofKind, what: tokens.nameOf(asset) });
  const isNative = (asset: Asset) => asset === 'native';
  const never = kind === 'native' ? (asset: Asset) => !isNative(asset) : kind === 'any' ? () => false : isNative;
  const lost = token !== null && never(token) ? token : filters.tokens.every(never) ? filters.tokens[0] : undefined;
  if (lost !== undefined) throw new UserError(t('subscription.filter.nativeOnly', pair(lost)));
  if (kind === 'native' && filters.deniedTokens.includes('native')) {
    throw new UserError(t('subscription.filter.both', { what: tokens.nameOf('native') }));
  }
  if (kind === 'nft' && minimum !== null) {
    const option = `${called('minimum')}: ${minimum}`;
    throw new UserError(t('subscription.filter.nftMinimum', { kind: ofKind, minimum: option }));
  }
  const both =
    filters.tokens.find((one) => filters.deniedTokens.includes(one)) ??
    (token !== null && filters.deniedTokens.includes(token) ? token : undefined);
  if (both) throw new UserError(t('subscription.filter.both', { what: tokens.nameOf(both) }));
  const other = filters.counterparties.find((one) => filters.deniedCounterparties.includes(one));
  if (other) throw new UserError(t('subscription.filter.both', { what: addressInCode(other) }));
  if (token !== null && filters.tokens.length > 0 && !filters.tokens.includes(token)) {
    const options = { token: called('token'), tokens: called('tokens') };
    throw new UserError(t('subscription.filter.tokenNotAmong', { ...options, what: tokens.nameOf(token) }));
  }
}
