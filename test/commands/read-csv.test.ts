import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCsv } from '../../commands/subscription/read-csv.ts';
import { csvLine } from '../../src/domain/csv.ts';

const cellsOf = (text: string) => {
  const parsed = readCsv(text);
  return parsed.ok ? parsed.records.map(({ cells }) => cells) : parsed;
};

it('reads CSV back as it was written, whatever the cells contain', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("'", '=', '"', ',', ';', '\n', '\r', ' ', '-', 'a') }),
  );
  const record = fc.array(cell, { minLength: 2, maxLength: 4 }).filter((cells) => cells.some((one) => one !== ''));
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), (records) => {
      // The first line decides about the separator, so it is a header's.
      const text = [['a', 'b'], ...records].map(csvLine).join('\r\n');
      expect(cellsOf(text)).toEqual([['a', 'b'], ...records]);
    }),
  );
});

it('reads spreadsheets’ CSV: a byte order mark, semicolons, empty lines, no last line end', () => {
  expect(cellsOf('\ufeffa;b\r\n1,5;"x;y"\r\n;\r\n\r\n2;')).toEqual([
    ['a', 'b'],
    ['1,5', 'x;y'],
    ['2', ''],
  ]);
});

it.each(['\n', '\r\n', '\r'])('reads CSV lines that end with %j', (end) => {
  expect(cellsOf(['a,b', '1,"2"', '', '3,4', ''].join(end))).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ]);
});

it('numbers CSV records by the line on which they begin', () => {
  for (const end of ['\n', '\r\n']) {
    const parsed = readCsv(['a,b', '"one', 'two",2', '', '3,4', ''].join(end));
    expect(parsed).toMatchObject({ ok: true, records: [{ line: 1 }, { line: 2 }, { line: 5 }] });
  }
});

it('reports the line on which quotes are wrong', () => {
  expect(readCsv('a\nb"c\n')).toEqual({ ok: false, line: 2, fault: 'quote' });
  expect(readCsv('a\n"b"c\n')).toEqual({ ok: false, line: 2, fault: 'quote' });
  expect(readCsv('a\n\n"b')).toEqual({ ok: false, line: 3, fault: 'unclosed' });
});
