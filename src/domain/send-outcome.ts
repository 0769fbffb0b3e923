/** What became of a request to send, as far as its answer tells. `retryAfterMs` is what the answer asked for. */
export type SendOutcome =
  | { status: 'sent'; messageId: string | null }
  /** `local`: the library knew the limit and asked nobody. */
  | { status: 'rate-limited'; global: boolean; local: boolean; retryAfterMs: number }
  /** Time-out, broken connection, cut answer, 5xx: it may have been done. */
  | { status: 'unsure'; reason: string; retryAfterMs?: number }
  /** Not Discord itself, or Discord without a word on how long: hold everything. */
  | { status: 'breaker'; reason: string; retryAfterMs?: number }
  | { status: 'unauthorised' }
  | { status: 'forbidden'; code: number }
  | { status: 'gone'; code: number }
  | { status: 'refused'; reason: string };

/** Whether a message with a reference is in a channel; `unknown` when its history cannot be read and holds something. */
export type FindOutcome = { status: 'found'; messageId: string } | { status: 'absent' } | { status: 'unknown' };
