import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { AddressText } from '../../src/domain/address.ts';
import { KIB } from '../../src/domain/bytes.ts';
import { csvLine, MAX_FILE_BYTES } from '../../src/domain/csv.ts';
import { type Choices, DEFAULT_CHOICES, FOREVER, type Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { type Reading, readYesOrNo, withCause, writeYesOrNo } from './field-values.ts';
import { FIELDS, readChoices, writeChoices } from './fields.ts';

/** The columns of a subscription besides its address and channel. */
export type Kept = Choices & Pick<Subscription, 'paused' | 'mutedUntil'>;

/** The defaults of missing columns. */
export const DEFAULT_KEPT: Kept = { ...DEFAULT_CHOICES, paused: false, mutedUntil: null };

/** The columns of a file; a row of the address book has only the first four. */
export const COLUMNS = [
  'type',
  'address',
  'channel',
  ...Object.values(FIELDS).map(({ option }) => option),
  'paused',
  'muted-until',
];

/** Rows that are formatted before other events are handled: each may contain hundreds of addresses. */
const ROWS_PER_TURN = 10;

/** Maximum bytes of an imported file. */
export const MAX_IMPORT_BYTES = 256 * KIB;

/** This many files fit into a message, even if the rows do not fill each of them. */
const MAX_FILES = 8;

/**
 * CSV files of subscriptions and of the address book: usually one. Each can be imported, unless that would be too many
 * files for a message; then they are as large as Discord allows.
 */
export async function writeFiles(
  subscriptions: Subscription[],
  labels: { address: AddressText; name: string }[],
  now: number,
): Promise<string[]> {
  const rows: string[] = [];
  for (const [index, one] of subscriptions.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfTheLoop();
    rows.push(csvLine(['subscription', checksumAddress(one.address), `<#${one.channelId}>`, ...cellsOf(one, now)]));
  }
  const names = labels.map(({ address, name }) => csvLine(['label', checksumAddress(address), '', name]));
  return split([...rows, ...names].map((row) => `${row}\r\n`));
}

/** Splits rows into files, each with the header line. */
function split(rows: string[]): string[] {
  const head = `${csvLine(COLUMNS)}\r\n`;
  const sizes = rows.map((row) => Buffer.byteLength(row));
  const sum = sizes.reduce((all, size) => all + size, 0);
  const max = sum <= MAX_FILES * MAX_IMPORT_BYTES ? MAX_IMPORT_BYTES : MAX_FILE_BYTES;
  const files: string[] = [];
  let room = 0;
  for (const [index, row] of rows.entries()) {
    const size = sizes[index]!;
    if (size > room) {
      files.push(head);
      room = max - head.length;
    }
    files[files.length - 1] += row;
    room -= size;
  }
  return files;
}

/** The columns in which two differ, in inline code. */
export function differing(one: Kept, other: Kept): string[] {
  const [cells, others] = [cellsOf(one, 0), cellsOf(other, 0)];
  const columns = COLUMNS.slice(-cells.length);
  return columns.filter((_, index) => cells[index] !== others[index]).map((column) => `\`${column}\``);
}

/** The cells behind the address and the channel. Mutes that ended before `now` are left out. */
function cellsOf(kept: Kept, now: number): string[] {
  return [...writeChoices(kept), writeYesOrNo(kept.paused), writeMoment(kept.mutedUntil, now)];
}

function writeMoment(until: number | null, now: number): string {
  if (until === null || until <= now) return '';
  return until === FOREVER ? 'forever' : new Date(until).toISOString();
}

/** Applies a row to the previous values; `input` returns a column's text. Throws a {@link UserError}. */
export function readKept(input: (column: string) => string | undefined, before: Kept, reading: Reading): Kept {
  const paused = input('paused');
  const mutedUntil = input('muted-until');
  return {
    ...readChoices(input, before, reading),
    paused:
      paused === undefined ? before.paused : withCause(paused, () => readYesOrNo('paused', paused, false, reading)),
    mutedUntil:
      mutedUntil === undefined ? before.mutedUntil : withCause(mutedUntil, () => readMoment(mutedUntil, reading)),
  };
}

/** ISO 8601, and its variants by people and other programs: a one-digit hour, or no colon in the zone. */
const MOMENT =
  /^(?<day>\d{4}-\d\d-\d\d)([T ](?<hour>\d{1,2})(?<rest>:\d\d(:\d\d(\.\d+)?)?)(Z|(?<zone>[+-]\d\d):?(?<minutes>\d\d))?)?$/i;

function readMoment(text: string, { t }: Reading): number | null {
  if (text === '') return null;
  if (text.toLowerCase() === 'forever') return FOREVER;
  // Without a zone, a time would be in the bot's machine's zone.
  const { day, hour = '0', rest = ':00', zone = '+00', minutes = '00' } = MOMENT.exec(text)?.groups ?? {};
  const time = Date.parse(`${day}T${hour.padStart(2, '0')}${rest}${zone}:${minutes}`);
  // The parser reads February 31 as March 3.
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(day?.slice(-2));
  if (Number.isNaN(time) || !isDay) throw new UserError(t('subscription.import.moment'));
  return time;
}
