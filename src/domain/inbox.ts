import { DAY } from './clock.ts';
import { isOperatorScope } from './project.ts';

export interface NewDelivery {
  scope: number;
  receivedAt: number;
  body: Uint8Array;
  /** Its identity in the verified headers; null: it was not signed. */
  identity: DeliveryIdentity | null;
  /** The run of the process that received it: a random name. */
  run: string;
  /** When it arrived, in whole milliseconds that passed in that run. Only times of one run can be compared. */
  runMs: number;
}

export interface DeliveryIdentity {
  /** The sender's id of the delivery, the same in every retry. The signature covers it. */
  id: string;
  chainId: string | null;
  /** Where the transfer is: `transaction`, `log:5`, `trace:0.1`. */
  place: string | null;
  /** When it was mined, in milliseconds: this bot found it on the chain. No sender can set this. */
  minedAt?: number;
}

/** How the reason begins why a signed delivery is set aside that names another network's chain. */
export const OTHER_CHAIN = 'It is from chain';

/** How much of the inbox and of the disk one scope uses. */
export interface InboxUsage {
  scope: number;
  waiting: number;
  /** Of the waiting deliveries. */
  waitingBytes: number;
  /** Of the deliveries stored on the latest day with any (UTC, counted from 1970). */
  day: number;
  dayBytes: number;
}

/** What deliveries add to the stored bytes of each server's own project and day, in a fixed order. */
export function storedBytes(deliveries: readonly NewDelivery[]): { scope: number; day: number; bytes: number }[] {
  const own = deliveries.filter(({ scope }) => !isOperatorScope(scope));
  const sums = new Map<string, { scope: number; day: number; bytes: number }>();
  for (const { scope, receivedAt, body } of own) {
    const day = Math.floor(receivedAt / DAY);
    const bytes = (sums.get(`${scope} ${day}`)?.bytes ?? 0) + body.length;
    sums.set(`${scope} ${day}`, { scope, day, bytes });
  }
  return [...sums.values()].toSorted((one, other) => one.scope - other.scope || one.day - other.day);
}

/** A delivery that waits for the router, with its bytes read as UTF-8. */
export interface InboxRow extends Omit<NewDelivery, 'body'> {
  id: number;
  body: string;
}

/** The seam from the receiver to the router. */
export interface Inbox {
  /** Deliveries were stored. */
  wake(): void;
}

export interface Receiver {
  isBusy(): boolean;
}

export interface Quarantined {
  id: number;
  scope: number;
  /** The guild whose own project's URL it arrived at; null: the operator's, or a project that is gone. */
  guildId: string | null;
  receivedAt: number;
  reason: string;
  bytes: number;
  /** As received; null: it gave its bytes up to newer ones. */
  body: Uint8Array | null;
  /** The SHA-256 of a body that was given up; null while there is one. */
  hash: string | null;
}

/**
 * Returns which deliveries the router takes: the oldest of each scope, then the second of each, and so on. It takes at most
 * `limit`, and stops once their sizes reach `bytes`, but not before each scope had its turn.
 */
export function takenInTurn<Delivery extends { size: number }>(
  scopes: readonly (readonly Delivery[])[],
  limit: number,
  bytes: number,
): Delivery[] {
  const taken: Delivery[] = [];
  let read = 0;
  const longest = Math.max(0, ...scopes.map((deliveries) => deliveries.length));
  for (let turn = 0; turn < longest; turn++) {
    for (const deliveries of scopes) {
      const delivery = deliveries[turn];
      if (!delivery) continue;
      if (taken.length >= limit || (turn > 0 && read >= bytes)) return taken;
      taken.push(delivery);
      read += delivery.size;
    }
  }
  return taken;
}

/** Why a receiver URL takes no delivery now although others do; also the metrics' label. */
export const QUOTA_REASONS = ['rate', 'backlog', 'daily', 'disk-reserve'] as const;
export type QuotaReason = (typeof QUOTA_REASONS)[number];

/** Limits for the receiver URL of one server's own project. */
export interface QuotaLimits {
  /** Deliveries per second: the sustained rate, and the burst size. */
  rate: number;
  burst: number;
  waiting: number;
  waitingBytes: number;
  /** Bytes of deliveries stored in one day (UTC). */
  dayBytes: number;
  /** Deliveries per second that the operator's URL may bring; null: without limit. */
  operatorRate: number | null;
}

export interface ScopeQuota {
  waiting: number;
  /** Bytes. */
  storedToday: number;
  /** The deliveries refused since the start, and why the last one was; null: none. */
  refused: { reason: QuotaReason; count: number; at: number } | null;
  limits: QuotaLimits;
}

/**
 * The origin of a delivery that was refused for its source. `unlisted`: `source` is neither a source nor a trusted
 * proxy. `no-sender`: behind the trusted proxies there was no other address; `source` is the last of them. `unreadable`:
 * what the proxy sent is not an IP address.
 */
export type RefusedSource =
  | { reason: 'unlisted'; source: string }
  | { reason: 'no-sender'; source: string }
  | { reason: 'unreadable'; source: null };

/**
 * Why nobody can deliver to the public address. `untrusted`, `expired`, `wrong-name`: its certificate. `no-tls`: the
 * server there does not support TLS. `away`: any other reason.
 */
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

/** Whether the receiver responds at its public address; `other`: something else does, with this status code. */
export type Reachability =
  | { status: 'reachable' }
  | { status: 'other'; code: number }
  | { status: (typeof UNREACHABLE)[number] };
