/** Why a receiver URL takes no delivery now although others do; also the metrics' label. */
export const QUOTA_REASONS = ['rate', 'backlog', 'daily', 'disk-reserve', 'quarantine-full'] as const;
export type QuotaReason = (typeof QUOTA_REASONS)[number];

/** Limits for the receiver URL of one server's own project. */
export interface QuotaLimits {
  /** Deliveries per second: the sustained rate, and the burst size. */
  rate: number;
  burst: number;
  /** Deliveries that wait for the router, and their bytes. */
  waiting: number;
  waitingBytes: number;
  /** Bytes of deliveries stored in one day (UTC). */
  dayBytes: number;
  /** Deliveries per second that the operator's URL may bring; null: without limit. */
  operatorRate: number | null;
}

/** What one receiver URL received, and what it may receive. */
export interface ScopeQuota {
  waiting: number;
  /** Bytes. */
  storedToday: number;
  /** The deliveries refused since the start, and why the last one was; null: none. */
  refused: { reason: QuotaReason; count: number; at: number } | null;
  limits: QuotaLimits;
}
