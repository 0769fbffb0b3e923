/** The scope of what arrives for every guild without a project of its own. Other scopes are the IDs of such projects. */
export const operatorScope = (network: number): number => 0 - network;
export const networkOfOperator = (scope: number): number => 0 - scope;
export const isOperatorScope = (scope: number): boolean => scope <= 0;

export interface NewDelivery {
  scope: number;
  receivedAt: number;
  body: Uint8Array;
  /** null: it was not signed. */
  identity: DeliveryIdentity | null;
  /** A random name of the process's run. */
  run: string;
  /** Whole milliseconds since the run began. Only times of one run can be compared. */
  runMs: number;
}

export interface DeliveryIdentity {
  /** The same in every retry. The signature covers it. */
  id: string;
  chainId: string | null;
  /** `transaction`, `log:5` or `trace:0.1`. */
  place: string | null;
  /** Only of a transfer that this bot found on the chain: no sender can set this. */
  minedAt?: number;
}

/** Begins the reason when a signed delivery names another network's chain. */
export const OTHER_CHAIN = 'It is from chain';

export interface InboxUsage {
  scope: number;
  waiting: number;
  waitingBytes: number;
  /** `day` is the latest with a delivery: UTC, counted from 1970. */
  day: number;
  dayBytes: number;
}

export interface InboxRow extends Omit<NewDelivery, 'body'> {
  id: number;
  body: string;
}

/** The seam from the receiver to the router. */
export interface Inbox {
  wake(): void;
}

export interface Receiver {
  isBusy(): boolean;
}

export interface Quarantined {
  id: number;
  scope: number;
  /** null: it arrived at the operator's URL, or the project is gone. */
  guildId: string | null;
  receivedAt: number;
  reason: string;
  bytes: number;
  /** null: it gave its bytes up to newer ones; `hash` is their SHA-256. */
  body: Uint8Array | null;
  hash: string | null;
}

/**
 * Returns the ids of the oldest delivery of each scope, then of the second of each, and so on. Each scope has its turn
 * before `bytes` matters.
 */
export function takenInTurn(
  scopes: readonly (readonly { id: number; size: number }[])[],
  limit: number,
  bytes: number,
): number[] {
  const taken: number[] = [];
  let read = 0;
  for (let turn = 0, before = -1; before < taken.length; turn++) {
    before = taken.length;
    for (const deliveries of scopes) {
      const delivery = deliveries[turn];
      if (!delivery) continue;
      if (taken.length >= limit || (turn > 0 && read >= bytes)) return taken;
      taken.push(delivery.id);
      read += delivery.size;
    }
  }
  return taken;
}

/** Also the metrics' label. */
export const QUOTA_REASONS = ['rate', 'backlog', 'daily', 'disk-reserve'] as const;
export type QuotaReason = (typeof QUOTA_REASONS)[number];

export interface QuotaLimits {
  /** Deliveries per second. */
  rate: number;
  burst: number;
  waiting: number;
  waitingBytes: number;
  /** Per day (UTC). */
  dayBytes: number;
  /** null: without limit. */
  operatorRate: number | null;
}

export interface ScopeQuota {
  waiting: number;
  storedToday: number;
  /** Since the start. */
  refused: { reason: QuotaReason; count: number; at: number } | null;
  limits: QuotaLimits;
}

/** `no-sender`: there were only trusted proxies; `source` is the last of them. */
export type RefusedSource =
  | { reason: 'unlisted' | 'no-sender'; source: string }
  | { reason: 'unreadable'; source: null };

/** `untrusted`, `expired`, `wrong-name`: the certificate. `no-tls`: no support for TLS. `away`: any other reason. */
export const UNREACHABLE = [
  'dns',
  'refused',
  'timeout',
  'untrusted',
  'expired',
  'wrong-name',
  'no-tls',
  'away',
] as const;

/** `other`: something else responds there, with this status code. */
export type Reachability =
  | { status: 'reachable' }
  | { status: 'other'; code: number }
  | { status: (typeof UNREACHABLE)[number] };
