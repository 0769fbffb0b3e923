import type { AddressText } from '../../src/domain/address.ts';
import { amountOfToken, isAmount, typedAmount } from '../../src/domain/amount.ts';
import { type Asset, DEFAULT_CHOICES, type Filters, thresholdOf } from '../../src/domain/subscription.ts';
import { ifRefused, type OtherText, UserError } from '../../src/errors.ts';
import type { Language, Translate } from '../../src/languages/index.ts';
import { mayBeThousands, writeNumber } from '../../src/languages/languages.ts';
import { entriesOf, faultText, type Names, readAddresses } from '../shared/read-address.ts';
import { quoted } from '../shared/reply.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import { writeAsset } from '../shared/tokens.ts';
import type { TokenBook } from './token-book.ts';

export interface Reading {
  t: Translate;
  guildId: string;
  tokens: TokenBook;
  names: Names;
  /** The name of the text's column, or of its option in the person's language. */
  called(option: string): string;
  /** A choice as the text's file has it, or its name in the person's language. */
  valueName(option: 'kind', value: string): string;
  /** The language whose number format the text may use; null: a file, where a dot is always the decimal sign. */
  language: Language | null;
  /** Whether it is known what assets are worth. */
  hasPrices: boolean;
}

/** Returns the text of an option or a column; undefined: it was not given. */
export type Input = (option: string) => string | undefined;

/** One choice, as an option of a command and as a column of a file. An empty text or `none` resets it. */
export interface Field<Value> {
  option: string;
  /** Throws a {@link UserError} for an invalid text. */
  read(text: string, reading: Reading): Value;
  /** In the form that `read` accepts. */
  write(value: Value): string;
}

/** Reads a cell of a file; a refusal carries the text as its cause, so that equal refusals are shown once. */
export function withCause<Value>(text: string, read: () => Value): Value {
  return ifRefused(read, ({ message, readings }) => {
    throw new UserError(message, { cause: text, readings });
  });
}

const MAX_ENTRIES = 50;
const MAX_COOLDOWN = 10_080;
const NONE = ['', 'none', 'off'];

/** A field that may be empty: an empty text, `none` and `off` mean null. */
export function nullable<Value extends string>(
  option: string,
  read: (text: string, reading: Reading) => Value | null,
  write: (value: Value) => string = String,
): Field<Value | null> {
  return {
    option,
    read: (text, reading) => (NONE.includes(text.toLowerCase()) ? null : read(text, reading)),
    write: (value) => (value === null ? '' : write(value)),
  };
}

/** A field with one of these values; an empty text means the first one. */
export function oneOf<Value extends string>(option: string, values: readonly [Value, ...Value[]]): Field<Value> {
  return {
    option,
    read(text, { t, called }) {
      if (text === '') return values[0];
      const found = values.find((value) => value === text.toLowerCase());
      if (found) return found;
      throw invalidChoiceError(called(option), text, values, t);
    },
    write: String,
  };
}

/** A field that is on or off; an empty text means `otherwise`. */
export function yesOrNo(option: string, otherwise: boolean): Field<boolean> {
  return {
    option,
    read(text, { t, called }) {
      if (text === '') return otherwise;
      if (/^(yes|true|on|1)$/i.test(text)) return true;
      if (/^(no|false|off|0)$/i.test(text)) return false;
      throw new UserError(t('subscription.filter.yesOrNo', { option: called(option) }));
    },
    write: (value) => (value ? 'yes' : 'no'),
  };
}

/** A field with several values, separated by blanks, commas or semicolons, each counted once; names may have blanks. */
export function list<Value extends string>(
  option: string,
  read: (text: string, reading: Reading) => Value,
  write: (value: Value) => string,
): Field<Value[]> {
  return {
    option,
    read(text, reading) {
      if (NONE.includes(text.toLowerCase())) return [];
      const entries = [...new Set(entriesOf(text, reading.names).map((word) => read(word, reading)))];
      checkCount(option, entries.length, reading);
      return entries;
    },
    write: (values) => values.map(write).join(' '),
  };
}

