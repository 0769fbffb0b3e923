import { existsSync } from 'node:fs';

/** Its message is shown to the person who caused it. Other errors are logged, and people see one fixed sentence. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** What the person may have meant, as buttons. */
  readonly readings: readonly OtherText[];
  constructor(message: string, { readings = [], ...options }: ErrorOptions & { readings?: readonly OtherText[] } = {}) {
    super(message, options);
    this.readings = readings;
  }
}

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

/** The message names every fault and no secret's value. A restart does not help. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export class LostLockError extends Error {
  override readonly name = 'LostLockError';
}

/** Faults that the next start may not have. An unknown host name is not among them: it is wrong. */
const TRANSIENT = /^(ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM|ENOBUFS|EADDRINUSE)$/;

export function startError(message: string, { code = '' }: NodeJS.ErrnoException): Error {
  return TRANSIENT.test(code) ? new Error(message) : new ConfigError(message);
}

/** `code` is SQLite's (`SQLITE_BUSY`, …), or `POSTGRES_` and the SQLSTATE. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: string | undefined;
  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

/** SQLSTATE classes of values that Postgres refuses: wrong, against a constraint, or too large. */
const POSTGRES_VALUES = /^POSTGRES_(2[123]|54)/;

/** Whether a call failed because of the database and not because of its arguments. */
export function isDatabaseFault(error: unknown): boolean {
  const code = error instanceof StoreError ? (error.code ?? '') : '';
  if (code.startsWith('POSTGRES_')) return !POSTGRES_VALUES.test(code);
  return /^(SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CANTOPEN|CORRUPT|NOTADB|READONLY)|LEDGERBELL_)/.test(code);
}

/** One line for the log. Other fields are left out: those of discord.js contain the token. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string | number };
  return `${error.name}${code === undefined ? '' : ` ${code}`}: ${error.message}`;
}

/** Other fields are left out: those of discord.js contain the request with its tokens and the whole response. */
export function forLog(error: unknown): object {
  if (!(error instanceof Error)) return { message: `not an error but a value of type ${typeof error}` };
  const { name: type, message, stack, code, status } = error as Error & { code?: unknown; status?: unknown };
  return { type, message, stack, code, status };
}

/** Sysexits' EX_CONFIG: a restart cannot help. The documented systemd unit does not restart the bot then. */
export const EX_CONFIG = 78;

/** Sysexits' EX_TEMPFAIL: another process works now, and this one is to be started again. */
export const EX_TEMPFAIL = 75;

/**
 * Ends the process at once. `process.exit` waits for every thread, also for one that waits for a disk that hangs, and
 * closes the database, which would remove the log of a file that replaced it. Replacing the process with another
 * program does neither. The image has no shell: there Node is that program. The first process of a container cannot
 * kill itself with a signal.
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
