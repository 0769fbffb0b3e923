import pg from 'pg';
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import { isAway, toStoreError } from '../../../src/store/postgres/connection.ts';

/** An error of the server with this SQLSTATE. */
const refusal = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { severity: 'ERROR', code });
const connectionError = (code: string, message: string) => Object.assign(new Error(message), { code });

const FULL = 'could not extend file "base/16384/16396": No space left on device';

it.each([
  ['a full disk', refusal('53100', FULL), 'POSTGRES_53100', `The disk of the database server is full: ${FULL}`, true],
  ['a refused row', refusal('23505', 'duplicate key'), 'POSTGRES_23505', 'duplicate key', true],
  [
    'a server that stops',
    refusal('57P01', 'terminating connection'),
    'POSTGRES_57P01',
    'terminating connection',
    false,
  ],
  [
    'a server that has stopped',
    connectionError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
    'POSTGRES_UNREACHABLE',
    'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:5432.',
    false,
  ],
  [
    'a network that swallows everything',
    new Error('Query read timeout'),
    'POSTGRES_UNREACHABLE',
    'The database cannot be reached: Query read timeout.',
    false,
  ],
  [
    'a certificate that is not trusted',
    connectionError('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate'),
    'POSTGRES_TLS',
    'self-signed certificate',
    false,
  ],
])('names %s, and knows whether the connection still works', (_what, error, code, message, isRefusal) => {
  const failure = toStoreError(error);
  expect(failure).toEqual({ error: new StoreError(message, code), isRefusal });
  expect((failure.error as StoreError).code).toBe(code);
});

it('waits at a start for a server that is away, and for none that refuses it', () => {
  const awayOf = (error: Error) => isAway(toStoreError(error).error);
  expect(awayOf(connectionError('ECONNREFUSED', 'refused'))).toBe(true);
  expect(awayOf(refusal('57P03', 'the database system is starting up'))).toBe(true);
  expect(awayOf(refusal('53300', 'too many connections'))).toBe(true);
  expect(awayOf(refusal('28P01', 'password authentication failed'))).toBe(false);
  expect(awayOf(connectionError('CERT_HAS_EXPIRED', 'expired'))).toBe(false);
});
