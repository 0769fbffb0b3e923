import { HOUR, MINUTE } from '../../domain/durations.ts';
import { StoreError } from '../../errors.ts';

/** The process that works was replaced: what it wanted to write is not written. */
export const notLeader = (): StoreError =>
  new StoreError('Another process was elected: this one no longer changes anything.', 'LEDGERBELL_NOT_LEADER');

/** TLS failed: the certificate is not trusted, is for another name, or the server has none. */
const TLS = /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_SSL)|does not support SSL|SSL connection/;

/** Errors of a connection, and of a server that stops, starts, or is a replica: another connection may work. */
const CONNECTION = /^(08|57P|25006|53300)/;

const DISK_FULL = '53100';

/** A full disk is forgotten when something was written this long after: one write may need no new space. */
const FULL_DISK_KEPT_MS = MINUTE;
/** It is also forgotten when no failure named it for this long: not every process writes. */
const FULL_DISK_NAMED_MS = HOUR;

interface Failure {
  error: unknown;
  isRefusal: boolean;
}

/**
 * Words the failures of calls to one server. When it is away, it can no longer report that its disk is full. `elapsed`:
 * milliseconds that really passed, since any moment.
 */
export function createFailures(elapsed: () => number) {
  let full: { message: string; at: number; namedAt: number } | null = null;
  return {
    /** {@link toStoreError}, with what was known before. */
    word(error: unknown): Failure {
      const failure = toStoreError(error);
      const now = elapsed();
      if (isServerError(error) && error.code === DISK_FULL) full = { message: error.message, at: now, namedAt: now };
      if (full !== null && now - full.namedAt >= FULL_DISK_NAMED_MS) full = null;
      if (full === null || failure.isRefusal || !(failure.error instanceof StoreError)) return failure;
      full.namedAt = now;
      const { message, code } = failure.error;
      const known = `${message.replace(/\.$/, '')}; before that, its disk was full: ${full.message}`;
      return { ...failure, error: new StoreError(known, code) };
    },
    /** Records that something was written. */
    wrote(): void {
      if (full !== null && elapsed() - full.at >= FULL_DISK_KEPT_MS) full = null;
    },
  };
}

/**
 * The `StoreError` for what a call failed with; `isRefusal`: the server refused a statement, and the connection works. A
 * code is `POSTGRES_` with the SQLSTATE, or `POSTGRES_TLS`, or `POSTGRES_UNREACHABLE`.
 */
export function toStoreError(error: unknown): Failure {
  if (!(error instanceof Error) || error instanceof StoreError) return { error, isRefusal: true };
  if (isServerError(error)) {
    const { code, message } = error;
    const text = code === DISK_FULL ? `The disk of the database server is full: ${message}` : message;
    return { error: new StoreError(text, `POSTGRES_${code}`), isRefusal: !CONNECTION.test(code) };
  }
  const { code, message } = error as Error & { code?: string };
  if (TLS.test(code ?? '') || TLS.test(message))
    return { error: new StoreError(message, 'POSTGRES_TLS'), isRefusal: false };
  if (isConnectionError(code, message)) {
    const text = message === '' ? (code ?? 'unknown error') : message;
    return {
      error: new StoreError(`The database cannot be reached: ${text}.`, 'POSTGRES_UNREACHABLE'),
      isRefusal: false,
    };
  }
  // A bug of ours, or an outcome thrown to roll back: the transaction is over, and the connection works.
  return { error, isRefusal: true };
}

const isServerError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'severity' in error && 'code' in error && error.code !== undefined;

/** pg's own messages have no code. */
const isConnectionError = (code: string | undefined, message: string): boolean =>
  /^E[A-Z]+$/.test(code ?? '') ||
  /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered a connection error)/.test(
    message,
  ) ||
  /^(Client was closed|Cannot use a pool after)/.test(message);
