import type { Logger } from 'pino';
import { type AddressText, toAddress } from '../domain/address.ts';
import { blockBefore, ChainError, type ChainHead, type ChainNode } from '../domain/chain-node.ts';
import { type Clock, inTime, MINUTE, repeat, SECOND } from '../domain/clock.ts';
import {
  addUnchecked,
  type Balances,
  type BlockRange,
  bodyOf,
  type ChainMovement,
  type CheckProgress,
  type Completeness,
  compare,
  isInRange,
  isSameMovement,
  mentions,
  type StoredTransfer,
  type TokenFacts,
  type Unchecked,
  type WatchedAddress,
} from '../domain/completeness.ts';
import type { Inbox, NewDelivery } from '../domain/inbox.ts';
import type { Network } from '../domain/network.ts';
import type { Outbox } from '../domain/sender.ts';
import { isDifference, type Transfer } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import { type ChainFacts, createLogReader, readFacts, uncheckedReasonOf } from './movements.ts';
import { createTokenReader } from './tokens.ts';

/** How often the settled block is read. A round compares up to the one of the round before, which every node knows by now. */
const ROUND_MS = MINUTE;
/** Most blocks that one step compares; what a step found is stored before the next. */
const MAX_STEP = 2_000;
/** How often in succession blocks are compared again before the rest of them counts as unchecked. */
const MAX_REFUSALS = 3;
/** Most deliveries that are stored at once, so that those of services never wait long. */
const MAX_STORED = 50;

export interface CheckerOptions {
  network: Pick<Network, 'id' | 'name' | 'title' | 'chainId' | 'nativeSymbol'> & {
    RPC_CONFIRMATIONS: 'finalized' | 'safe' | number;
  };
  chain: ChainNode;
  store: Pick<Store, 'chainChecks' | 'inbox'>;
  inbox: Inbox;
  outbox: Outbox;
  metrics: { found: { inc(transfers: number): void } };
  clock: Clock;
  log: Logger;
  roundMs?: number | undefined;
}

export type Checker = ReturnType<typeof startChecker>;