const words = (text: string): string[] => text.split(/[\s,;、]+/).filter(Boolean);

function checkCount(option: string, count: number, { t, called }: Reading): void {
  if (count <= MAX_ENTRIES) return;
  throw new UserError(t('subscription.filter.tooMany', { option: called(option), max: MAX_ENTRIES }));
}

/** An amount in the token's units, unless `rule` names others. Throws a {@link UserError}. */
export function readAmount(
  option: string,
  text: string,
  reading: Reading,
  rule: 'amount' | 'dollarAmount' = 'amount',
): string {
  const { t, called } = reading;
  const amount = typedAmount(text);
  if (amount === null && /^(US)?\$|\$$/i.test(text)) throw noPrices(text, reading);
  if (amount === null) {
    const reason = t(`subscription.filter.${rule}`, { option: called(option) });
    const suggestion = likelyAmount(text);
    const full = suggestion === null ? reason : `${reason} ${t('reply.suggestion', { text: quoted(suggestion) })}`;
    const [, whole = '', fraction] = /^(\d{1,60}),(\d{1,60})$/.exec(text) ?? [];
    throw new UserError(full, {
      readings: fraction === undefined ? [] : bothReadings(option, whole, fraction, reading),
    });
  }
  return clearAmount(option, text, amount, reading);
}

/** The amount and the token of a text such as `100 HUSD`. Throws a {@link UserError}. */
export function readAmountOf(option: string, { amount, token }: { amount: string; token: string }, reading: Reading) {
  const asset = reading.tokens.find(token);
  const write = (text: string) => `${text} ${token}`;
  return { amount: offering(write, () => readAmount(option, amount, reading)), asset };
}

/** What is left of `$100`, `US$100` or `100 $` without the sign; null: it is no amount of dollars. */
export function withoutDollar(text: string): string | null {
  const [, behind, before] = /^(?:US)?\$\s*(\S+)$|^(\S+?)\s*\$$/i.exec(text) ?? [];
  return behind ?? before ?? null;
}

/** An amount of US dollars, with or without their sign. Throws a {@link UserError}. */
export function readDollars(option: string, text: string, reading: Reading): string {
  const write = (amount: string) => `$${amount}`;
  return offering(write, () => readAmount(option, withoutDollar(text) ?? text, reading, 'dollarAmount'));
}

/** Reads an amount. What a refusal offers instead is written as the whole option takes it. */
function offering(write: (amount: string) => string, read: () => string): string {
  return ifRefused(read, ({ message, readings }) => {
    throw new UserError(message, { readings: readings.map((one) => ({ ...one, text: write(one.text) })) });
  });
}

type Rewrite = ((amount: string) => string) | null;

/**
 * The two amounts that digits around one separator may mean: it separates decimals, or thousands. `write`: the whole
 * option with one of them; null: a click could not replace it alone.
 */
function bothReadings(
  option: string,
  whole: string,
  fraction: string,
  { language }: Reading,
  write: Rewrite = String,
): OtherText[] {
  if (write === null) return [];
  const decimals = fraction.replace(/0+$/, '');
  // A text with three decimals could mean thousands again.
  const exact = decimals === '' ? whole : `${whole}.${decimals.length === 3 ? `${decimals}0` : decimals}`;
  return [exact, whole + fraction].map((text) => ({
    option,
    text: write(text),
    label: writeNumber(text.replace(/(\.\d*?)0+$/, '$1'), language ?? 'en-US'),
  }));
}

/** The error for an amount of dollars where there are no prices, or where units are asked for. */
function noPrices(text: string, { t, called, hasPrices }: Reading): UserError {
  const words = { text: quoted(text), option: called('minimum') };
  return new UserError(t(hasPrices ? 'subscription.filter.dollarsElsewhere' : 'subscription.filter.dollars', words));
}

