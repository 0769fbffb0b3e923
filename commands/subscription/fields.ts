import type { AddressText } from '../../src/domain/address.ts';
import { isAmount } from '../../src/domain/amount.ts';
import {
  type Asset,
  type Choices,
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
  type Subscription,
} from '../../src/domain/subscription.ts';
import { halfWidth } from '../../src/domain/text.ts';
import { checksumAddress, parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Language, Translate } from '../../src/languages/index.ts';
import { mayBeThousands } from '../../src/languages/number.ts';
import { readName } from '../shared/naming.ts';
import { echoing, quoted } from '../shared/reply.ts';
import { type TokenBook, writeAsset } from './tokens.ts';

/** The context for reading a text. */
export interface Reading {
  t: Translate;
  guildId: string;
  tokens: TokenBook;
  /** The name of the text's column, or of its option in the person's language. */
  called(option: string): string;
  /** The language whose number format the text may use; null: a file, where a dot is always the decimal sign. */
  language: Language | null;
}

/** Everything that people choose, in one flat object. */
type Flat = Omit<Choices, 'filters'> & Filters;

/** One choice, as an option of a command and as a column of a file. An empty text or `none` resets it. */
interface Field<Value> {
  option: string;
  /** Throws a {@link UserError} for an invalid text. */
  read(text: string, reading: Reading): Value;
  /** In the form that `read` accepts. */
  write(value: Value): string;
}

const MOST_ENTRIES = 50;
const MOST_COOLDOWN = 10_080;
const NONE = ['', 'none', 'off'];

/** Every choice by its name in a subscription, in the order in which they are offered. */
export const FIELDS: { [Key in keyof Flat]: Field<Flat[Key]> } = {
  label: nullable('label', (text, { t }) => readName(text, t)),
  direction: oneOf('direction', ['any', 'incoming', 'outgoing']),
  kind: oneOf('kind', ['any', 'native', 'erc20', 'nft']),
  minimum: nullable('minimum', (text, reading) => readAmount('minimum', text, reading)),
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
  digest: { option: 'digest', read: readDigest, write: (value) => value ?? 'off' },
  quiet: nullable('quiet', readQuiet),
  mentionMinimum: nullable('mention-minimum', (text, reading) => readAmount('mention-minimum', text, reading)),
  mentionCooldown: { option: 'mention-cooldown', read: readCooldown, write: String },
  watchSilence: yesOrNo('silence', DEFAULT_CHOICES.watchSilence),
  style: { option: 'style', read: readStyle, write: (value) => value ?? '' },
};

/**
 * Applies the chosen options to the previous choices; `said` returns the text of each option. Throws a {@link
 * UserError} for an invalid text.
 */
export function readChoices(said: (option: string) => string | undefined, before: Choices, reading: Reading): Choices {
  const chosen: Flat = { ...before, ...before.filters };
  for (const key of Object.keys(FIELDS) as (keyof Flat)[]) readField(key, said, chosen, reading);
  const after = unflat(chosen);
  checkTogether(after, reading);
  return after;
}

function readField<Key extends keyof Flat>(
  key: Key,
  said: (option: string) => string | undefined,
  chosen: Flat,
  reading: Reading,
): void {
  const text = said(FIELDS[key].option);
  if (text === undefined) return;
  try {
    chosen[key] = FIELDS[key].read(halfWidth(text.trim()), reading);
  } catch (error) {
    // For a file, each fault is shown once with its line numbers.
    throw error instanceof UserError && reading.language !== null ? echoing(error, text, reading.t) : error;
  }
}

/** Every choice of a subscription as text, in the order of {@link FIELDS}. */
export function writeChoices(choices: Choices): string[] {
  const flat: Flat = { ...choices, ...choices.filters };
  const write = <Key extends keyof Flat>(key: Key) => FIELDS[key].write(flat[key]);
  return (Object.keys(FIELDS) as (keyof Flat)[]).map(write);
}

/** An option's choice as text. */
export function writeChoice(option: string, choices: Choices): string {
  const flat: Flat = { ...choices, ...choices.filters };
  const write = <Key extends keyof Flat>(key: Key) => FIELDS[key].write(flat[key]);
  const found = (Object.keys(FIELDS) as (keyof Flat)[]).find((key) => FIELDS[key].option === option);
  return found === undefined ? '' : write(found);
}

