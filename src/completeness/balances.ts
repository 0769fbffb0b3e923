import type { Logger } from 'pino';
import { type Crossing, leftBy, type WatchedBalance } from '../domain/balance.ts';
import { composeNotice } from '../domain/batch.ts';
import { ChainError, type ChainNode } from '../domain/chain-node.ts';
import { type Clock, inTime, MINUTE, repeat, SECOND } from '../domain/clock.ts';
import type { Outbox } from '../domain/sender.ts';
import { isMuted, thresholdOf } from '../domain/subscription.ts';
import { inUnits, isBelow } from '../domain/transfer.ts';
import type { ConcernedBalance, Store } from '../store/store.ts';
import { createTokenReader } from './tokens.ts';

/** Transfers that come in within this time are looked at together. */
const GATHER_MS = SECOND;
/** How long a node may take to know a transfer's block, and how often it is asked. */
const PATIENCE_MS = 2 * MINUTE;
const RETRY_MS = 5 * SECOND;
const MAX_WAITING = 500;
const CHECK_MS = 10 * MINUTE;

export interface BalanceOptions {
  store: Pick<Store, 'balances' | 'guilds'>;
  /** By network. */
  chains: ReadonlyMap<number, ChainNode>;
  renderCrossing(crossing: Crossing, network: number, language: string | null, reference: string): object;
  outbox: Outbox;
  clock: Clock;
  log: Logger;
}

type Waiting = ConcernedBalance & { since: number };

/** No alert waits for a balance: it is read after the alert is stored. */
export function watchBalances({ store, chains, renderCrossing, outbox, clock, log }: BalanceOptions) {
  const tokenReaders = new Map([...chains].map(([network, chain]) => [network, createTokenReader(chain)]));
  /** Networks whose low balances are due. */
  const unchecked = new Set<number>();
  let seen: number | null = null;
  let waiting: Waiting[] = [];
  let isWanted = false;
  let isClosed = false;
  let cancel = (): void => undefined;
  let running: Promise<void> | null = null;

  function wake(): void {
    isWanted = true;
    if (running || isClosed) return;
    cancel();
    running = run().finally(() => {
      running = null;
      if (isClosed) return;
      if (isWanted) cancel = clock.after(GATHER_MS, wake);
      else if (waiting.length > 0) cancel = clock.after(RETRY_MS, wake);
    });
  }

  async function run(): Promise<void> {
    isWanted = false;
    const now = clock.now();
    try {
      const { last, concerned } = await store.balances.concerned(seen);
      seen = last;
      const added = concerned
        .filter((balance) => chains.has(balance.network))
        .map((balance) => ({ ...balance, since: now }));
      waiting = [...waiting, ...added].slice(0, MAX_WAITING);
      for (const [network, chain] of chains) {
        const here = waiting.filter((balance) => balance.network === network);
        if (here.length === 0 && !unchecked.has(network)) continue;
        const done = await look(network, chain, here);
        waiting = waiting.filter((balance) => !done.has(balance) && now - balance.since < PATIENCE_MS);
      }
    } catch (error) {
      if (!isClosed) log.warn({ err: error }, 'reading balances failed');
    }
  }

  /** Returns the transfers that need no other attempt. */
  async function look(network: number, chain: ChainNode, here: readonly Waiting[]): Promise<Set<Waiting>> {
    const done = new Set<Waiting>();
    const limits = (await store.balances.watched(network)).filter((limit) => !isMuted(limit, clock.now()));
    if (limits.length === 0) unchecked.delete(network);
    if (limits.length === 0 && here.length === 0) return done;
    try {
      const head = await chain.latest();
      // The service may be ahead of the node.
      const known = here.filter(({ transfer }) => transfer.blockNumber === null || transfer.blockNumber <= head);
      if (unchecked.has(network) || known.some(({ warns }) => warns)) await warn(network, chain, head, limits);
      unchecked.delete(network);
      for (const balance of known) if (!balance.shows) done.add(balance);
      const wanted = known.flatMap((balance) =>
        done.has(balance) ? [] : [{ balance, holding: leftBy(balance.transfer, balance.address) }],
      );
      for (const [block, asked] of Map.groupBy(wanted, ({ holding }) => holding?.block)) {
        if (block !== undefined) await show(chain, block, asked);
        for (const { balance } of asked) done.add(balance);
      }
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      log.debug({ network, message: error.message }, 'cannot read balances');
      if (error.failure === 'pruned') return new Set(here);
    }
    return done;
  }

  async function show(
    chain: ChainNode,
    block: number,
    asked: readonly { balance: Waiting; holding: ReturnType<typeof leftBy> }[],
  ): Promise<void> {
    const read = await chain.holdings(
      block,
      asked.map(({ holding }) => holding!),
    );
    const balances = asked.flatMap(({ balance: { transferId, address } }, index) => {
      const amount = read[index] ?? null;
      return amount === null ? [] : [{ transferId, address, block, balance: amount.toString() }];
    });
    outbox.wake(await store.balances.keep(balances, true, clock.now()));
  }

  async function warn(network: number, chain: ChainNode, block: number, all: readonly WatchedBalance[]): Promise<void> {
    const limits = all.map(({ warnBelow }) => thresholdOf(warnBelow));
    const read = await chain.holdings(
      block,
      all.map(({ address }, index) => ({ address, asset: limits[index]!.asset })),
    );
    for (const [index, watched] of all.entries()) {
      const { asset, amount: limit } = limits[index]!;
      const balance = read[index] ?? null;
      const token = asset === 'native' ? COIN : await tokenReaders.get(network)!(asset);
      if (balance === null || token.decimals === null || isClosed) continue;
      const isLow = isBelow(balance.toString(), token.decimals, limit);
      if (isLow === watched.isLow) continue;
      const { symbol, decimals } = token;
      const amount = inUnits(balance.toString(), decimals);
      await record(network, { watched, isLow, balance: amount, limit, symbol, asset, block });
    }
  }

  async function record(network: number, crossing: Crossing): Promise<void> {
    const { subscription, guildId, channelId, warnBelow }: WatchedBalance = crossing.watched;
    const language = await store.guilds.language(guildId);
    const message = composeNotice(clock.now(), (reference) => renderCrossing(crossing, network, language, reference));
    const notice = { guildId, channelId, aboutChannelId: null, ...message };
    const { isLow } = crossing;
    if (await store.balances.record({ subscription, network, warnBelow, isLow }, notice))
      outbox.wake([{ channelId, guildId }]);
  }

  function checkAll(): void {
    for (const network of chains.keys()) unchecked.add(network);
    wake();
  }

  checkAll();
  const stop = repeat(clock, CHECK_MS, checkAll);

  return {
    wake,
    settled: async (): Promise<void> => {
      while (running) await running;
    },
    async close(): Promise<void> {
      isClosed = true;
      stop();
      cancel();
      await inTime(running ?? Promise.resolve(), SECOND, clock);
    },
  };
}

const COIN = { symbol: null, decimals: 18 };
