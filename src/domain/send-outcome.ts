/** The outcome of a request to send, as far as its response shows. `retryAfterMs` is what the response asked for. */
export type SendOutcome =
  | { status: 'sent'; messageId: string | null }
  /** `local`: the library knew the limit and sent no request. */
  | { status: 'rate-limited'; global: boolean; local: boolean; retryAfterMs: number }
  /** Timeout, broken connection, truncated response, 5xx: the message may have been posted. */
  | { status: 'unsure'; reason: string; retryAfterMs?: number }
  /** The fault concerns all sending: a proxy's response, or a rate limit without a duration. */
  | { status: 'breaker'; reason: string; retryAfterMs?: number }
  | { status: 'unauthorized' }
  | { status: 'forbidden'; code: number }
  | { status: 'gone'; code: number }
  | { status: 'refused'; reason: string };

/** Whether a message with a reference is in a channel; `unknown` if the channel has messages that cannot be read. */
export type FindOutcome = { status: 'found'; messageId: string } | { status: 'absent' } | { status: 'unknown' };

/** Sends each request to Discord once: it never retries and never waits. */
export interface Sender {
  /** Posts a frozen message. For some minutes Discord ignores a repeat with the same nonce. */
  create(channelId: string, payload: object, nonce: string, csv?: string | null): Promise<SendOutcome>;
  /** Edits what the payload names; a `csv` replaces the message's file. */
  edit(channelId: string, messageId: string, payload: object, csv?: string | null): Promise<SendOutcome>;
  /** Whether the bot is in a guild; null if no response shows it. */
  isMember(guildId: string): Promise<boolean | null>;
  /**
   * Searches the channel's latest 100 messages and those since `since` for the one that contains `reference`; calls
   * `onRequest` before each request.
   */
  find(channelId: string, reference: string, since: number, onRequest: () => void): Promise<FindOutcome | SendOutcome>;
}
