import { inUnits } from './amount.ts';
import { plainText } from './text.ts';
import { isItem, type Transfer } from './transfer.ts';

/** One record of a CSV text; `line`: where it begins, counted from 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** The records of a CSV text, or the first line that is invalid. */
export type ParsedCsv = { ok: true; records: CsvRecord[] } | { ok: false; line: number; fault: 'quote' | 'unclosed' };

/** Most bytes of one file; Discord accepts 10 MiB. */
export const FILE_BYTES = 10_000_000;

/** A text that a spreadsheet would interpret as a formula, also one already escaped with apostrophes. */
const FORMULA = /^'*[=+@\-\t\r]/;

/** Formats a record by RFC 4180, without a line end. Text that looks like a formula is escaped with an apostrophe. */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return cells.map(cell).join(',');
}

/**
 * The exact amount, without separators. Raw units are marked, so that a spreadsheet does not add them to other amounts.
 */
export function amountCell(transfer: Transfer): string | null {
  const { value, decimals } = transfer;
  if (value === null || isItem(transfer)) return value;
  return decimals === null ? `${value} raw` : inUnits(value, decimals);
}

/** The token ID; one that its sender rounded is marked, so that nobody searches for exactly that ID. */
export function idCell({ tokenId, tokenIdExact }: Transfer): string | null {
  return tokenIdExact ? tokenId : `${plainText(tokenId) ?? ''} imprecise`;
}

function cell(value: string | number | boolean | null): string {
  const text = String(value ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Reads a CSV text by RFC 4180, with commas or, if its first line has them, semicolons between the cells, and lines
 * that end as on any system. Removes the apostrophes that {@link csvLine} added, a byte order mark, and empty lines.
 */
export function parseCsv(text: string): ParsedCsv {
  const source = text.replace(/^\ufeff/, '');
  const between = separatorOf(source);
  const records: CsvRecord[] = [];
  let at = 0;
  let line = 1;
  while (at < source.length) {
    const record: CsvRecord = { line, cells: [] };
    for (;;) {
      const read = source[at] === '"' ? quoted(source, at) : bare(source, at, between);
      if (read === null) return { ok: false, line, fault: 'unclosed' };
      record.cells.push(FORMULA.test(read.text) ? read.text.replace(/^'/, '') : read.text);
      line += read.text.split('\n').length - 1;
      at = read.end;
      if (source[at] !== between) break;
      at++;
    }
    if (source[at] === '\r' && source[at + 1] === '\n') at++;
    if (at < source.length && !'\r\n'.includes(source[at]!)) return { ok: false, line, fault: 'quote' };
    at++;
    line++;
    if (record.cells.some((one) => one !== '')) records.push(record);
  }
  return { ok: true, records };
}

/** Spreadsheets write semicolons where the comma is the decimal sign. */
function separatorOf(source: string): ',' | ';' {
  const first = source.slice(0, Math.max(0, source.search(/[\r\n]|$/)));
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

/** A cell in quotes that begins at `start`; null when it never ends. */
function quoted(source: string, start: number): { text: string; end: number } | null {
  let text = '';
  let from = start + 1;
  for (;;) {
    const quote = source.indexOf('"', from);
    if (quote === -1) return null;
    text += source.slice(from, quote);
    if (source[quote + 1] !== '"') return { text, end: quote + 1 };
    text += '"';
    from = quote + 2;
  }
}

/** A cell without quotes. A quote inside ends it, and the caller reports that as a fault. */
function bare(source: string, start: number, between: string): { text: string; end: number } {
  let end = start;
  while (end < source.length && source[end] !== between && !'\r\n"'.includes(source[end]!)) end++;
  return { text: source.slice(start, end), end };
}