function unflat(flat: Flat): Choices {
  const part = <Whole extends object>(like: Whole) =>
    Object.fromEntries(Object.keys(like).map((key) => [key, flat[key as keyof Flat]]));
  const { filters: _, ...own } = DEFAULT_CHOICES;
  return { ...part(own), filters: part(DEFAULT_FILTERS) } as unknown as Choices;
}

function nullable<Value extends string>(
  option: string,
  read: (text: string, reading: Reading) => Value,
  write: (value: Value) => string = String,
): Field<Value | null> {
  return {
    option,
    read: (text, reading) => (NONE.includes(text.toLowerCase()) ? null : read(text, reading)),
    write: (value) => (value === null ? '' : write(value)),
  };
}

function oneOf<Value extends string>(option: string, values: readonly [Value, ...Value[]]): Field<Value> {
  return {
    option,
    read(text, { t, called }) {
      if (text === '') return values[0];
      const found = values.find((value) => value === text.toLowerCase());
      if (found) return found;
      const choices = values.map((value) => `\`${value}\``).join(t('reply.comma'));
      throw new UserError(t('subscription.filter.choice', { option: called(option), choices }));
    },
    write: String,
  };
}

function yesOrNo(option: string, otherwise: boolean): Field<boolean> {
  return { option, read: (text, reading) => readYesOrNo(option, text, otherwise, reading), write: writeYesOrNo };
}

/** Throws a {@link UserError} that names the option. */
export function readYesOrNo(option: string, text: string, otherwise: boolean, { t, called }: Reading): boolean {
  if (text === '') return otherwise;
  if (/^(yes|true|on|1)$/i.test(text)) return true;
  if (/^(no|false|off|0)$/i.test(text)) return false;
  throw new UserError(t('subscription.filter.yesOrNo', { option: called(option) }));
}

/** In the form that {@link readYesOrNo} accepts. */
export function writeYesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function list<Value extends string>(
  option: string,
  read: (text: string, reading: Reading) => Value,
  write: (value: Value) => string,
): Field<Value[]> {
  return {
    option,
    read(text, reading) {
      if (NONE.includes(text.toLowerCase())) return [];
      const entries = [...new Set(words(text).map((word) => read(word, reading)))];
      checkCount(option, entries.length, reading);
      return entries;
    },
    write: (values) => values.map(write).join(' '),
  };
}

const words = (text: string): string[] => text.split(/[\s,;、]+/).filter(Boolean);

function checkCount(option: string, count: number, { t, called }: Reading): void {
  if (count <= MOST_ENTRIES) return;
  throw new UserError(t('subscription.filter.tooMany', { option: called(option), most: MOST_ENTRIES }));
}

function readAmount(option: string, text: string, reading: Reading): string {
  const { t, called } = reading;
  if (!isAmount(text)) throw new UserError(t('subscription.filter.amount', { option: called(option) }));
  return clearAmount(text, reading);
}

/** Reads an unambiguous amount; throws a {@link UserError} if it may mean a thousand times as much. */
function clearAmount(text: string, { t, language }: Reading): string {
  if (language === null || !mayBeThousands(text, language)) return text;
  throw new UserError(t('subscription.filter.thousands', { text, whole: text.replace('.', ''), exact: `${text}0` }));
}

function readToken(text: string, { tokens, t, called }: Reading): AddressText {
  const asset = tokens.find(text);
  if (asset === 'native') throw new UserError(t('subscription.filter.nativeToken', { kind: called('kind') }));
  return asset;
}

function readRole(text: string, { guildId, t }: Reading): string {
  const id = /^(?:<@&)?(\d{5,20})>?$/.exec(text)?.[1];
  if (id === undefined) throw new UserError(t('subscription.filter.role'));
  if (id === guildId) throw new UserError(t('subscription.filter.everyone'));
  return id;
}

