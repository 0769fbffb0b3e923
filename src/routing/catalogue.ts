import type { AddressText } from '../domain/address.ts';
import { type Clock, DAY, inTime, MINUTE } from '../domain/clock.ts';
import type { CatalogEntry } from '../domain/routing.ts';
import type { TokenAnswer } from '../domain/token.ts';

/** What was learned is asked for again after this. */
const FRESH_MS = DAY;
/** Lines wait no longer than this for the explorer. */
const DEADLINE_MS = 1_500;
/** Tokens that are asked for at once. */
const AT_ONCE = 20;
/** So long a token without an answer is not asked for again, nor is any when the explorer hung or limited requests. */
const REST_MS = 3 * MINUTE;

/** Asks the explorer which tokens its catalogue has. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/** `token` is the explorer's look-up; it must never reject. */
export function createCatalogue({
  token: lookUp,
  clock,
}: {
  token(address: AddressText): Promise<TokenAnswer>;
  clock: Clock;
}) {
  const resting = new Map<AddressText, number>();
  let restUntil = 0;
  let learned: CatalogEntry[] = [];

  async function ask(token: AddressText): Promise<void> {
    const answer = await lookUp(token);
    if (answer.status === 'limited') restUntil = clock.now() + REST_MS;
    const entry = entryOf(token, answer, clock.now());
    if (!entry) return;
    resting.delete(token);
    learned.push(entry);
  }

  return {
    /**
     * Asks for those of the tokens that `known` does not have or has for too long; resolves within 1.5 s with everything
     * learned since the last call, also with what came too late for it.
     */
    async learn(tokens: Iterable<AddressText>, known: Map<AddressText, CatalogEntry>): Promise<CatalogEntry[]> {
      const now = clock.now();
      // The map is in the order of time, because each token rests equally long.
      for (const [token, until] of resting) {
        if (until > now) break;
        resting.delete(token);
      }
      const isOpen = (token: AddressText) =>
        !resting.has(token) && (known.get(token)?.checkedAt ?? Number.NEGATIVE_INFINITY) < now - FRESH_MS;
      const asked = now < restUntil ? [] : [...tokens].filter(isOpen).slice(0, AT_ONCE);
      if (asked.length > 0) {
        for (const token of asked) resting.set(token, now + REST_MS);
        let answers = 0;
        const all = asked.map((token) => ask(token).then(() => answers++));
        await inTime(Promise.all(all), DEADLINE_MS, clock);
        if (answers === 0) restUntil = now + REST_MS;
      }
      const news = learned;
      learned = [];
      return news;
    },
  };
}

/** What an answer says of the token; null when it says nothing. */
function entryOf(token: AddressText, answer: TokenAnswer, checkedAt: number): CatalogEntry | null {
  switch (answer.status) {
    case 'found': {
      const { cataloged, symbol, name } = answer.token;
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
