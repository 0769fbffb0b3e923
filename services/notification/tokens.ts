import type { Logger } from 'pino';
import { type Clock, DAY, MINUTE } from '../../src/domain/clock.ts';
import { type Node, NodeBusy } from '../chain/node.ts';
import { askFacts, type TokenFacts } from '../chain/token.ts';
import type { Address } from '../chain/transfers.ts';
import type { NotificationStore } from './store/index.ts';

/** How long events wait for their token's name and decimals before they are sent without. */
const PATIENCE_MS = 2 * MINUTE;
/** Pause after a token's facts could not be read. */
const REST_MS = 10 * MINUTE;
/** How long a token's facts are used before they are read again. */
const FRESH_MS = DAY;
const MAX_REMEMBERED = 10_000;
/** How many tokens are asked at the same time. */
const MAX_PARALLEL = 4;

/** Finishes the deliveries that wait for a token. */
export type CompleteToken = (token: string, facts: TokenFacts) => Promise<void>;

/** Names, symbols and decimals of a chain's tokens. */
export interface Tokens {
  /** A token's facts; undefined while unknown, until {@link Tokens.work} has read them. */
  factsOf(token: Address): TokenFacts | undefined;
  /** Reads the facts that events wait for, refreshes old ones, and completes the deliveries of each token. */
  work(complete: CompleteToken): Promise<void>;
  /** Forgets all facts, because the chain is a new one. */
  forget(): void;
}

/** A token whose facts could not be read. */
interface Silent {
  since: number;
  until: number;
  facts: TokenFacts;
}

/** Creates the tokens of a chain. */
export function createTokens(options: { node: Node; store: NotificationStore; clock: Clock; log: Logger }): Tokens {
  const { node, store, clock, log } = options;
  const known = new Map<string, TokenFacts & { askedAt: number }>();
  const silent = new Map<string, Silent>();
  const stale = new Set<string>();

  function lookUp(token: string): (TokenFacts & { askedAt: number }) | undefined {
    const found = known.get(token) ?? store.tokens.find(token);
    if (found !== undefined) remember(known, token, found);
    return found;
  }

  async function ask(token: string, complete: CompleteToken): Promise<void> {
    const now = clock.now();
    if ((silent.get(token)?.until ?? 0) > now) return;
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
      remember(known, token, { ...facts, askedAt: now });
      store.tokens.save(token, facts, now);
      await complete(token, facts);
      return;
    }
    const earlier = lookUp(token);
    if (earlier !== undefined) {
      await complete(token, earlier);
      return;
    }
    const since = silent.get(token)?.since ?? now;
    const isOver = now - since >= PATIENCE_MS;
    remember(silent, token, { since, until: isOver ? now + REST_MS : 0, facts });
    if (!isOver) return;
    log.warn({ err: failure, token }, 'cannot read the name and decimals of a token: sending its events without them');
    await complete(token, facts);
  }

  return {
    factsOf(token) {
      const found = lookUp(token);
      if (found === undefined) {
        const given = silent.get(token);
        return given !== undefined && given.until > clock.now() ? given.facts : undefined;
      }
      if (clock.now() - found.askedAt > FRESH_MS) stale.add(token);
      return found;
    },
    async work(complete) {
      const waiting = [...new Set([...store.deliveries.unnamedTokens(), ...stale])];
      const workers = Array.from({ length: MAX_PARALLEL }, async () => {
        for (let token = waiting.shift(); token !== undefined; token = waiting.shift()) await ask(token, complete);
      });
      await Promise.all(workers);
    },
    forget() {
      known.clear();
      silent.clear();
      stale.clear();
    },
  };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= MAX_REMEMBERED && !map.has(key)) map.clear();
  map.set(key, value);
}
