import type { AddressText } from '../domain/address.ts';
import { type Clock, DAY, inTime, MINUTE, SECOND } from '../domain/clock.ts';
import type { CatalogEntry } from '../domain/routing.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { TokenResult } from '../domain/token.ts';
import { createBuckets } from '../domain/token-bucket.ts';

/** An entry is looked up again after this. */
const FRESH_MS = DAY;
/** Routing waits no longer than this for the explorer. */
const DEADLINE_MS = 1_500;
/** Most tokens that are looked up at once. */
const MAX_AT_ONCE = 20;
/** Pause for a token that got no usable response, and for all when the explorer hung or limited requests. */
const PAUSE_MS = 3 * MINUTE;

/** Most lookups for the events of one server's own project: many forged tokens must not use up the explorer. */
const OWN_BUDGET = { burst: 20, everyMs: 3 * SECOND };

/** Looks up in the explorer which tokens it knows. */
export type TokenCatalog = ReturnType<typeof createTokenCatalog>;

/** `lookUp` is the explorer's lookup of one token; it must never reject. */
export function createTokenCatalog({
  lookUp,
  clock,
}: {
  lookUp(address: AddressText): Promise<TokenResult>;
  clock: Clock;
}) {
  const pausedUntil = new Map<AddressText, number>();
  const budgets = createBuckets(OWN_BUDGET);
  let allPausedUntil = 0;
  let learned: CatalogEntry[] = [];

  async function learnOne(token: AddressText): Promise<void> {
    const response = await lookUp(token);
    if (response.status === 'limited') allPausedUntil = clock.now() + PAUSE_MS;
    const entry = entryOf(token, response, clock.now());
    if (!entry) return;
    pausedUntil.delete(token);
    learned.push(entry);
  }

  function endPauses(now: number): void {
    // The map is ordered by time, because each pause has the same length.
    for (const [token, until] of pausedUntil) {
      if (until > now) return;
      pausedUntil.delete(token);
    }
  }

  /** The first of these tokens, each scope's in turn and within its budget. */
  function chosen(tokens: readonly (readonly [AddressText, number])[], now: number): AddressText[] {
    const byScope = [...Map.groupBy(tokens, ([, scope]) => scope)];
    const interleaved = Array.from({ length: MAX_AT_ONCE }, (_, turn) =>
      byScope.flatMap(([scope, waiting]) => (waiting[turn] ? [{ scope, token: waiting[turn][0] }] : [])),
    ).flat();
    const picked: AddressText[] = [];
    for (const { scope, token } of interleaved) {
      if (picked.length === MAX_AT_ONCE) break;
      if (scope !== OPERATOR_SCOPE) {
        if (budgets.wait(String(scope), now) > 0) continue;
        budgets.take(String(scope), now);
      }
      picked.push(token);
    }
    return picked;
  }

  return {
    /**
     * Looks up those of the tokens (with the scope that each came for) that `known` lacks or that are stale; resolves within 1.5 s with everything learned
     * since the last call, late responses to earlier calls included.
     */
    async learn(
      tokens: ReadonlyMap<AddressText, number>,
      known: Map<AddressText, CatalogEntry>,
    ): Promise<CatalogEntry[]> {
      const now = clock.now();
      endPauses(now);
      const isWanted = (token: AddressText) =>
        !pausedUntil.has(token) && (known.get(token)?.checkedAt ?? Number.NEGATIVE_INFINITY) < now - FRESH_MS;
      const wanted =
        now < allPausedUntil
          ? []
          : chosen(
              [...tokens].filter(([token]) => isWanted(token)),
              now,
            );
      if (wanted.length > 0) {
        for (const token of wanted) pausedUntil.set(token, now + PAUSE_MS);
        let responses = 0;
        const all = wanted.map((token) => learnOne(token).then(() => responses++));
        await inTime(Promise.all(all), DEADLINE_MS, clock);
        if (responses === 0) allPausedUntil = now + PAUSE_MS;
      }
      const entries = learned;
      learned = [];
      return entries;
    },
  };
}

/** What a response shows about the token; null: nothing. */
function entryOf(token: AddressText, response: TokenResult, checkedAt: number): CatalogEntry | null {
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
