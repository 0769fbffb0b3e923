import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { AddressText } from '../../src/domain/address.ts';
import { csvLine, FILE_BYTES } from '../../src/domain/csv.ts';
import { type Choices, DEFAULT_CHOICES, FOREVER, type Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { FIELDS, type Reading, readChoices, readYesOrNo, writeChoices, writeYesOrNo } from './fields.ts';

/** What a file tells of a subscription besides its address and channel. */
export type Kept = Choices & Pick<Subscription, 'paused' | 'mutedUntil'>;

/** What is not told takes this. */
export const DEFAULT_KEPT: Kept = { ...DEFAULT_CHOICES, paused: false, mutedUntil: null };

/** The columns of a file; a row of the address book has the first four only. */
export const COLUMNS = [
  'type',
  'address',
  'channel',
  ...Object.values(FIELDS).map(({ option }) => option),
  'paused',
  'muted-until',
];

/** Rows that are made before the event loop has a turn: each may name hundreds of addresses. */
const ROWS_A_TURN = 10;

/** Bytes of a file that is imported. */
export const IMPORT_BYTES = 256 * 1024;

/** As many files as a message takes for sure, when the rows do not fill each of them to its end. */
const FILES_MOST = 8;

/**
 * CSV files of subscriptions and of the address book: mostly one. Each can be imported, unless that would be more files
 * than a message takes; then they are as large as Discord takes them.
 */
export async function writeFiles(
  subscriptions: Subscription[],
  labels: { address: AddressText; name: string }[],
  now: number,
): Promise<string[]> {
  const rows: string[] = [];
  for (const [index, one] of subscriptions.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turnOfTheLoop();
    const kept = [...writeChoices(one), writeYesOrNo(one.paused), writeMoment(one.mutedUntil, now)];
    rows.push(csvLine(['subscription', checksumAddress(one.address), `<#${one.channelId}>`, ...kept]));
  }
  const names = labels.map(({ address, name }) => csvLine(['label', checksumAddress(address), '', name]));
  return split([...rows, ...names].map((row) => `${row}\r\n`));
}

/** Puts rows into files, each with the header line. */
function split(rows: string[]): string[] {
  const head = `${csvLine(COLUMNS)}\r\n`;
  const sizes = rows.map((row) => Buffer.byteLength(row));
  const sum = sizes.reduce((all, size) => all + size, 0);
  const most = sum <= FILES_MOST * IMPORT_BYTES ? IMPORT_BYTES : FILE_BYTES;
  const files: string[] = [];
  let room = 0;
  for (const [index, row] of rows.entries()) {
    const size = sizes[index]!;
    if (size > room) {
      files.push(head);
      room = most - head.length;
    }
    files[files.length - 1] += row;
    room -= size;
  }
  return files;
}

/** The columns in which two differ. */
export function differing(one: Kept, other: Kept): string[] {
  const cells = (kept: Kept) => [...writeChoices(kept), writeYesOrNo(kept.paused), writeMoment(kept.mutedUntil, 0)];
  const others = cells(other);
  const columns = COLUMNS.slice(-others.length);
  return columns.filter((_, index) => cells(one)[index] !== others[index]).map((column) => `\`${column}\``);
}

function writeMoment(until: number | null, now: number): string {
  if (until === null || until <= now) return '';
  return until === FOREVER ? 'forever' : new Date(until).toISOString();
}

/** What a row tells, over what was there before: `said` gives a column's text. Throws a {@link UserError}. */
export function readKept(said: (column: string) => string | undefined, before: Kept, reading: Reading): Kept {
  const paused = said('paused');
  const mutedUntil = said('muted-until');
  return {
    ...readChoices(said, before, reading),
    paused: paused === undefined ? before.paused : readYesOrNo('paused', paused, false, reading),
    mutedUntil: mutedUntil === undefined ? before.mutedUntil : readMoment(mutedUntil, reading),
  };
}

/** As ISO 8601 has it, and as people and other programs write it: with a one-digit hour, or no colon in the zone. */
const MOMENT =
  /^(?<day>\d{4}-\d\d-\d\d)([T ](?<hour>\d{1,2})(?<rest>:\d\d(:\d\d(\.\d+)?)?)(Z|(?<zone>[+-]\d\d):?(?<minutes>\d\d))?)?$/i;

function readMoment(text: string, { t }: Reading): number | null {
  if (text === '') return null;
  if (text.toLowerCase() === 'forever') return FOREVER;
  // Without a zone a time of day would be that of the machine on which the bot runs.
  const { day, hour = '0', rest = ':00', zone = '+00', minutes = '00' } = MOMENT.exec(text)?.groups ?? {};
  const time = Date.parse(`${day}T${hour.padStart(2, '0')}${rest}${zone}:${minutes}`);
  // There is no 31st of February, but the parser takes it for the 3rd of March.
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(day?.slice(-2));
  if (Number.isNaN(time) || !isDay) throw new UserError(t('subscription.import.moment'));
  return time;
}
