import { CsvError, parse } from 'csv-parse/sync';
import { FORMULA } from '../../src/domain/csv.ts';

/** One record of a CSV text; `line`: where it begins, counted from 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** The records of a CSV text, or the line on which the first invalid one begins. */
export type ReadCsv = { ok: true; records: CsvRecord[] } | { ok: false; line: number; fault: 'quote' | 'unclosed' };

/**
 * Reads a CSV text by RFC 4180, with commas or, if its first line has them, semicolons between the cells, and lines
 * that end as on any system. Removes the apostrophes that `csvLine` added, a byte order mark, and empty lines.
 */
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

/** Spreadsheets write semicolons where the comma is the decimal sign. */
function separatorOf(text: string): ',' | ';' {
  const [first = ''] = text.split(/[\r\n]/, 1);
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}
