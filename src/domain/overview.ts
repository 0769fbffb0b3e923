/** What waits, what was set aside and what cannot be told, at one moment. Times in milliseconds since 1970. */
export interface Backlog {
  /** Deliveries that wait for the router. */
  inbox: { waiting: number; oldest: number | null };
  quarantine: { rows: number; bytes: number };
  /**
   * Alerts that wait for their message: `due` now, `held` for a later hour that somebody chose, or kept for a channel
   * that cannot be written to (`closed`). `oldest`: since when the oldest one that is due, or whose message was begun and
   * is not confirmed, could have been told.
   */
  alerts: { due: number; held: number; closed: number; oldest: number | null };
  /** Messages that were begun and are not confirmed, in channels that can be written to. */
  frozen: number;
  deadLetters: number;
  channels: { parked: number; unreachable: number };
}

/** How the alerts of one guild stand. */
export interface GuildOverview {
  lastEventAt: number | null;
  waiting: number;
  /** Those of them that a digest or quiet hours hold back. */
  held: number;
  deadLetters: number;
  lastDeadLetter: { channelId: string; reason: string; at: number } | null;
  /** Channels that take no messages now although some are to be told there, and since when. */
  stopped: { channelId: string; state: 'parked' | 'unreachable'; since: number | null }[];
}

/** What is stored about a guild. */
export interface StoredCounts {
  subscriptions: number;
  labels: number;
  tokenMutes: number;
  /** A notification project of its own, with its receiver URLs. */
  project: boolean;
  webhookNames: number;
  settings: boolean;
  /** Alerts that wait to be told. */
  waiting: number;
  /** Alerts told in the past, and reasons recorded for what was not. */
  history: number;
  /** Entries of who changed what. */
  audit: number;
}
