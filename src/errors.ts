import { existsSync } from 'node:fs';

/**
 * An error whose message is meant for the person who caused it: what was wrong, what a right value looks like, what
 * to do next. Everything else that is thrown is logged, and people see one fixed sentence.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** What the person may have meant; a click on one of them does it. */
  readonly readings: readonly OtherText[];
  constructor(message: string, { readings = [], ...options }: ErrorOptions & { readings?: readonly OtherText[] } = {}) {
    super(message, options);
    this.readings = readings;
  }
}

/** Runs it; `handle` replaces the result if it throws a {@link UserError}. */
export function ifRefused<Result>(run: () => Result, handle: (error: UserError) => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof UserError) return handle(error);
    throw error;
  }
}

/** Another text for an option or a field of a form, and what its button says. */
export interface OtherText {
  option: string;
  text: string;
  label: string;
}

/** The configuration does not allow a start; the message names every fault and no secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** This process lost the lock of the working process; its supervisor starts it again. */
export class LostLockError extends Error {
  override readonly name = 'LostLockError';
}

/**
 * Faults that the next start may not have: a full or failing disk, too many open files, a port in use, usually by the
 * process that this one replaces. An unknown host name is not among them: it is wrong.
 */
const TRANSIENT = /^(ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM|ENOBUFS|EADDRINUSE)$/;

/** Returns the error that ends a start because of a system error: a {@link ConfigError} unless a restart may help. */
export function startError(message: string, { code = '' }: NodeJS.ErrnoException): Error {
  return TRANSIENT.test(code) ? new Error(message) : new ConfigError(message);
}

/**
 * A failed call to the database; `code` is SQLite's (`SQLITE_BUSY`, `SQLITE_FULL`, …), or `POSTGRES_` and the SQLSTATE,
 * if it has one.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: string | undefined;
  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

/** Classes of SQLSTATE for values that Postgres does not take: wrong, refused by a constraint, or too large. */
const POSTGRES_VALUES = /^POSTGRES_(2[123]|54)/;

/**
 * Whether a call failed because of the database and not its arguments: its file is locked, damaged or gone, its disk is
 * full, or its server is away.
 */
export function isDatabaseFault(error: unknown): boolean {
  const code = error instanceof StoreError ? (error.code ?? '') : '';
  if (code.startsWith('POSTGRES_')) return !POSTGRES_VALUES.test(code);
  return /^(SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CANTOPEN|CORRUPT|NOTADB|READONLY)|LEDGERBELL_)/.test(code);
}

/**
 * An error as one line for the log: its type, code and message. Other fields are left out: those of discord.js contain
 * the token.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string | number };
  return `${error.name}${code === undefined ? '' : ` ${code}`}: ${error.message}`;
}

/**
 * The fields of an error that are logged. Others are left out, because those of discord.js contain the request with its
 * tokens and the whole response. Of anything that is not an error, only the type is logged.
 */
export function forLog(error: unknown): object {
  if (!(error instanceof Error)) return { message: `not an error but a value of type ${typeof error}` };
  const { name: type, message, stack, code, status } = error as Error & { code?: unknown; status?: unknown };
  return { type, message, stack, code, status };
}

/**
 * The exit code when a restart cannot help: the configuration is wrong (sysexits' EX_CONFIG), or the database has to be
 * restored. The documented systemd unit does not restart the bot then.
 */
export const EX_CONFIG = 78;

/** The exit code when another process works now (sysexits' EX_TEMPFAIL): this one is to be started again. */
export const EX_TEMPFAIL = 75;

/**
 * Ends the process with an exit code at once. `process.exit` waits for every thread, also for one that waits for a disk
 * that hangs. It also closes the database, which would remove the log of a file that replaced it. Replacing the process
 * with another program does neither. The image has no shell: there Node is that program. A signal would not do, because
 * the first process of a container cannot kill itself.
 */
export function exitNow(code: number, shell = '/bin/sh'): never {
  process.emit('exit', code);
  try {
    if (existsSync(shell)) process.execve!(shell, ['sh', '-c', `exit ${code}`], {});
    process.execve!(process.execPath, ['node', '--eval', `process.exit(${code})`], {});
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
  throw new Error('The process did not exit.');
}
