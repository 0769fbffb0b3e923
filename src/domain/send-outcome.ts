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

/** Sends over Discord's REST, once: it never retries and never waits. */
export interface Sender {
  /** Creates the message of a frozen body; a repeat with the same nonce creates nothing new for some minutes. */
  create(channelId: string, payload: object, nonce: string, csv?: string | null): Promise<SendOutcome>;
  /** Changes what the payload names; a `csv` replaces the message's file. */
  edit(channelId: string, messageId: string, payload: object, csv?: string | null): Promise<SendOutcome>;
  /** Whether the bot is in a guild; null when no answer says so. */
  isMember(guildId: string): Promise<boolean | null>;
  /**
   * Looks for the message whose text holds `reference` among the newest 100 and those since `since`; calls `onRequest`
   * before each request.
   */
  find(channelId: string, reference: string, since: number, onRequest: () => void): Promise<FindOutcome | SendOutcome>;
}
