import type { AddressText } from '../domain/address.ts';
import { type Clock, createBuckets, DAY, inTime, MINUTE, SECOND } from '../domain/clock.ts';
import { isOperatorScope } from '../domain/inbox.ts';
import type { CatalogEntry } from '../domain/scam.ts';
import type { TokenResult } from '../domain/token.ts';

const FRESH_MS = DAY;
/** Routing waits no longer than this for the explorer. */
const DEADLINE_MS = 1_500;
const MAX_AT_ONCE = 20;
/** Pause for a token that got no usable response, and for all when the explorer hung or limited requests. */
const PAUSE_MS = 3 * MINUTE;

/** Most lookups for the events of one server's own project, and of the operator's: strangers make tokens for nothing. */
const BUDGETS = { own: { burst: 20, everyMs: 3 * SECOND }, operator: { burst: 100, everyMs: SECOND / 2 } };
/** Waits that follow each other this closely count as one. */
const GAP_MS = 100;

export interface WantedToken {
  scope: number;
  /** A watched address sent it, or it resembles a known token: what is known about it matters most. */
  isUrgent: boolean;
}

type Found = Omit<CatalogEntry, 'network'>;

export type TokenCatalog = ReturnType<typeof createTokenCatalog>;

/** `lookUp` must never reject. */
export function createTokenCatalog({
  lookUp,
  clock,
}: {
  lookUp(address: AddressText): Promise<TokenResult>;
  clock: Clock;
}) {
  const pausedUntil = new Map<AddressText, number>();
  const budgets = { own: createBuckets(BUDGETS.own), operator: createBuckets(BUDGETS.operator) };
  let waited = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  let allPausedUntil = 0;
  let passedOver = new Set<AddressText>();
  let learned: Found[] = [];

  async function learnOne(token: AddressText): Promise<void> {
    const response = await lookUp(token);
    if (response.status === 'limited') allPausedUntil = clock.now() + PAUSE_MS;
    const entry = entryOf(token, response, clock.now());
    if (!entry) return;
    pausedUntil.delete(token);
    learned.push(entry);
  }

  /** The first of these tokens, the urgent ones before others, each scope's in turn and within its budgets. */
  function chosen(tokens: readonly (readonly [AddressText, WantedToken])[], now: number): AddressText[] {
    const byScope = [...Map.groupBy(tokens, ([, { scope }]) => scope).values()].map((some) =>
      some.toSorted(([, a], [, b]) => Number(b.isUrgent) - Number(a.isUrgent)),
    );
    const interleaved = Array.from({ length: MAX_AT_ONCE }, (_, turn) =>
      byScope.flatMap((waiting) => (waiting[turn] ? [waiting[turn]] : [])),
    ).flat();
    const picked: AddressText[] = [];
    for (const [token, { scope, isUrgent }] of interleaved) {
      if (picked.length === MAX_AT_ONCE) break;
      const buckets = isOperatorScope(scope) ? budgets.operator : budgets.own;
      const key = `${scope} ${isUrgent}`;
      if (buckets.wait(key, now) > 0) continue;
      buckets.take(key, now);
      picked.push(token);
    }
    return picked;
  }

  return {
    /**
     * Returns late responses to earlier calls, too. Deliveries that arrived at `since` wait 1.5 s at most, over all
     * calls.
     */
    async learn(
      tokens: ReadonlyMap<AddressText, WantedToken>,
      known: ReadonlyMap<AddressText, Found>,
      since: number,
    ): Promise<Found[]> {
      const now = clock.now();
      // The map is ordered by time, because each pause has the same length.
      for (const [token, until] of pausedUntil) {
        if (until > now) break;
        pausedUntil.delete(token);
      }
      const isWanted = (token: AddressText) =>
        !pausedUntil.has(token) && (known.get(token)?.checkedAt ?? Number.NEGATIVE_INFINITY) < now - FRESH_MS;
      const all = now < allPausedUntil ? [] : [...tokens].filter(([token]) => isWanted(token));
      const wanted = chosen(all, now);
      passedOver = new Set(all.flatMap(([token]) => (wanted.includes(token) ? [] : token)));
      if (wanted.length > 0) {
        for (const token of wanted) pausedUntil.set(token, now + PAUSE_MS);
        let responses = 0;
        const asked = wanted.map((token) => learnOne(token).then(() => responses++));
        // 1.5 s less what the first delivery has waited.
        const wait = DEADLINE_MS - Math.max(0, waited.until - Math.max(waited.from, since));
        if (wait > 0) {
          await inTime(Promise.all(asked), wait, clock);
          waited = { from: now <= waited.until + GAP_MS ? waited.from : now, until: clock.now() };
          if (responses === 0 && wait === DEADLINE_MS) allPausedUntil = now + PAUSE_MS;
        }
      }
      const entries = learned;
      learned = [];
      return entries;
    },
    /** Whether there were too many others to look it up in the last call. */
    isPassedOver: (token: AddressText): boolean => passedOver.has(token),
  };
}

function entryOf(token: AddressText, response: TokenResult, checkedAt: number): Found | null {
  switch (response.status) {
    case 'found': {
      const { cataloged, symbol, name } = response.token;
      return { token, cataloged, symbol, name, checkedAt };
    }
    case 'not-found':
      return { token, cataloged: false, symbol: null, name: null, checkedAt };
    case 'invalid':
      return { token, cataloged: null, symbol: null, name: null, checkedAt };
    case 'timeout':
    case 'unreachable':
    case 'forbidden':
    case 'rejected':
    case 'limited':
    case 'broken':
    case 'unreadable':
      return null;
  }
}
