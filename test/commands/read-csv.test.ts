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

it('reads spreadsheets’ CSV: a byte order mark, semicolons, empty lines, no last line end, old line ends', () => {
  expect(cellsOf('a,b\r1,"2"\r\r')).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
  expect(cellsOf('\ufeffa;b\r\n1,5;"x;y"\r\n;\r\n\r\n2;')).toEqual([
    ['a', 'b'],
    ['1,5', 'x;y'],
    ['2', ''],
  ]);
});

it.each(['\n', '\r\n'])('reads CSV lines that end with %j, and numbers them', (end) => {
  expect(readCsv(['a,b', '"one', 'two",2', '', '3,4', ''].join(end))).toEqual({
    ok: true,
    records: [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: [`one${end}two`, '2'] },
      { line: 5, cells: ['3', '4'] },
    ],
  });
});

it.each([
  ['a\nb"c\n', { line: 2, fault: 'quote' }],
  ['a\n"b"c\n', { line: 2, fault: 'quote' }],
  ['a\n\n"b', { line: 3, fault: 'unclosed' }],
])('reports the line on which quotes are wrong: %j', (text, fault) => {
  expect(readCsv(text)).toEqual({ ok: false, ...fault });
});
