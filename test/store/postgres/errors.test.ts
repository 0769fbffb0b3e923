import pg from 'pg';
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import { isAway, toStoreError } from '../../../src/store/postgres/connection.ts';

const refusal = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { severity: 'ERROR', code });
const connectionError = (code: string, message: string) => Object.assign(new Error(message), { code });

const UNREACHABLE = 'POSTGRES_UNREACHABLE';
const CANNOT_REACH = 'The database cannot be reached';
const GONE = 'connect ECONNREFUSED 127.0.0.1:5432';
const SILENT = 'Query read timeout';
const FULL = 'could not extend file "base/16384/16396": No space left on device';

it.each([
  ['a refused row', refusal('23505', 'duplicate key'), 'POSTGRES_23505', 'duplicate key', true],
  ['a server that stops', refusal('57P01', 'terminating'), 'POSTGRES_57P01', 'terminating', false],
  ['an unknown certificate', connectionError('CERT_HAS_EXPIRED', 'expired'), 'POSTGRES_TLS', 'expired', false],
  ['a full disk', refusal('53100', FULL), 'POSTGRES_53100', `The disk of the database server is full: ${FULL}`, true],
  ['a server that has stopped', connectionError('ECONNREFUSED', GONE), UNREACHABLE, `${CANNOT_REACH}: ${GONE}.`, false],
  ['a network that swallows everything', new Error(SILENT), UNREACHABLE, `${CANNOT_REACH}: ${SILENT}.`, false],
])('says what %s means, and knows whether the connection still works', (_what, error, code, message, isRefusal) => {
  const failure = toStoreError(error);
  expect(failure).toEqual({ error: new StoreError(message, code), isRefusal });
  expect(failure.error).toMatchObject({ code });
});

it('waits at a start for a server that is away, and for none that refuses it', () => {
  const awayOf = (error: Error) => isAway(toStoreError(error).error);
  expect(awayOf(connectionError('ECONNREFUSED', 'refused'))).toBe(true);
  expect(awayOf(refusal('57P03', 'the database system is starting up'))).toBe(true);
  expect(awayOf(refusal('53300', 'too many connections'))).toBe(true);
  expect(awayOf(refusal('28P01', 'password authentication failed'))).toBe(false);
  expect(awayOf(connectionError('CERT_HAS_EXPIRED', 'expired'))).toBe(false);
});
