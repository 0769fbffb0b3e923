import type { AlertTarget } from './alert.ts';

/** `retryAfterMs` is what the response asked for. */
export type SendOutcome =
  | { status: 'sent'; messageId: string | null }
  /** `local`: the library knew the limit and sent no request. */
  | { status: 'rate-limited'; global: boolean; local: boolean; retryAfterMs: number }
  /** Timeout, broken connection, truncated response, 5xx: the message may have been posted. */
  | { status: 'unconfirmed'; reason: string; retryAfterMs?: number }
  /** The fault concerns all sending: a proxy's response, or a rate limit without a duration. */
  | { status: 'breaker'; reason: string; retryAfterMs?: number }
  | { status: 'unauthorized' }
  | { status: 'forbidden'; code: number }
  | { status: 'gone'; code: number }
  | { status: 'refused'; reason: string };

/** `unknown`: the channel has messages that cannot be read. */
export type FindOutcome = { status: 'found'; messageId: string } | { status: 'absent' } | { status: 'unknown' };

/** The seam from the deliverer to Discord. Sends each request once: it never retries and never waits. */
export interface Sender {
  /** Posts a frozen message. For some minutes Discord ignores a repeat with the same nonce. */
  create(channelId: string, payload: object, nonce: string, csv?: string | null): Promise<SendOutcome>;
  edit(channelId: string, messageId: string, payload: object, csv?: string | null): Promise<SendOutcome>;
  /** null: no response shows it. */
  isMember(guildId: string): Promise<boolean | null>;
  /** Searches the latest 100 messages and those since `since`; calls `countRequest` before each request. */
  find(
    channelId: string,
    reference: string,
    since: number,
    countRequest: () => void,
  ): Promise<FindOutcome | SendOutcome>;
}

/** All channels of a guild wait together, because Discord refused too many of its messages. */
export interface GuildPause {
  probeAt: number;
  refusals: number;
}

export interface SendingPause {
  /** null: nothing is sent anywhere. */
  channelId: string | null;
  /**
   * `token`: Discord rejects it. `breaker`: Discord or a proxy refuses everything. `retry`: the last attempt failed.
   * `burst`: alerts are collected for a digest.
   */
  reason: 'token' | 'breaker' | 'rate' | 'retry' | 'burst';
  until: number;
}

/** The seam to the deliverer. Calls are only hints: whatever is stored is found a minute later without them. */
export interface Outbox {
  wake(targets: readonly AlertTarget[]): void;
  /** For channels that cannot be named; resolves once they are known. */
  rescan(): Promise<void>;
}
