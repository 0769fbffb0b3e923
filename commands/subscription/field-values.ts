import { type AddressText, type Asset, checksumAddress } from '../../src/domain/address.ts';
import { amountOfToken, isAmount, typedAmount } from '../../src/domain/amount.ts';
import { type Filters, FOREVER, type KindFilter, thresholdOf } from '../../src/domain/subscription.ts';
import { type OtherText, UserError } from '../../src/errors.ts';
import type { Language, Translate } from '../../src/languages/index.ts';
import { mayBeThousands, writeNumber } from '../../src/languages/languages.ts';
import { entriesOf, faultText, type Names, readAddresses, readName } from '../shared/names.ts';
import { quoted } from '../shared/reply.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import type { TokenBook } from '../shared/tokens.ts';
import { writeAsset } from '../shared/tokens.ts';

export interface Reading {
  t: Translate;
  guildId: string;
  tokens: TokenBook;
  names: Names;
  /** The name of the text's column, or of its option in the person's language. */
  called(option: string): string;
  kindName(kind: KindFilter): string;
  /** The language whose number format the text may use; null: a file, where a dot is always the decimal sign. */
  language: Language | null;
  hasPrices: boolean;
}

/** Returns the text of an option or a column; undefined: it was not given. */
export type Input = (option: string) => string | undefined;

/** The text is not empty; `name` is what it is called. Throws a {@link UserError}. */
type Read<Value> = (text: string, reading: Reading, name: string) => Value;

export interface Format<Value> {
  read: Read<Value>;
  /** In the form that `read` accepts. */
  write(value: Value): string;
}

const MAX_ENTRIES = 50;
/** A week. */
export const MAX_COOLDOWN = 10_080;
const isNone = (text: string): boolean => /^(none|off)$/i.test(text);

/** Of what may be empty: `none` and `off` mean null, which is written as an empty text. */
function nullable<Value extends string>(
  read: Read<Value | null>,
  write: (value: Value) => string = String,
): Format<Value | null> {
  return {
    read: (text, reading, name) => (isNone(text) ? null : read(text, reading, name)),
    write: (value) => (value === null ? '' : write(value)),
  };
}

export function oneOf<Value extends string>(values: readonly Value[]): Format<Value> {
  return {
    read(text, { t, called }, name) {
      const found = values.find((value) => value === text.toLowerCase());
      if (found) return found;
      throw invalidChoiceError(called(name), text, values, t);
    },
    write: String,
  };
}

export function oneOrNull<Value extends string>(word: string, values: readonly Value[]): Format<Value | null> {
  const all = oneOf<string>([word, ...values]);
  return {
    read(text, reading, name) {
      const chosen = /^none$/i.test(text) ? word : all.read(text, reading, name);
      return chosen === word ? null : (chosen as Value);
    },
    write: (value) => value ?? word,
  };
}

function readYesOrNo(text: string, { t, called }: Reading, name: string): boolean {
  if (/^(yes|true|on|1)$/i.test(text)) return true;
  if (/^(no|false|off|0)$/i.test(text)) return false;
  throw new UserError(t('subscription.filter.yesOrNo', { option: called(name) }));
}

