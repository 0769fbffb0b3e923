import { SECOND } from '../domain/clock.ts';

/** Requests per second for the whole process, below Discord's 50. */
export const PER_SECOND = 40;
/** Discord's own limit on the requests that arrive in any second. */
const MAX_ARRIVING = 50;
/** How much longer one request may travel than another. */
const JITTER_MS = 200;

/** How a request makes room for more urgent ones. */
export interface SlotPolicy {
  /** Minimum time since the previous slot. */
  spacingMs: number;
  /** Slots of each second that it leaves free. */
  reservedSlots: number;
  /** Maximum wait before it asks again. */
  recheckMs: number;
}

interface Sent {
  at: number;
  /** The latest time at which Discord received it: when the response arrived, or `JITTER_MS` after it was sent. */
  arrivedBy: number;
}

/** A sliding window over the requests of the last second, sent and reserved. */
export function createRequestWindow() {
  let sent: Sent[] = [];
  /** Slots that were taken and have sent no request yet. */
  let unused = 0;
  let takenAt = Number.NEGATIVE_INFINITY;

  /** Milliseconds until there is room for one more request; 0 or less: now. */
  function untilRoom(now: number, reservedSlots: number): number {
    const max = PER_SECOND - reservedSlots;
    if (unused >= max) return SECOND;
    const latest = sent.at(unused - max)?.at ?? Number.NEGATIVE_INFINITY;
    const arrivals = sent.map(({ arrivedBy }) => arrivedBy).sort((a, b) => a - b);
    const arrived = arrivals.at(unused - MAX_ARRIVING) ?? Number.NEGATIVE_INFINITY;
    return Math.max(latest, arrived) + SECOND - now;
  }

  return {
    /** Milliseconds until a request with this policy may start; 0 or less: now. */
    wait({ spacingMs, reservedSlots, recheckMs }: SlotPolicy, now: number): number {
      const wait = Math.max(untilRoom(now, reservedSlots), takenAt + spacingMs - now);
      return wait > 0 ? Math.min(wait, recheckMs) : 0;
    },
    /** Reserves room for a request; it counts from when it is sent. */
    reserve(at: number) {
      const own: Sent[] = [];
      const before = takenAt;
      takenAt = at;
      unused++;
      return {
        /** Counts a request that is sent now. */
        recordSent(now: number): void {
          if (own.length === 0) unused--;
          const request = { at: now, arrivedBy: now + JITTER_MS };
          own.push(request);
          sent = [...sent.filter(({ arrivedBy }) => arrivedBy + SECOND > now), request];
        },
        /** Ends it: all its requests got responses. Without any request, its room is free again. */
        release(now: number): void {
          for (const request of own) request.arrivedBy = Math.min(request.arrivedBy, now);
          if (own.length > 0) return;
          unused--;
          if (takenAt === at) takenAt = before;
        },
      };
    },
    setBack(ms: number): void {
      takenAt -= ms;
      for (const request of sent) {
        request.at -= ms;
        request.arrivedBy -= ms;
      }
    },
  };
}
