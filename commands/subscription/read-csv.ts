import { CsvError, parse } from 'csv-parse/sync';
import { addressesIn, addressList, type ListedAddress } from '../../src/domain/address.ts';
import { FORMULA } from '../../src/domain/csv.ts';
import { chainOf } from '../../src/domain/network.ts';
import type { Translate } from '../../src/languages/index.ts';
import { listInCode, quoted } from '../shared/reply.ts';
import { closestMatch, withSuggestion } from '../shared/suggestions.ts';

/** One record of a CSV text; `line`: where it begins, counted from 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

type ReadCsv = { ok: true; records: CsvRecord[] } | { ok: false; line: number; fault: 'quote' | 'unclosed' };

/** By RFC 4180, with any line ends. Removes the apostrophes of `csvLine`, a byte order mark, and empty lines. */
export function readCsv(text: string): ReadCsv {
  const records: CsvRecord[] = [];
  let line = 1;
  try {
    parse(text, {
      bom: true,
      delimiter: separatorOf(text),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      cast: (cell) => (FORMULA.test(cell) ? cell.replace(/^'/, '') : cell),
      on_record(cells: string[]) {
        if (cells.some((cell) => cell !== '')) records.push({ line, cells });
        // The library's own count takes a CRLF in quotes for two lines.
        line += cells.join('').split('\n').length;
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { ok: false, line, fault: error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'unclosed' : 'quote' };
  }
  return { ok: true, records };
}

/** Spreadsheets write semicolons where the comma is the decimal sign, and tabs when cells are copied. */
function separatorOf(text: string): ',' | ';' | '\t' {
  const first = text.split(/[\r\n]/).find((line) => /[\t,;]/.test(line)) ?? '';
  if (first.includes('\t')) return '\t';
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

/** Column names of other programs (Safe, rotki, block explorers, …), without blanks and signs. */
const OTHER_NAMES: Record<string, string> = {
  wallet: 'address',
  walletaddress: 'address',
  account: 'address',
  contractaddress: 'address',
  name: 'label',
  nametag: 'label',
  privatenametag: 'label',
  publicnametag: 'label',
  alias: 'label',
  label: 'label',
  labels: 'label',
  chainid: 'chain',
  chain: 'chain',
  blockchain: 'chain',
  // Where there are several networks, this is our own column.
  network: 'chain',
};

/** Our columns that other programs have with another meaning, such as an amount as the balance, and our values there. */
const OUR_VALUES: Record<string, RegExp> = {
  type: /^(subscription|label)$/i,
  balance: /^(yes|no)$/i,
  kind: /any|nativ|erc|nft/i,
};

const hasAddress = (text: string): boolean => addressesIn(text).length > 0;

const firstWithAddress = (records: readonly CsvRecord[]): number =>
  records.findIndex(({ cells }) => hasAddress(cells.join(' ')));

/** An address that was meant, also a wrong one. */
const MEANT = /0x|[\da-f]{40}/i;

/** A title or a comment above a list, and no header or address. */
const isTitle = ({ cells }: CsvRecord): boolean =>
  cells.filter(Boolean).length === 1 &&
  cells.every((cell) => !MEANT.test(cell) && cell.trim().toLowerCase() !== 'address');

export const fromHeader = (records: readonly CsvRecord[]): CsvRecord[] =>
  records.slice(records[0] && isTitle(records[0]) ? Math.max(0, firstWithAddress(records) - 1) : 0);

interface Columns {
  /** `chain`: the row's chain; null: a column that is not ours. */
  columns: readonly (string | null)[];
  foreign: string[];
}

/** A text is the header's fault. A name close to a column of ours is one: nobody wants to lose a minimum. */
export function readColumns(
  header: readonly string[],
  ours: readonly string[],
  offered: readonly string[],
  rows: readonly CsvRecord[],
  t: Translate,
): Columns | string {
  const given = header.map((cell) => cell.trim());
  const isOurFile = given.some((cell) => cell.toLowerCase() === 'channel');
  const columns: (string | null)[] = given.map((cell, index) => {
    const name = cell.toLowerCase();
    const values = isOurFile ? undefined : OUR_VALUES[name];
    const isOther = values !== undefined && !rows.some(({ cells }) => values.test(cells[index]?.trim() ?? ''));
    return ours.includes(name) && !isOther ? name : null;
  });
  const found = rows[0]?.cells.findIndex(hasAddress) ?? -1;
  const isMeant = (index: number) => found === -1 || rows.some(({ cells }) => MEANT.test(cells[index] ?? ''));
  const named = given.map((cell, index) => {
    const other = OTHER_NAMES[cell.toLowerCase().replace(/[^a-z]/g, '')];
    // An account may also be a name beside its address.
    return { index, other, isName: other === 'address' && !isMeant(index) };
  });
  for (const { index, other, isName } of named.toSorted((x, y) => Number(x.isName) - Number(y.isName))) {
    const name = isName ? 'label' : other;
    if (columns[index] === null && name !== undefined && !columns.includes(name)) columns[index] = name;
  }
  // In another language, or as only that program calls it.
  if (!columns.includes('address') && columns[found] === null && !MEANT.test(given[found]!)) columns[found] = 'address';
  if (!columns.includes('address')) return t('subscription.import.noAddress');
  const foreign = given.filter((cell, index) => columns[index] === null && cell !== '');
  // In another program's list no filter is lost with a column that is nearly called like these.
  const guarded = isOurFile ? ours : ours.filter((name) => !['label', 'type', 'balance'].includes(name));
  const misspelt = foreign.find((cell) => !ours.includes(cell.toLowerCase()) && closestMatch(cell, guarded) !== null);
  if (misspelt !== undefined) {
    const values = { column: quoted(misspelt), columns: listInCode(offered, t) };
    return withSuggestion(t('subscription.import.unknownColumn', values), misspelt, offered, t);
  }
  const repeated = ours.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (repeated === undefined) return { columns, foreign };
  return t('subscription.import.repeatedColumn', { column: `\`${repeated}\`` });
}

export const PLAIN_COLUMNS = ['address', 'label', 'chain'];

/** A cell of one of our own files, whose columns need their header. */
const OURS = /^(subscription|label|<?#.*)$/i;

/** A list without a header, with an address in its first line or below a title, without its comments; null: it is none. */
export function plainList(text: string, records: readonly CsvRecord[]): CsvRecord[] | null {
  const start = firstWithAddress(records);
  if (start === -1 || !records.slice(0, start).every(isTitle)) return null;
  const { line: begin, cells } = records[start]!;
  if (cells.some((cell) => OURS.test(cell.trim()))) return null;
  return text.split(/\r\n|[\r\n]/).flatMap((line, index) => {
    if (line.trim() === '' || index + 1 < begin || (/^\s*(#|\/\/)|:\s*$/.test(line) && !MEANT.test(line))) return [];
    const listed = /[\t;|]/.test(line) ? inCells(line.split(/[\t;|]/)) : addressList(line, true);
    // A line without an address is refused with its text.
    const rows = listed.length > 0 ? listed : [{ text: line.trim(), label: null, chainId: null }];
    return rows.map((row) => ({ line: index + 1, cells: [row.text, row.label ?? '', String(row.chainId ?? '')] }));
  });
}

/** The addresses in a pasted row; the name of a single one is in the next cell that has letters and names no chain. */
function inCells(cells: readonly string[]): ListedAddress[] {
  const listed = addressList(cells.join(' '), true);
  const [only, ...others] = listed;
  const at = cells.findIndex(hasAddress);
  const own = at === -1 ? undefined : addressList(cells[at]!, true)[0];
  if (!only || !own || others.length > 0 || own.label !== null) return listed;
  const words = [...cells.slice(0, at).reverse(), ...cells.slice(at + 1)]
    .map((cell) => cell.trim().replace(/^"|"$/g, ''))
    .filter((cell) => /\p{L}/u.test(cell));
  const chain = words.length > 1 ? words.find((word) => chainOf(word) !== undefined) : undefined;
  const chainId = own.chainId ?? (chain === undefined ? null : chainOf(chain)!);
  return [{ ...own, chainId, label: words.find((word) => word !== chain) ?? null }];
}
