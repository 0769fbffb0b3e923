/**
 * An error whose message is meant for the person who caused it: what was wrong, what a right value looks like, what
 * to do next. Everything else that is thrown is logged, and people see one fixed sentence.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** A failed call to the database; `code` is SQLite's (`SQLITE_BUSY`, `SQLITE_FULL`, …) where it has one. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: string | undefined;
  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

/** Whether a failed call may succeed later without anybody changing the program: a locked file, a full disk. */
export function isPassing(error: unknown): boolean {
  return error instanceof StoreError && /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CANTOPEN)/.test(error.code ?? '');
}