/** Separated by blanks, commas or semicolons; names may have blanks. */
function list<Value extends string>(
  read: (text: string, reading: Reading) => Value,
  write: (value: Value) => string,
): Format<Value[]> {
  return {
    read(text, reading, name) {
      if (isNone(text)) return [];
      const entries = [...new Set(entriesOf(text, reading.names).map((word) => read(word, reading)))];
      checkCount(name, entries.length, reading);
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

/** Writes a whole option with another amount; null: a click could not replace it alone. */
type Rewrite = ((amount: string) => string) | null;

function readAmount(
  text: string,
  reading: Reading,
  name: string,
  write: Rewrite = String,
  rule: 'amount' | 'dollarAmount' = 'amount',
): string {
  const { t, called } = reading;
  const amount = typedAmount(text);
  if (amount !== null) return clearAmount(text, amount, reading, name, write);
  if (/^(US)?\$|\$$/i.test(text)) throw noPrices(text, reading);
  const reason = t(`subscription.filter.${rule}`, { option: called(name) });
  const suggestion = likelyAmount(text);
  const full = suggestion === null ? reason : `${reason} ${t('reply.suggestion', { text: quoted(suggestion) })}`;
  const [, whole = '', fraction] = /^(\d{1,60}),(\d{1,60})$/.exec(text) ?? [];
  throw new UserError(full, {
    readings: fraction === undefined ? [] : bothReadings(name, whole, fraction, reading, write),
  });
}

export function readAmountOf({ amount, token }: { amount: string; token: string }, reading: Reading, name: string) {
  const asset = reading.tokens.find(token);
  return { amount: readAmount(amount, reading, name, (text) => `${text} ${token}`), asset };
}

/** The amount in `$100`, `US$100` or `100 $`; null: the text is not an amount of dollars. */
export function withoutDollar(text: string): string | null {
  const [, behind, before] = /^(?:US)?\$\s*(\S+)$|^(\S+?)\s*\$$/i.exec(text) ?? [];
  return behind ?? before ?? null;
}

export const readDollars = (text: string, reading: Reading, name: string): string =>
  readAmount(withoutDollar(text) ?? text, reading, name, (amount) => `$${amount}`, 'dollarAmount');

/** The two amounts that digits around one separator may mean: it separates decimals, or thousands. */
function bothReadings(
  option: string,
  whole: string,
  fraction: string,
  { language }: Reading,
  write: Rewrite,
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
function clearAmount(text: string, amount: string, reading: Reading, name: string, write: Rewrite): string {
  const { t, language } = reading;
  if (language === null || !mayBeThousands(text, language)) return amount;
  const [whole, fraction] = text.split('.') as [string, string];
  throw new UserError(t('subscription.filter.thousands', { text, whole: whole + fraction, exact: `${text}0` }), {
    readings: bothReadings(name, whole, fraction, reading, write),
  });
}

export const kindOption = (kind: KindFilter, { called, kindName }: Reading): string =>
  `${called('kind')}: ${kindName(kind)}`;

function readToken(text: string, reading: Reading): AddressText {
  const { tokens, t } = reading;
  const asset = tokens.find(text);
  if (asset === 'native')
    throw new UserError(t('subscription.filter.nativeToken', { kind: kindOption(asset, reading) }));
  return asset;
}

function readRole(text: string, { guildId, t }: Reading): string {
  const id = /^(?:<@&)?(\d{5,20})>?$/.exec(text)?.[1];
  if (id === undefined) throw new UserError(t('subscription.filter.role'));
  if (id === guildId) throw new UserError(t('subscription.filter.everyone'));
  return id;
}

/** The first of several minimums whose comma may separate thousands or decimals, and no entries. */
const UNCLEAR_MINIMUM = /=(\d{1,60}),(\d{1,60})(?=$|[ ,;、\r\n]+[^\s,;、]+=)/;

/** Like `USDC=100 native=0.5`. */
function readMinimums(text: string, reading: Reading, name: string): Filters['minimums'] {
  const { tokens, t, called } = reading;
  if (isNone(text)) return {};
  // Two steps, because one pattern would take quadratic time on many blanks.
  const tidy = text.replace(/[^\S\r\n]+/g, ' ').replace(/ ?= ?/g, '=');
  const unreadable = (part: string, readings: OtherText[] = []) =>
    new UserError(t('subscription.filter.minimums', { option: called(name), text: quoted(part) }), { readings });
  const [, whole, fraction] = UNCLEAR_MINIMUM.exec(tidy) ?? [];
  if (whole !== undefined && fraction !== undefined) {
    const write = (amount: string) => tidy.replace(UNCLEAR_MINIMUM, `=${amount}`);
    throw unreadable(`${whole},${fraction}`, bothReadings(name, whole, fraction, reading, write));
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
    const isWhole = all.every((part) => part.includes('='));
    const write = isWhole ? (part: string) => all.with(index, `${token}=${part}`).join(' ') : null;
    return [tokens.find(token), clearAmount(typed, amount, reading, name, write)];
  });
  checkCount(name, entries.length, reading);
  return Object.fromEntries(entries);
}

export function writeMinimums(minimums: Filters['minimums']): string {
  return Object.entries(minimums)
    .map(([asset, amount]) => `${writeAsset(asset as Asset)}=${amount}`)
    .join(' ');
}

/** An amount of the coin, or an amount and a token, like `100 HUSD`; 0: none. */
function readThreshold(text: string, reading: Reading, name: string): string | null {
  const pair = amountOfToken(text);
  const { amount, asset } = pair
    ? readAmountOf(pair, reading, name)
    : { amount: readAmount(text, reading, name), asset: 'native' as const };
  // No balance is below zero.
  if (!/[1-9]/.test(amount)) return null;
  return asset === 'native' ? amount : `${amount} ${asset}`;
}

function writeThreshold(threshold: string): string {
  const { amount, asset } = thresholdOf(threshold);
  return asset === 'native' ? amount : `${amount} ${writeAsset(asset)}`;
}

function readCounterparty(text: string, { t, names }: Reading): AddressText {
  const pasted = readAddresses(text, names);
  const [address, ...others] = pasted.addresses;
  if (address !== undefined && others.length === 0 && pasted.wrong.length === 0) return address;
  const reason = faultText(pasted.wrong[0]?.fault ?? 'several', text, t);
  throw new UserError(t('subscription.filter.counterparty', { text: quoted(text), reason }));
}

const NO_TIME: [string, string] = ['24', ''];

/** The hour and minute of a time of day, like `22:00`, `10pm` or `10:30 p.m.`. */
function readTime(text: string): [hour: string, minute: string] {
  const [, hour = '', minute, half] = /^(\d{1,2})(?:[:.](\d{2}))?\s*(?:([ap])\.?m\.?)?$/i.exec(text.trim()) ?? [];
  if (half === undefined) return minute === undefined ? NO_TIME : [hour, minute];
  if (Number(hour) < 1 || Number(hour) > 12) return NO_TIME;
  return [String((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)), minute ?? '00'];
}

function readQuiet(text: string, { t }: Reading): string {
  const times = text.split(/\s*[-–—−~〜]\s*|\s+to\s+/i).map(readTime);
  const [[startHour, startMinute] = NO_TIME, [endHour, endMinute] = NO_TIME] = times.length === 2 ? times : [];
  const start = `${startHour.padStart(2, '0')}:${startMinute}`;
  const end = `${endHour.padStart(2, '0')}:${endMinute}`;
  const right = [startHour, endHour].every((hour) => Number(hour) < 24) && Number(startMinute) < 60;
  if (!right || Number(endMinute) >= 60 || start === end) throw new UserError(t('subscription.filter.quiet'));
  return `${start}-${end}`;
}

function readCooldown(text: string, { t }: Reading): number {
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (minutes > MAX_COOLDOWN) throw new UserError(t('subscription.filter.cooldown', { max: MAX_COOLDOWN }));
  return minutes;
}

/** ISO 8601, and its variants by people and other programs: a one-digit hour, or no colon in the zone. */
const MOMENT =
  /^(?<day>\d{4}-\d\d-\d\d)([T ](?<hour>\d{1,2})(?<rest>:\d\d(:\d\d(\.\d+)?)?)(Z|(?<zone>[+-]\d\d):?(?<minutes>\d\d))?)?$/i;

function readMoment(text: string, { t }: Reading): number {
  if (text.toLowerCase() === 'forever') return FOREVER;
  // Without a zone, a time would be in the bot's machine's zone.
  const { day, hour = '0', rest = ':00', zone = '+00', minutes = '00' } = MOMENT.exec(text)?.groups ?? {};
  const time = Date.parse(`${day}T${hour.padStart(2, '0')}${rest}${zone}:${minutes}`);
  // The parser reads February 31 as March 3.
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(day?.slice(-2));
  if (Number.isNaN(time) || !isDay) throw new UserError(t('subscription.import.moment'));
  return time;
}

function writeMoment(until: number | null): string {
  if (until === null) return '';
  return until === FOREVER ? 'forever' : new Date(until).toISOString();
}

/** By what they read. */
export const FORMATS = {
  amount: nullable(readAmount),
  dollars: nullable(readDollars),
  tokens: list((typed, { tokens }) => tokens.find(typed), writeAsset),
  addresses: list(readCounterparty, checksumAddress),
  name: nullable((typed, { t }) => readName(typed, t)),
  token: nullable(readToken, checksumAddress),
  role: nullable(readRole, (role) => `<@&${role}>`),
  hours: nullable(readQuiet),
  minimums: { read: readMinimums, write: writeMinimums },
  minutes: { read: readCooldown, write: String },
  threshold: nullable(readThreshold, writeThreshold),
  moment: { read: readMoment, write: writeMoment },
  yesOrNo: { read: readYesOrNo, write: (value: boolean) => (value ? 'yes' : 'no') },
};
