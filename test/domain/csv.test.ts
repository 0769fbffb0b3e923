import { expect, it } from 'vitest';
import { csvLine } from '../../src/domain/csv.ts';

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@x', "'@x"],
  ['\t=1', "'\t=1"],
  ["'=1", "''=1"],
])('escapes %j with an apostrophe, because a spreadsheet would read it as a formula', (text, line) => {
  expect(csvLine([text])).toBe(line);
});

it.each([
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "b"', '"say ""b"""'],
  ['a\nb', '"a\nb"'],
  [' a', '" a"'],
  ['a ', '"a "'],
  ['a b', 'a b'],
  [1.5, '1.5'],
  [null, ''],
])('puts %j into quotes only if it needs them', (cell, line) => {
  expect(csvLine([cell])).toBe(line);
});
