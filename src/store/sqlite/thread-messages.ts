import type { Call } from './methods.ts';

/** What a database's thread and its connection post to each other. */

/** A call that is posted to the thread. */
export interface PostedCall {
  id: number;
  call: Call;
}

/** The result of a call. */
export interface CallResult {
  id: number;
  result?: unknown;
  error?: { message: string; code?: string | undefined };
}

/** A message from a thread: the database is open, or the results of calls. `syncMs`: how long their commit took. */
export type Post =
  | { ready: true }
  | { details: object; message: string }
  | { results: CallResult[]; syncMs: number | null };
