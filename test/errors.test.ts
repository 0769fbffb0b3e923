import { expect, it } from 'vitest';
import { isDatabaseFault, StoreError } from '../src/errors.ts';

it.each([
  ['SQLITE_FULL', true],
  ['SQLITE_CONSTRAINT_UNIQUE', false],
  ['LEDGERBELL_NOT_LEADER', true],
  ['POSTGRES_UNREACHABLE', true],
  ['POSTGRES_TLS', true],
  // A full disk, a server that stops, a replica, a lock that was not free in time, a missing table.
  ['POSTGRES_53100', true],
  ['POSTGRES_57P01', true],
  ['POSTGRES_25006', true],
  ['POSTGRES_55P03', true],
  ['POSTGRES_42P01', true],
  // A number out of range, a constraint, a row that is too large.
  ['POSTGRES_22003', false],
  ['POSTGRES_23505', false],
  ['POSTGRES_54000', false],
])('knows whether %s is the database’s fault, or that of what was to be stored', (code, expected) => {
  expect(isDatabaseFault(new StoreError('words', code))).toBe(expected);
});
