import { type Clock, SECOND } from '../../src/domain/clock.ts';

export type Budget = ReturnType<typeof createBudget>;

const MIN_RATE = 2;
/** How long a rate must last without a refusal before a higher one is tried. */
const PROVEN_MS = SECOND;
/** As {@link PROVEN_MS}, close to the rate that was refused last: each try costs a refusal. */
const NEAR_MS = 5 * SECOND;
const NEAR = 0.8;
/** A learned limit ends once it allows this many times the calls that were made when the node refused first. */
const FORGET_FACTOR = 4;

/**
 * Creates a budget of `perSecond` calls; without it there is no limit until `slowDown` is called. Then the
 * rate is halved, and searched between what was accepted and what was refused. It doubles where nothing is refused.
 */
export function createBudget(clock: Clock, perSecond?: number) {
  /** `proven` lasted before `rate` was tried. */
  let learned: Record<'rate' | 'proven' | 'refused' | 'since', number> | null = null;
  let madeAtFirst = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  let tokens = 1;
  let refilledAt = clock.now();
  let windowStart = 0;
  let made = 0;
  let madeBefore = 0;
  let isClosed = false;
  let cancel = () => {};
  const waiting: (() => void)[] = [];

  /** Calls per second now; null while there is no limit. */
  function rate(): number | null {
    while (learned !== null) {
      const { rate: proven, refused } = learned;
      const isNear = proven >= refused * NEAR;
      const since = learned.since + (isNear ? NEAR_MS : PROVEN_MS);
      if (clock.now() < since) break;
      const next = isNear ? proven * 1.25 : Math.min(proven * 2, (proven + refused) / 2);
      learned = { rate: next, proven, refused: isNear ? Number.POSITIVE_INFINITY : refused, since };
      if (next >= madeAtFirst * FORGET_FACTOR) learned = null;
    }
    if (learned === null) return perSecond ?? null;
    return Math.min(learned.rate, perSecond ?? learned.rate);
  }

  function count(now: number): void {
    if (now - windowStart >= SECOND) {
      madeBefore = now - windowStart < 2 * SECOND ? made : 0;
      windowStart = now;
      made = 0;
    }
    made++;
  }

  function pass(): void {
    cancel();
    const now = clock.now();
    const limit = isClosed ? null : rate();
    // Up to a quarter of a second's calls may be made at once.
    if (limit !== null) tokens = Math.min(Math.max(1, limit / 4), tokens + ((now - refilledAt) * limit) / SECOND);
    refilledAt = now;
    for (; waiting.length > 0 && (limit === null || tokens > 0.999); tokens--) {
      count(now);
      waiting.shift()!();
    }
    if (limit === null) tokens = 1;
    else if (waiting.length > 0) cancel = clock.after(Math.ceil(((1 - tokens) * SECOND) / limit), pass);
  }

  return {
    take: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        pass();
      }),
    slowDown(): void {
      const now = clock.now();
      if (now - refusedAt < SECOND) {
        if (learned !== null) learned.since = now; // Calls that were under way at the same time.
        return;
      }
      refusedAt = now;
      const before = rate();
      if (learned === null) madeAtFirst = Math.max(MIN_RATE, made, madeBefore);
      const refused = before ?? madeAtFirst;
      const isTry = learned !== null && learned.proven < refused;
      const lower = Math.max(MIN_RATE, isTry ? learned!.proven : refused / 2);
      // A node that refuses the lowest rate refuses every call: that says nothing about its limit.
      const limit = refused > MIN_RATE ? refused : Number.POSITIVE_INFINITY;
      learned = { rate: lower, proven: lower, refused: limit, since: now };
    },
    close(): void {
      isClosed = true;
      pass();
    },
  };
}
