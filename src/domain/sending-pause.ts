/** All channels of a guild wait together, because Discord refused too many of its messages. */
export interface GuildHold {
  since: number;
  /** When one of the channels is tried again. */
  probeAt: number;
  /** Refusals in the last 10 minutes. */
  refusals: number;
}

/** Why due alerts are not sent now. */
export interface SendingPause {
  /** null: nothing is sent anywhere. */
  channelId: string | null;
  /**
   * `token`: Discord rejects the bot's token. `breaker`: Discord or a proxy before it refuses everything. `rate`: Discord's
   * rate limit. `retry`: the last attempt failed. `burst`: there were too many alerts, and they are collected for a digest.
   */
  reason: 'token' | 'breaker' | 'rate' | 'retry' | 'burst';
  /** When sending goes on, or is tried again. */
  until: number;
}
