import type { Logger } from 'pino';
import { type Node, NodeBusy } from '../chain/node.ts';
import { findFacts, noFacts, type TokenFacts } from '../chain/token.ts';
import type { Address } from '../chain/transfers.ts';
import type { Clock } from '../clock.ts';

/** How long blocks wait for traces or a token's name that the node does not give, in milliseconds; then they are told without. */
export const patienceMs = 120_000;

/** How long a token that was asked in vain is left alone, in milliseconds. */
const restMs = 600_000;

/** Of how many tokens at most is kept what they said, and of how many that they were asked in vain. */
const rememberedTokens = 10_000;

/** What the tokens of a chain say of themselves, each asked as seldom as can be. */
export class Tokens {
  readonly #parts: { node: Node; clock: Clock; log: Logger };
  readonly #facts = new Map<Address, TokenFacts>();
  /** Since when tokens were asked in vain, and until when they are left alone, in milliseconds since 1970. */
  readonly #unnamed = new Map<Address, { since: number; until: number }>();

  constructor(parts: { node: Node; clock: Clock; log: Logger }) {
    this.#parts = parts;
  }

  /** Begins anew, on another chain. */
  forget(): void {
    this.#facts.clear();
    this.#unnamed.clear();
  }

  /**
   * Asks those that are not known; what cannot be asked is waited for at the same time.
   *
   * @throws while the node does not let one of them answer and there is patience left.
   */
  async factsOf(tokens: ReadonlySet<Address>): Promise<Map<Address, TokenFacts>> {
    const facts = new Map<Address, TokenFacts>();
    let failure: Error | undefined;
    for (const token of tokens) {
      const found = this.#facts.get(token) ?? (await this.#ask(token));
      if (found instanceof Error) failure ??= found;
      else facts.set(token, found);
    }
    if (failure !== undefined) throw failure;
    return facts;
  }

  async #ask(token: Address): Promise<TokenFacts | Error> {
    const { node, clock } = this.#parts;
    if (clock.now() < (this.#unnamed.get(token)?.until ?? 0)) return noFacts;
    try {
      const facts = await findFacts(node, token);
      this.#unnamed.delete(token);
      if (facts === null) return noFacts;
      if (this.#facts.size >= rememberedTokens) this.#facts.clear();
      // To say nothing may have cost its contract, and the node, all the time that there is.
      if (Object.values(facts).every((fact) => fact === null)) this.#leave(token, clock.now(), clock.now() + restMs);
      else this.#facts.set(token, facts);
      return facts;
    } catch (error) {
      if (error instanceof NodeBusy) throw error;
      return this.#withoutFacts(token, error as Error);
    }
  }

  /** One token that cannot be asked, whatever its contract does to the node, must not hold up everything for good. */
  #withoutFacts(token: Address, error: Error): TokenFacts | Error {
    const { clock, log } = this.#parts;
    const now = clock.now();
    const since = this.#unnamed.get(token)?.since ?? now;
    const isWaitedFor = now - since < patienceMs;
    this.#leave(token, since, isWaitedFor ? 0 : now + restMs);
    if (isWaitedFor) return error;
    log.warn({ err: error, token }, 'This token does not tell its name and decimals; its events are told without');
    return noFacts;
  }

  #leave(token: Address, since: number, until: number): void {
    if (this.#unnamed.size >= rememberedTokens) this.#unnamed.clear();
    this.#unnamed.set(token, { since, until });
  }
}
