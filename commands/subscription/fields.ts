import type { APIApplicationCommandOptionChoice } from 'discord.js';
import type { Asset } from '../../src/domain/address.ts';
import { amountOfToken, typedAmount } from '../../src/domain/amount.ts';
import { type Choices, DEFAULT_CHOICES, type Filters, type Subscription } from '../../src/domain/subscription.ts';
import { halfWidth } from '../../src/domain/text.ts';
import { ifRefused, UserError } from '../../src/errors.ts';
import type { English } from '../../src/languages/english.ts';
import { type Language, type Translate, wordingsOf } from '../../src/languages/index.ts';
import { same } from '../shared/define.ts';
import { MAX_NAME } from '../shared/names.ts';
import { addressInCode, withInput } from '../shared/reply.ts';
import { writeAsset } from '../shared/tokens.ts';
import {
  FORMATS,
  type Format,
  type Input,
  kindOption,
  MAX_COOLDOWN,
  oneOf,
  oneOrNull,
  type Reading,
  readAmountOf,
  readDollars,
  withoutDollar,
  writeMinimums,
} from './field-values.ts';

type FormTexts = English['subscription']['form'];
type Labeled = Exclude<keyof FormTexts, 'long' | 'flags'>;
type Flag = keyof FormTexts['flags'];
type NamedValue<Value extends string = string> = APIApplicationCommandOptionChoice<Value>;

/** How people set one choice: as an option of a command, in a form of the panel and in a file. */
export interface Field {
  option: Labeled | Flag | 'label' | 'paused' | 'muted-until';
  kind: 'text' | 'choice' | 'flag' | 'role';
  /** Its description as an option, in English; undefined: no command has it. */
  about?: string;
  max?: number;
  /** As an option it is a number, up to this. */
  limit?: number;
  example?: string;
  choices?: NamedValue[];
}
type Option = Field['option'];

export type Kept = Choices & Pick<Subscription, 'paused' | 'mutedUntil'>;

export const DEFAULT_KEPT: Kept = { ...DEFAULT_CHOICES, paused: false, mutedUntil: null };

type Flat = Omit<Kept, 'filters'> & Filters;

/** Discord's limit of a text field. */
export const MAX_LIST = 4_000;
export const CLEARS = ' ("none" removes it)';

type FormatName = keyof typeof FORMATS;

const text = <Name extends FormatName>(option: Option, format: Name, max: number, example: string, about?: string) =>
  ({ ...FORMATS[format], option, kind: 'text', max, example, ...(about && { about: about + CLEARS }) }) as const;

const longText = <Name extends FormatName>(option: Option, format: Name, example: string, about: string) =>
  text(option, format, MAX_LIST, example, about);

const choice = <Value extends string>(option: Option, choices: NamedValue<Value>[], about: string) =>
  ({ ...oneOf(choices.map(({ value }) => value)), option, kind: 'choice', choices, about }) as const;

const flag = (option: Option, about?: string) =>
  ({ ...FORMATS.yesOrNo, option, kind: 'flag', ...(about && { about }) }) as const;

const DIRECTIONS = same('any', 'incoming', 'outgoing');
const KINDS: NamedValue<Choices['kind']>[] = [
  { name: 'any', value: 'any' },
  { name: 'native coin', value: 'native' },
  { name: 'ERC-20 tokens', value: 'erc20' },
  { name: 'NFTs', value: 'nft' },
];
const DIGESTS = same('off', 'hourly', 'daily');
const STYLES = [{ name: 'as the server', value: 'default' }, ...same('compact', 'full')];

/** Every choice by its name in a subscription, in the order of options, of fields in forms, and of columns. */
export const FIELDS: { [Key in keyof Flat]: Field & Format<Flat[Key]> } = {
  label: text('label', 'name', MAX_NAME, '', 'A name for the address, shown in alerts'),
  direction: choice('direction', DIRECTIONS, 'Only transfers in this direction, seen from the address'),
  kind: choice('kind', KINDS, 'Only transfers of this kind'),
  minimum: text('minimum', 'amount', 60, '250', 'Only amounts of at least this, in token units, like 250 or 0.5'),
  minimumUsd: text('minimum-usd', 'dollars', 60, '100'),
  token: text('token', 'token', 300, 'USDC', 'Only transfers of this token: address or symbol'),
  mention: { ...FORMATS.role, option: 'mention', kind: 'role', about: 'A role to ping' },
  minimums: longText('minimums', 'minimums', 'USDC=100, ETH=0.5', 'Minimum per token, like USDC=100, ETH=0.5'),
  tokens: longText('tokens', 'tokens', 'USDC, native', 'Only these tokens: addresses, symbols or "native"'),
  deniedTokens: longText(
    'exclude-tokens',
    'tokens',
    'SPAM, 0x…',
    'Exclude these tokens: addresses, symbols or "native"',
  ),
  counterparties: longText('counterparties', 'addresses', '0x…', 'Only transfers from or to these addresses'),
  deniedCounterparties: longText(
    'exclude-counterparties',
    'addresses',
    '0x…',
    'Exclude transfers from or to these addresses',
  ),
  internal: flag('internal', 'Include native transfers that contracts make inside a transaction'),
  cataloged: flag('cataloged', 'Only tokens in the explorer’s catalog'),
  zero: flag('zero', 'Include transfers of zero amounts'),
  self: flag('self', 'Include transfers from the address to itself'),
  digest: {
    ...choice('digest', DIGESTS, 'Send one hourly or daily summary instead of single alerts'),
    ...oneOrNull('off', ['hourly', 'daily']),
  },
  quiet: {
    ...text('quiet', 'hours', 20, '22:00-07:00'),
    about: 'Hold alerts during these hours, like 22:00-07:00, or "off"',
  },
  holdAll: flag('hold-all'),
  mentionMinimum: text('mention-minimum', 'amount', 60, '1000', 'Ping only for at least this amount, in token units'),
  mentionMinimumUsd: text('mention-minimum-usd', 'dollars', 60, '10000'),
  mentionCooldown: {
    ...text('mention-cooldown', 'minutes', 5, '5'),
    limit: MAX_COOLDOWN,
    about: 'Minutes between two pings',
  },
  watchSilence: flag('silence', 'Warn me when a busy address goes quiet'),
  style: {
    ...choice('style', STYLES, 'How its alerts look: two lines, or a tall card with every detail'),
    ...oneOrNull('default', ['compact', 'full']),
    write: (style) => style ?? '',
  },
  showBalance: flag('balance'),
  warnBelow: text('warn-below', 'threshold', 300, '100 USDC'),
  paused: flag('paused'),
  mutedUntil: text('muted-until', 'moment', 0, ''),
};