/** The amount that a text with a currency's sign, a decimal comma or separators probably means; null: unclear. */
function likelyAmount(text: string): string | null {
  const bare = text.replace(/^[$€£¥]\s?|\s?[$€£¥]$/gu, '').replace(/(?<=\d)[\s'’_](?=\d{3})/gu, '');
  const isGrouped = /^[1-9]\d{0,2}(,\d{3}){2,}(\.\d+)?$|^[1-9]\d{0,2},\d{3}\.\d+$/.test(bare);
  // A single comma before three digits may separate thousands or decimals.
  const plain = isGrouped ? bare.replaceAll(',', '') : bare.replace(/^(\d+),(?!\d{3}$)(\d+)$/, '$1.$2');
  return isAmount(plain) ? plain : null;
}

/** Returns an amount if its text is unambiguous; throws a {@link UserError} if it may mean a thousand times as much. */
function clearAmount(option: string, text: string, amount: string, reading: Reading, write?: Rewrite): string {
  const { t, language } = reading;
  if (language === null || !mayBeThousands(text, language)) return amount;
  const [whole, fraction] = text.split('.') as [string, string];
  throw new UserError(t('subscription.filter.thousands', { text, whole: whole + fraction, exact: `${text}0` }), {
    readings: bothReadings(option, whole, fraction, reading, write),
  });
}

/** The contract of a token that is typed as its symbol or address. Throws a {@link UserError}, also for the native coin. */
export function readToken(text: string, { tokens, t, called, valueName }: Reading): AddressText {
  const asset = tokens.find(text);
  if (asset === 'native') {
    const kind = `${called('kind')}: ${valueName('kind', asset)}`;
    throw new UserError(t('subscription.filter.nativeToken', { kind }));
  }
  return asset;
}

/** The ID of a role that is typed as a mention or an ID. Throws a {@link UserError}. */
export function readRole(text: string, { guildId, t }: Reading): string {
  const id = /^(?:<@&)?(\d{5,20})>?$/.exec(text)?.[1];
  if (id === undefined) throw new UserError(t('subscription.filter.role'));
  if (id === guildId) throw new UserError(t('subscription.filter.everyone'));
  return id;
}

/** The first of several minimums whose comma may separate thousands or decimals, and no entries. */
const UNCLEAR_MINIMUM = /=(\d{1,60}),(\d{1,60})(?=$|[ ,;、\r\n]+[^\s,;、]+=)/;

/** Minimum amounts by token, like `USDC=100 native=0.5`. Throws a {@link UserError}. */
export function readMinimums(text: string, reading: Reading): Filters['minimums'] {
  const { tokens, t, called } = reading;
  if (NONE.includes(text.toLowerCase())) return {};
  // Two steps, because one pattern would take quadratic time on many blanks.
  const tidy = text.replace(/[^\S\r\n]+/g, ' ').replace(/ ?= ?/g, '=');
  const unreadable = (part: string, readings: OtherText[] = []) =>
    new UserError(t('subscription.filter.minimums', { option: called('minimums'), text: quoted(part) }), { readings });
  const [, whole, fraction] = UNCLEAR_MINIMUM.exec(tidy) ?? [];
  if (whole !== undefined && fraction !== undefined) {
    const write = (amount: string) => tidy.replace(UNCLEAR_MINIMUM, `=${amount}`);
    throw unreadable(`${whole},${fraction}`, bothReadings('minimums', whole, fraction, reading, write));
  }
  const together = tidy
    .split(/[,;、\r\n]+/)
    .map((part) => {
      const pair = amountOfToken(part);
      return pair ? `${pair.token}=${pair.amount}` : part;
    })
    .join(' ');
  const entries = words(together).map((word, index, all): [Asset, string] => {
    // A link to a token's page may contain others.
    const [, token = '', typed = ''] = /^(.+)=(.*)$/.exec(word) ?? [];
    const amount = typedAmount(typed);
    if (amount === null && /^(US)?\$|\$$/i.test(typed)) throw noPrices(typed, reading);
    if (amount === null) throw unreadable(word);
    const isWhole = all.every((one) => one.includes('='));
    const write = isWhole ? (one: string) => all.with(index, `${token}=${one}`).join(' ') : null;
    return [tokens.find(token), clearAmount('minimums', typed, amount, reading, write)];
  });
  checkCount('minimums', entries.length, reading);
  return Object.fromEntries(entries);
}

/** In the form that {@link readMinimums} accepts. */
export function writeMinimums(minimums: Filters['minimums']): string {
  return Object.entries(minimums)
    .map(([asset, amount]) => `${writeAsset(asset as Asset)}=${amount}`)
    .join(' ');
}

/** An amount of the coin, or an amount and a token, like `100 HUSD`; 0: none. Throws a {@link UserError}. */
export function readThreshold(text: string, reading: Reading): string | null {
  const pair = amountOfToken(text);
  const { amount, asset } = pair
    ? readAmountOf('warn-below', pair, reading)
    : { amount: readAmount('warn-below', text, reading), asset: 'native' as const };
  // No balance is below.
  if (!/[1-9]/.test(amount)) return null;
  return asset === 'native' ? amount : `${amount} ${asset}`;
}

/** In the form that {@link readThreshold} accepts. */
export function writeThreshold(threshold: string): string {
  const { amount, asset } = thresholdOf(threshold);
  return asset === 'native' ? amount : `${amount} ${writeAsset(asset)}`;
}

/** A counterparty's address. Throws a {@link UserError} with the reason. */
export function readCounterparty(text: string, { t, names }: Reading): AddressText {
  const pasted = readAddresses(text, names);
  const [address, ...others] = pasted.addresses;
  if (address !== undefined && others.length === 0 && pasted.wrong.length === 0) return address;
  const reason = faultText(pasted.wrong[0]?.fault ?? 'several', text, t);
  throw new UserError(t('subscription.filter.counterparty', { text: quoted(text), reason }));
}

/** Reads one of these values; an empty text, `none` and the `word` mean null. Throws a {@link UserError}. */
export function oneOrNull<Value extends string>(option: string, word: string, values: readonly Value[]) {
  const all = oneOf<string>(option, [word, ...values]);
  return (text: string, reading: Reading): Value | null => {
    const chosen = all.read(/^none$/i.test(text) ? '' : text, reading);
    return chosen === word ? null : (chosen as Value);
  };
}

const NO_TIME: [string, string] = ['24', ''];

/** The hour and minute of a time of day, like `22:00`, `10pm` or `10:30 p.m.`. */
function readTime(text: string): [hour: string, minute: string] {
  const [, hour = '', minute, half] = /^(\d{1,2})(?:[:.](\d{2}))?\s*(?:([ap])\.?m\.?)?$/i.exec(text.trim()) ?? [];
  if (half === undefined) return minute === undefined ? NO_TIME : [hour, minute];
  if (Number(hour) < 1 || Number(hour) > 12) return NO_TIME;
  return [String((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)), minute ?? '00'];
}

/** Quiet hours as `HH:MM-HH:MM`. Throws a {@link UserError}. */
export function readQuiet(text: string, { t }: Reading): string {
  const times = text.split(/\s*[-–—−~〜]\s*|\s+to\s+/i).map(readTime);
  const [[startHour, startMinute] = NO_TIME, [endHour, endMinute] = NO_TIME] = times.length === 2 ? times : [];
  const start = `${startHour.padStart(2, '0')}:${startMinute}`;
  const end = `${endHour.padStart(2, '0')}:${endMinute}`;
  const right = [startHour, endHour].every((hour) => Number(hour) < 24) && Number(startMinute) < 60;
  if (!right || Number(endMinute) >= 60 || start === end) throw new UserError(t('subscription.filter.quiet'));
  return `${start}-${end}`;
}

/** Minutes between two pings, up to a week. Throws a {@link UserError}. */
export function readCooldown(text: string, { t }: Reading): number {
  if (text === '') return DEFAULT_CHOICES.mentionCooldown;
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (minutes > MAX_COOLDOWN) throw new UserError(t('subscription.filter.cooldown', { max: MAX_COOLDOWN }));
  return minutes;
}
