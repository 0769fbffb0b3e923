import { plainText } from './text.ts';
import { inUnits, isItem, type Transfer } from './transfer.ts';

/** Discord accepts 10 MiB. */
export const MAX_FILE_BYTES = 10_000_000;

/** Also a formula that was already escaped with apostrophes. */
export const FORMULA = /^'*[=+@\-\t\r]/;

/** RFC 4180. Reading can undo the apostrophe before a formula: csv-stringify does not escape a first apostrophe. */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return cells.map(cell).join(',');
}

/** Raw units are marked, so that a spreadsheet does not add them to other amounts. */
export function amountCell(transfer: Transfer): string | null {
  const { value, decimals } = transfer;
  if (value === null || isItem(transfer)) return value;
  return decimals === null ? `${value} raw` : inUnits(value, decimals);
}

/** A rounded ID is marked, so that nobody searches for exactly that ID. */
export function idCell({ tokenId, tokenIdExact }: Transfer): string | null {
  return tokenIdExact ? tokenId : `${plainText(tokenId) ?? ''} imprecise`;
}

function cell(value: string | number | boolean | null): string {
  const text = String(value ?? '');
  const safe = FORMULA.test(text) && !/^-\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
