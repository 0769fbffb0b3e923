import { DAY } from './clock.ts';
import { OPERATOR_SCOPE } from './scope.ts';

/** A delivery as it was received. */
export interface NewDelivery {
  scope: number;
  receivedAt: number;
  body: Uint8Array;
  /** Its identity in the verified headers; null or absent: it was not signed. */
  identity?: DeliveryIdentity | null;
}

/** The identity of a signed delivery. */
export interface DeliveryIdentity {
  /** The sender's id of the delivery, the same in every retry. The signature covers it. */
  id: string;
  chainId: string | null;
  /** Where the transfer is: `transaction`, `log:5`, `trace:0.1`. */
  place: string | null;
}

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
  const own = deliveries.filter(({ scope }) => scope !== OPERATOR_SCOPE);
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
  /** When it was acknowledged, if another process recorded that, or if it was quarantined and replayed; null: not known. */
  ackedAt: number | null;
  /** No process has recorded how the response to it ended; always false where there is one process. */
  isOpen: boolean;
}

/** How the response to a stored delivery ended; `ackedAt`: when its 200 was written completely; null: it was not. */
export interface EndedResponse {
  id: number;
  ackedAt: number | null;
}

/** A delivery that could not be understood, with its bytes as received. */
export interface Quarantined {
  id: number;
  scope: number;
  /** The guild whose own project's URL it arrived at; null: the operator's, or a project that is gone. */
  guildId: string | null;
  receivedAt: number;
  reason: string;
  body: Uint8Array;
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