export const FLAGS = ['internal', 'zero', 'self', 'cataloged'] as const;

export const labelOf = (option: string, t: Translate): string =>
  FLAGS.some((flag) => flag === option)
    ? t(`subscription.form.flags.${option as Flag}`)
    : t(`subscription.form.${option as Labeled}`);

const KEYS = Object.keys(FIELDS) as (keyof Flat)[];
const flat = ({ filters, ...kept }: Kept): Flat => ({ ...kept, ...filters });
const DEFAULTS = flat(DEFAULT_KEPT);

/** Applies the typed options to the previous choices. Throws a {@link UserError}. */
export function readChoices<Before extends Choices>(typed: Input, before: Before, reading: Reading): Before {
  const input = withDollars(typed, reading);
  const split = minimumOfToken(input, before, reading);
  const ping = readPair('mention-minimum', input, reading);
  const ownText: Input = (option) => (option === 'mention-minimum' && ping ? ping.amount : split(option));
  // In one order, which the audit log keeps.
  const after = { ...DEFAULT_CHOICES, ...before, filters: { ...DEFAULT_CHOICES.filters, ...before.filters } };
  for (const key of KEYS) Object.assign(key in after.filters ? after.filters : after, readField(key, ownText, reading));
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
    const amount = withTyped(option, text!, reading, () => readDollars(bare, reading, option));
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

/** For an option such as `100 HUSD`; null: it has no token. */
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
  return pair && withTyped(option, text, reading, () => readAmountOf(pair, reading, option));
}

/** `minimum: 100 HUSD` is a minimum of that token, beside those of others. */
function minimumOfToken(input: Input, { filters }: Choices, reading: Reading): Input {
  const pair = readPair('minimum', input, reading);
  if (!pair) return input;
  const others = input('minimums') ?? writeMinimums(filters.minimums);
  const all = `${/^(none|off)$/i.test(others) ? '' : others}, ${writeAsset(pair.asset)}=${pair.amount}`;
  return (option) => (option === 'minimum' ? undefined : option === 'minimums' ? all : input(option));
}

/** The chosen value of a field; an empty text means its default; no value: it was not given. */
function readField<Key extends keyof Flat>(key: Key, input: Input, reading: Reading): Partial<Flat> {
  const { option, read } = FIELDS[key];
  const typed = input(option);
  if (typed === undefined) return {};
  const bare = halfWidth(typed.trim());
  return { [key]: bare === '' ? DEFAULTS[key] : withTyped(option, typed, reading, () => read(bare, reading, option)) };
}

function withTyped<Value>(option: string, typed: string, { t, language, called }: Reading, read: () => Value): Value {
  // Nobody types a role, except in a file.
  if (option === 'mention' && language !== null) return read();
  return ifRefused(read, (error) => {
    throw withInput(error, typed, t, called(option));
  });
}

export const choiceName = ({ option, choices }: Field, value: string, language: Language): string =>
  wordingsOf(language)[`subscription edit ${option}=${value}`]?.name ??
  choices!.find((choice) => choice.value === value)!.name;

/** Every field of a subscription as text, in the order of {@link FIELDS}. */
export const writeFields = (kept: Kept): string[] => KEYS.map((key) => writeField(key, flat(kept)));

export function writeChoice(option: string, choices: Choices): string {
  const key = KEYS.find((field) => FIELDS[field].option === option)!;
  return writeField(key, flat({ ...DEFAULT_KEPT, ...choices }));
}

export const fieldOf = (key: string): Field | null => (Object.hasOwn(FIELDS, key) ? FIELDS[key as keyof Flat] : null);

const writeField = <Key extends keyof Flat>(key: Key, all: Flat): string => FIELDS[key].write(all[key]);

/** Refuses contradictory choices, so that nobody waits for alerts that can never arrive. */
function checkTogether({ kind, token, minimum, filters }: Choices, reading: Reading): void {
  const { t, tokens, called } = reading;
  const ofKind = kindOption(kind, reading);
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
  const both = [...filters.tokens, token].find((token) => token !== null && filters.deniedTokens.includes(token));
  if (both) throw new UserError(t('subscription.filter.both', { what: tokens.nameOf(both) }));
  const other = filters.counterparties.find((counterparty) => filters.deniedCounterparties.includes(counterparty));
  if (other) throw new UserError(t('subscription.filter.both', { what: addressInCode(other) }));
  if (token !== null && filters.tokens.length > 0 && !filters.tokens.includes(token)) {
    const options = { token: called('token'), tokens: called('tokens') };
    throw new UserError(t('subscription.filter.tokenNotAmong', { ...options, what: tokens.nameOf(token) }));
  }
}
