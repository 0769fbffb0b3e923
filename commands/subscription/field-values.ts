import type { AddressText } from '../../src/domain/address.ts';
import { isAmount } from '../../src/domain/amount.ts';
import { type Asset, DEFAULT_CHOICES, type Filters, type Subscription } from '../../src/domain/subscription.ts';
import { parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Language, Translate } from '../../src/languages/index.ts';
import { mayBeThousands } from '../../src/languages/number.ts';
import { quoted } from '../shared/reply.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import { writeAsset } from '../shared/tokens.ts';
import type { TokenBook } from './token-book.ts';

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
  try {
    return read();
  } catch (error) {
    throw error instanceof UserError ? new UserError(error.message, { cause: text }) : error;
  }
}

const MAX_ENTRIES = 50;
const MAX_COOLDOWN = 10_080;
const NONE = ['', 'none', 'off'];

/** A field that may be empty: an empty text, `none` and `off` mean null. */
export function nullable<Value extends string>(
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

/** A field with several values, separated by blanks, commas or semicolons, each counted once. */
export function list<Value extends string>(
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
  if (count <= MAX_ENTRIES) return;
  throw new UserError(t('subscription.filter.tooMany', { option: called(option), max: MAX_ENTRIES }));
}

/** An amount in the token's units. Throws a {@link UserError}. */
export function readAmount(option: string, text: string, reading: Reading): string {
  const { t, called } = reading;
  if (!isAmount(text)) {
    const reason = t('subscription.filter.amount', { option: called(option) });
    const suggestion = likelyAmount(text);
    throw new UserError(
      suggestion === null ? reason : `${reason} ${t('reply.suggestion', { text: quoted(suggestion) })}`,
    );
  }
  return clearAmount(text, reading);
}

/** The amount that a text with a currency's sign, a decimal comma or separators probably means; null: unclear. */
function likelyAmount(text: string): string | null {
  const bare = text.replace(/^[$€£¥]\s?|\s?[$€£¥]$/gu, '').replace(/(?<=\d)[\s'’_](?=\d{3})/gu, '');
  const isGrouped = /^[1-9]\d{0,2}(,\d{3}){2,}(\.\d+)?$|^[1-9]\d{0,2},\d{3}\.\d+$/.test(bare);
  // A single comma before three digits may separate thousands or decimals.
  const plain = isGrouped ? bare.replaceAll(',', '') : bare.replace(/^(\d+),(?!\d{3}$)(\d+)$/, '$1.$2');
  return isAmount(plain) ? plain : null;
}

/** Reads an unambiguous amount; throws a {@link UserError} if it may mean a thousand times as much. */
function clearAmount(text: string, { t, language }: Reading): string {
  if (language === null || !mayBeThousands(text, language)) return text;
  throw new UserError(t('subscription.filter.thousands', { text, whole: text.replace('.', ''), exact: `${text}0` }));
}

/** The contract of a token that is typed as its symbol or address. Throws a {@link UserError}, also for the native coin. */
export function readToken(text: string, { tokens, t, called }: Reading): AddressText {
  const asset = tokens.find(text);
  if (asset === 'native') throw new UserError(t('subscription.filter.nativeToken', { kind: called('kind') }));
  return asset;
}

/** The ID of a role that is typed as a mention or an ID. Throws a {@link UserError}. */
export function readRole(text: string, { guildId, t }: Reading): string {
  const id = /^(?:<@&)?(\d{5,20})>?$/.exec(text)?.[1];
  if (id === undefined) throw new UserError(t('subscription.filter.role'));
  if (id === guildId) throw new UserError(t('subscription.filter.everyone'));
  return id;
}

/** Minimum amounts by token, like `USDC=100 native=0.5`. Throws a {@link UserError}. */
export function readMinimums(text: string, reading: Reading): Filters['minimums'] {
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

/** In the form that {@link readMinimums} accepts. */
export function writeMinimums(minimums: Filters['minimums']): string {
  return Object.entries(minimums)
    .map(([asset, amount]) => `${writeAsset(asset as Asset)}=${amount}`)
    .join(' ');
}

/** A counterparty's address. Throws a {@link UserError} with the reason. */
export function readCounterparty(text: string, { t }: Reading): AddressText {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  const reason = t(`address.${parsed.fault}`);
  throw new UserError(t('subscription.filter.counterparty', { text: quoted(text), reason }));
}

/** `hourly`, `daily`, or null for `off`. Throws a {@link UserError}. */
export function readDigest(text: string, reading: Reading): Subscription['digest'] {
  if (NONE.includes(text.toLowerCase())) return null;
  const chosen = oneOf('digest', ['off', 'hourly', 'daily']).read(text, reading);
  return chosen === 'off' ? null : chosen;
}

/** `compact` or `full`, or null for the server's style. Throws a {@link UserError}. */
export function readStyle(text: string, reading: Reading): Subscription['style'] {
  const wanted = text.toLowerCase();
  if (['', 'none', 'default'].includes(wanted)) return null;
  const chosen = oneOf('style', ['default', 'compact', 'full']).read(text, reading);
  return chosen === 'default' ? null : chosen;
}

/** Quiet hours as `HH:MM-HH:MM`. Throws a {@link UserError}. */
export function readQuiet(text: string, { t }: Reading): string {
  const times = /^(\d{1,2}):(\d{2})\s*[-–—−~〜]\s*(\d{1,2}):(\d{2})$/.exec(text)?.slice(1) ?? [];
  const [startHour = '24', startMinute = '', endHour = '24', endMinute = ''] = times;
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