export function startChecker(options: CheckerOptions) {
  const { chain, store, clock, log, roundMs = ROUND_MS } = options;
  const { id, name: network, title, chainId: expected, nativeSymbol = null } = options.network;
  const { RPC_CONFIRMATIONS: confirmations } = options.network;
  const readLogs = createLogReader(chain);
  const factsOf = createTokenReader(chain);
  // Times of blocks are in whole seconds.
  const startedAt = Math.floor(clock.now() / SECOND) * SECOND;
  let head: ChainHead | null = null;
  let progress: CheckProgress | null = null;
  let trouble: Completeness['trouble'] = null;
  let hasTraces: boolean | null = null;
  let refusals = 0;
  let isChecked = false;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    if (isClosed) return;
    try {
      if (!isChecked && !(await checkChain())) return;
      const target = head;
      head = await chain.settled(confirmations);
      if (trouble !== null) log.info({ network }, 'comparing with the chain again');
      trouble = null;
      if (target !== null) await compareUpTo(target);
    } catch (error) {
      if (isClosed) return;
      if (error instanceof ChainError) failed(error.failure === 'away' ? 'away' : 'refused', error.message);
      else log.warn({ err: error, network }, 'comparing with the chain failed; trying again in a minute');
    }
  }

  function failed(reason: NonNullable<Completeness['trouble']>['reason'], message: string): void {
    if (trouble === null) log.warn({ network, reason, message }, 'cannot compare with the chain');
    trouble = { since: trouble?.since ?? clock.now(), reason };
  }

  /** A node of another chain would make every transfer look wrong. */
  async function checkChain(): Promise<boolean> {
    const known = (await store.chainChecks.progress(id))?.progress;
    const begun = known ?? { chainId: '', block: -1, blockAt: 0, unchecked: [], since: startedAt };
    // The node may respond only after the next start.
    if (!known) await store.chainChecks.advance(id, begun, new Map());
    progress = begun;
    const chainId = await chain.chainId();
    const wanted = expected === null ? begun.chainId || chainId : String(expected);
    if (wanted !== chainId) {
      failed('other-chain', `the node is of chain ${chainId}, not ${wanted}`);
      return false;
    }
    progress = { ...begun, chainId };
    isChecked = true;
    return true;
  }

  async function compareUpTo(target: ChainHead): Promise<void> {
    const watched = await store.chainChecks.watched(id);
    const addresses = [...new Set(watched.map(({ address }) => address))];
    let current = progress!;
    let balances: Balances = (await store.chainChecks.progress(id))?.balances ?? new Map();
    // What happened before the first start is nobody's loss. A node may respond only long after it.
    if (current.block < 0) {
      const { number, at } = await blockBefore(chain, current.since ?? startedAt, target);
      current = { ...current, block: number, blockAt: at };
    }
    current = await compareLate(current, watched);
    // A settled block that did not move has nothing new, unless an address is.
    if (target.number <= progress!.block && addresses.every((address) => balances.has(address))) return;
    do {
      const upTo = Math.min(target.number, current.block + MAX_STEP);
      if (isClosed || upTo < current.block) return;
      const range = { after: current.block, upTo };
      const { read, unchecked } = await compareRange(range, watched, balances);
      const blockAt = upTo === target.number ? target.at : (await chain.header(upTo)).at;
      current = { ...current, block: upTo, blockAt, unchecked: addUnchecked(current.unchecked, unchecked) };
      balances = read ?? new Map();
      await store.chainChecks.advance(id, current, balances);
      progress = current;
    } while (current.block < target.number);
  }

  /** Compares blocks again if a delivery about them came after they were compared. */
  async function compareLate(current: CheckProgress, watched: WatchedAddress[]): Promise<CheckProgress> {
    const { seen, block } = current;
    let { unchecked } = current;
    const { upTo, found } = await store.chainChecks.late(id, seen ?? Number.MAX_SAFE_INTEGER, block);
    if (upTo === seen) return current;
    for (const [upToBlock, late] of Map.groupBy(found, ({ transfer }) => transfer.blockNumber!)) {
      const parties = new Set(late.flatMap(({ transfer: { from, to, token } }) => [from, to, token]));
      const some = watched.filter(({ address }) => parties.has(address));
      if (some.length === 0) continue;
      const range = { after: upToBlock - 1, upTo: upToBlock };
      unchecked = addUnchecked(unchecked, (await compareRange(range, some, new Map())).unchecked);
    }
    // It is stored with the next step.
    progress = { ...progress!, seen: upTo, unchecked };
    return { ...current, seen: upTo, unchecked };
  }

  const balancesAt = (block: number, addresses: AddressText[]) =>
    chain.balances(block, addresses).then(
      (read) => ({ read, reason: null }),
      (error: unknown) => ({ read: null, reason: uncheckedReasonOf(error) }),
    );

  /** `before`: balances before these blocks, as far as they are known. */
  async function compareRange(
    range: BlockRange,
    watched: WatchedAddress[],
    before: Balances,
  ): Promise<{ read: Balances | null; unchecked: Unchecked[] }> {
    const addresses = [...new Set(watched.map(({ address }) => address))];
    const { read, reason } = await balancesAt(range.upTo, addresses);
    if (range.after === range.upTo) return { read, unchecked: [] };
    const fresh = await balancesAt(
      range.after,
      addresses.filter((address) => !before.has(address)),
    );
    const balances = read && { start: new Map([...before, ...(fresh.read ?? [])]), end: read };
    const delivered = await store.chainChecks.stored(id, range, addresses, []);
    const facts = await readFacts(chain, readLogs, range, addresses, balances, delivered);
    const { coin, tokens } = facts.unchecked;
    const reasons = [...new Set([coin, tokens, reason, fresh.reason].filter((cause) => cause !== null))];
    // Nodes behind one address may differ, and some refuse what they return a little later.
    if (reasons.length === 0) refusals = 0;
    else if (++refusals < MAX_REFUSALS) throw new ChainError('refused', 'comparing');
    hasTraces = facts.hasTraces ?? hasTraces;
    const txHashes = [...new Set(facts.movements.map(({ txHash }) => txHash))];
    const stored = await store.chainChecks.stored(id, range, addresses, txHashes);
    const heads = new Map<number, ChainHead>();
    for (const [scope, ofScope] of Map.groupBy(watched, (wallet) => wallet.scope)) {
      const since = new Map(ofScope.map((wallet) => [wallet.address, wallet.since]));
      const concerned = ({ from, to, token }: Pick<ChainMovement, 'from' | 'to' | 'token'>) =>
        [from, to, token].flatMap((party) => (party === null ? [] : (since.get(party) ?? [])));
      const { missed, wrong } = compare(
        facts.movements.filter((movement) => concerned(movement).length > 0),
        stored.filter((transfer) => transfer.scope === scope),
        (transfer, isHere) =>
          concerned(transfer.transfer).length > 0 &&
          (isHere || isInRange(transfer.transfer.blockNumber, range)) &&
          (transfer.transfer.kind === 'native' ? (coin ?? reason ?? fresh.reason) : tokens) === null,
      );
      const rows: NewDelivery[] = [];
      const known = missed.length === 0 ? [] : await decidedBefore(scope, stored);
      for (const movement of missed) {
        if (known.some(({ transfer }) => isSameMovement(movement, transfer))) continue;
        const mined = heads.get(movement.blockNumber) ?? (await chain.header(movement.blockNumber));
        heads.set(movement.blockNumber, mined);
        // Of the second in which an address was added, everything counts.
        if (Math.min(...concerned(movement)) >= mined.at + SECOND) continue;
        const token = movement.token === null ? null : await factsOf(movement.token);
        rows.push(deliveryOf(scope, { ...movement, blockHash: mined.hash }, mined.at, token, facts));
      }
      await handIn(rows);
      await mark(wrong, range);
    }
    return { read, unchecked: reasons.map((reason) => ({ ...range, reason: reason, at: clock.now() })) };
  }

  /** The transfers that a scope's guilds already got in another scope, before their project changed. */
  async function decidedBefore(scope: number, stored: StoredTransfer[]): Promise<StoredTransfer[]> {
    const others = stored.filter((transfer) => transfer.scope !== scope);
    const ids = others.map((transfer) => transfer.id);
    const decided = new Set(ids.length === 0 ? [] : await store.chainChecks.decided(id, scope, ids));
    return others.filter((transfer) => decided.has(transfer.id));
  }

  function deliveryOf(
    scope: number,
    movement: ChainMovement,
    minedAt: number,
    token: TokenFacts | null,
    facts: ChainFacts,
  ): NewDelivery {
    const { chainId } = progress!;
    const { txHash, place } = movement;
    const body = bodyOf(movement, token, nativeSymbol, facts.fees.get(txHash) ?? null);
    return {
      scope,
      receivedAt: clock.now(),
      body: Buffer.from(body),
      // A step that is repeated after a crash hands in the same deliveries, which are repeats then.
      identity: { id: `chain ${chainId} ${txHash} ${place}`, chainId, place, minedAt },
      run: 'chain',
      runMs: 0,
    };
  }

  async function handIn(rows: NewDelivery[]): Promise<void> {
    for (let from = 0; from < rows.length; from += MAX_STORED) {
      await store.inbox.append(rows.slice(from, from + MAX_STORED));
      options.inbox.wake();
    }
    if (rows.length === 0) return;
    log.info({ network, found: rows.length }, 'found transfers on the chain that were not delivered');
    options.metrics.found.inc(rows.length);
  }

  async function mark(wrong: { stored: StoredTransfer; count: number }[], range: BlockRange): Promise<void> {
    const corrections: { id: number; count: number }[] = [];
    for (const { stored, count } of wrong) {
      if (stored.transfer.settled === count || (count === 0 && (await isThere(stored, range)))) continue;
      corrections.push({ id: stored.id, count });
    }
    if (corrections.length === 0) return;
    log.warn({ network, transfers: corrections.length }, 'the chain does not have transfers that were delivered');
    options.outbox.wake(await store.chainChecks.correct(corrections, clock.now()));
  }

  /** Whether the chain has a transfer after all: in another block, or written in a form that is not searched for. */
  async function isThere({ transfer }: StoredTransfer, range: BlockRange): Promise<boolean> {
    const receipt = isDifference(transfer) ? null : await chain.receipt(transfer.txHash);
    if (receipt === null) return false;
    if (transfer.kind !== 'native') return receipt.logs.some((log) => mentions(log, transfer));
    const number = Number(receipt.blockNumber);
    if (isInRange(number, range)) return false;
    const block = await chain.block(number);
    const inside = transfer.internal ? await chain.payments(block) : [];
    const paid = block.transactions.map((transaction) => ({ ...transaction, txHash: transaction.hash }));
    return inside === null || [...paid, ...inside].some((payment) => isPaymentOf(payment, transfer));
  }

  function check(): Promise<void> {
    running = running.then(round);
    return running;
  }

  const stop = repeat(clock, roundMs, check, 0);
  return {
    check,
    status: (): Completeness => ({
      network,
      title,
      block: progress === null || progress.block < 0 ? null : progress.block,
      blockAt: progress === null || progress.block < 0 ? null : progress.blockAt,
      trouble,
      unchecked: progress?.unchecked ?? [],
      hasTraces,
    }),
    calls: chain.calls,
    /** Blocks whose results are not stored yet are compared again after the next start. */
    async close(): Promise<void> {
      isClosed = true;
      stop();
      await inTime(running, SECOND, clock);
    },
  };
}

const isPaymentOf = (
  payment: Record<'txHash' | 'from', string> & { to: string | null; value: string | bigint },
  { txHash, from, to, value }: Transfer,
): boolean =>
  payment.txHash.toLowerCase() === txHash &&
  toAddress(payment.from) === from &&
  toAddress(payment.to) === to &&
  BigInt(payment.value) === BigInt(value ?? 0);
