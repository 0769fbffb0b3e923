import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { NodeBusy } from '../chain/node.ts';
import { askFacts, type TokenFacts } from '../chain/token.ts';
import type { Address } from '../chain/transfers.ts';
import type { Parts } from './parts.ts';

/** Events wait this long for their token's name and decimals. */
const PATIENCE_MS = 2 * MINUTE;
const REST_MS = 10 * MINUTE;
const FRESH_MS = DAY;
const MAX_SILENT = 10_000;
const MAX_PARALLEL = 4;

type CompleteToken = (token: string, facts: TokenFacts) => Promise<void>;

export type Tokens = ReturnType<typeof createTokens>;

interface Silent {
  since: number;
  triedAt: number;
  /** When the pause ends in which its events are sent without them; 0: it has not begun. */
  until: number;
  facts: TokenFacts;
  failure: Error;
}

export function createTokens({ node, store, clock, log }: Pick<Parts, 'node' | 'store' | 'clock' | 'log'>) {
  const silent = new Map<string, Silent>();
  const stale = new Set<string>();

  async function ask(token: string, complete: CompleteToken): Promise<void> {
    const now = clock.now();
    const asked = await askFacts(node, token as Address).catch((error: Error) => {
      if (error instanceof NodeBusy) return null; // A limit is not the token's fault: wait as long as it lasts.
      throw error;
    });
    stale.delete(token);
    if (asked === null) {
      silent.delete(token);
      return;
    }
    const { facts, failure } = asked;
    if (failure === null) {
      silent.delete(token);
      store.tokens.save(token, facts, now);
      await complete(token, facts);
      return;
    }
    const earlier = store.tokens.find(token);
    if (earlier !== undefined) {
      await complete(token, earlier);
      return;
    }
    const since = silent.get(token)?.since ?? now;
    if (silent.size >= MAX_SILENT) silent.clear();
    silent.set(token, { since, triedAt: clock.now(), until: 0, facts, failure });
  }

  /** After a rest the token is asked again first. */
  function isGivenUp(token: string): boolean {
    const { since, until } = silent.get(token) ?? {};
    return since !== undefined && (until === 0 ? clock.now() - since >= PATIENCE_MS : until! > clock.now());
  }

  async function giveUp(token: string, complete: CompleteToken): Promise<void> {
    const { failure, ...rest } = silent.get(token)!;
    if (rest.until > clock.now()) return;
    silent.set(token, { ...rest, failure, until: clock.now() + REST_MS });
    log.warn({ err: failure, token }, 'cannot read the name and decimals of a token: sending its events without them');
    await complete(token, rest.facts);
  }

  return {
    /** undefined until `work` has read them. */
    factsOf(token: Address): TokenFacts | undefined {
      const found = store.tokens.find(token);
      if (found === undefined) {
        const given = silent.get(token);
        return given !== undefined && given.until > clock.now() ? given.facts : undefined;
      }
      if (clock.now() - found.askedAt > FRESH_MS) stale.add(token);
      return found;
    },
    async work(complete: CompleteToken): Promise<void> {
      const all = [...new Set([...store.deliveries.unnamedTokens(), ...stale])];
      for (const token of all.filter(isGivenUp)) await giveUp(token, complete);
      const active = all.filter((token) => !isGivenUp(token));
      // Those that did not respond are asked again a few at a time, so that no other token waits behind them.
      const again = active.filter((token) => silent.has(token));
      again.sort((a, b) => silent.get(a)!.triedAt - silent.get(b)!.triedAt);
      const waiting = [...active.filter((token) => !silent.has(token)), ...again.slice(0, MAX_PARALLEL)];
      const workers = Array.from({ length: MAX_PARALLEL }, async () => {
        for (let token = waiting.shift(); token !== undefined; token = waiting.shift()) await ask(token, complete);
      });
      await Promise.all(workers);
    },
    forget(): void {
      silent.clear();
      stale.clear();
    },
  };
}
