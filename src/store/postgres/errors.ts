import { StoreError } from '../../errors.ts';

/** The process that works was replaced: what it wanted to write is not written. */
export const notLeader = (): StoreError =>
  new StoreError('Another process was elected: this one changes nothing any more.', 'LEDGERBELL_NOT_LEADER');

/** TLS failed: the certificate is not trusted, is for another name, or the server has none. */
const TLS = /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_SSL)|does not support SSL|SSL connection/;

/** Errors of a connection, and of a server that stops, starts, or is a replica: another connection may work. */
const CONNECTION = /^(08|57P|25006|53300)/;

/**
 * The `StoreError` for what a call failed with; `isRefusal`: the server refused a statement, and the connection works. A
 * code is `POSTGRES_` with the SQLSTATE, or `POSTGRES_TLS`, or `POSTGRES_UNREACHABLE`.
 */
export function toStoreError(error: unknown): { error: unknown; isRefusal: boolean } {
  if (!(error instanceof Error) || error instanceof StoreError) return { error, isRefusal: true };
  const { code, message, severity } = error as Error & { code?: string; severity?: string };
  if (severity !== undefined && code !== undefined) {
    return { error: new StoreError(message, `POSTGRES_${code}`), isRefusal: !CONNECTION.test(code) };
  }
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

/** pg's own messages have no code. */
const isConnectionError = (code: string | undefined, message: string): boolean =>
  /^E[A-Z]+$/.test(code ?? '') ||
  /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered a connection error)/.test(
    message,
  ) ||
  /^(Client was closed|Cannot use a pool after)/.test(message);