function readMinimums(text: string, reading: Reading): Filters['minimums'] {
  const { tokens, t, called } = reading;
  if (NONE.includes(text.toLowerCase())) return {};
  // Two steps, because one pattern would take quadratic time on many blanks.
  const together = text.replace(/\s+/g, ' ').replace(/ ?= ?/g, '=');
  const entries = words(together).map((word): [Asset, string] => {
    // A link to a token's page may contain others.
    const [, token = '', amount = ''] = /^(.+)=(.*)$/.exec(word) ?? [];
    if (!isAmount(amount)) {
      throw new UserError(t('subscription.filter.minimums', { option: called('minimums'), text: quoted(word) }));
    }
    return [tokens.find(token), clearAmount(amount, reading)];
  });
  checkCount('minimums', entries.length, reading);
  return Object.fromEntries(entries);
}

function writeMinimums(minimums: Filters['minimums']): string {
  return Object.entries(minimums)
    .map(([asset, amount]) => `${writeAsset(asset as Asset)}=${amount}`)
    .join(' ');
}

function readCounterparty(text: string, { t }: Reading): AddressText {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  const reason = t(`address.${parsed.fault}`);
  throw new UserError(t('subscription.filter.counterparty', { text: quoted(text), reason }));
}

function readDigest(text: string, reading: Reading): Subscription['digest'] {
  if (NONE.includes(text.toLowerCase())) return null;
  const chosen = oneOf('digest', ['off', 'hourly', 'daily']).read(text, reading);
  return chosen === 'off' ? null : chosen;
}

function readStyle(text: string, reading: Reading): Subscription['style'] {
  const wanted = text.toLowerCase();
  if (['', 'none', 'default'].includes(wanted)) return null;
  const chosen = oneOf('style', ['default', 'compact', 'full']).read(text, reading);
  return chosen === 'default' ? null : chosen;
}

function readQuiet(text: string, { t }: Reading): string {
  const times = /^(\d{1,2}):(\d{2})\s*[-–—−~〜]\s*(\d{1,2}):(\d{2})$/.exec(text)?.slice(1) ?? [];
  const [startHour = '24', startMinute = '', endHour = '24', endMinute = ''] = times;
  const start = `${startHour.padStart(2, '0')}:${startMinute}`;
  const end = `${endHour.padStart(2, '0')}:${endMinute}`;
  const right = [startHour, endHour].every((hour) => Number(hour) < 24) && Number(startMinute) < 60;
  if (!right || Number(endMinute) >= 60 || start === end) throw new UserError(t('subscription.filter.quiet'));
  return `${start}-${end}`;
}

function readCooldown(text: string, { t }: Reading): number {
  if (text === '') return DEFAULT_CHOICES.mentionCooldown;
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (minutes > MOST_COOLDOWN) throw new UserError(t('subscription.filter.cooldown', { most: MOST_COOLDOWN }));
  return minutes;
}

/** Refuses contradictory choices, so that nobody waits for alerts that can never come. */
function checkTogether({ kind, token, minimum, filters }: Choices, { t, tokens, called }: Reading): void {
  const isNative = (asset: Asset) => asset === 'native';
  const never = kind === 'native' ? (asset: Asset) => !isNative(asset) : kind === 'any' ? () => false : isNative;
  if ((token !== null && never(token)) || (filters.tokens.length > 0 && filters.tokens.every(never))) {
    throw new UserError(t('subscription.filter.nativeOnly'));
  }
  if (kind === 'native' && filters.deniedTokens.includes('native')) {
    throw new UserError(t('subscription.filter.both', { what: tokens.nameOf('native') }));
  }
  if (kind === 'nft' && minimum !== null) throw new UserError(t('subscription.filter.nftMinimum'));
  const both =
    filters.tokens.find((one) => filters.deniedTokens.includes(one)) ??
    (token !== null && filters.deniedTokens.includes(token) ? token : undefined);
  if (both) throw new UserError(t('subscription.filter.both', { what: tokens.nameOf(both) }));
  const other = filters.counterparties.find((one) => filters.deniedCounterparties.includes(one));
  if (other) throw new UserError(t('subscription.filter.both', { what: `\`${checksumAddress(other)}\`` }));
  if (token !== null && filters.tokens.length > 0 && !filters.tokens.includes(token)) {
    throw new UserError(t('subscription.filter.tokenNotAmong', { token: called('token'), tokens: called('tokens') }));
  }
}
