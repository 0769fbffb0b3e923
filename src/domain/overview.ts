/** What waits, what is in quarantine and what cannot be posted, at one moment. Times in milliseconds since 1970. */
export interface Backlog {
  /** Deliveries that wait for the router. */
  inbox: { waiting: number; oldest: number | null };
  quarantine: { rows: number; bytes: number };
  /**
   * Alerts that wait for their message: `due` now, `held` until a chosen time, or kept for a blocked channel (`closed`, as
   * in the metric). `oldest`: since when the oldest one that is due, or whose message is not confirmed, could
   * have been posted.
   */
  alerts: { due: number; held: number; closed: number; oldest: number | null };
  /** Messages that are frozen and not confirmed, in channels that are not blocked. */
  frozen: number;
  deadLetters: number;
  channels: { parked: number; unreachable: number };
}

/** The state of one guild's alerts. */
export interface GuildOverview {
  lastEventAt: number | null;
  waiting: number;
  /** Those that a digest or quiet hours hold. */
  held: number;
  deadLetters: number;
  lastDeadLetter: { channelId: string; reason: string; at: number } | null;
  /** Channels with waiting alerts that the bot cannot post in now, and since when. */
  blocked: { channelId: string; state: 'parked' | 'unreachable'; since: number | null }[];
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
  /** Alerts that wait to be posted. */
  waiting: number;
  /** Past alerts, and the reasons recorded for transfers that were not posted. */
  history: number;
  /** Entries of the audit log. */
  audit: number;
}
