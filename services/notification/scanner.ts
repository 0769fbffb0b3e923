import { MINUTE } from '../../src/domain/clock.ts';
import { lacksRoots } from '../chain/block.ts';
import { NodeBusy, type NodeHeader, NodeUnreachable } from '../chain/node.ts';
import type { BlockReader } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { BlockEvents } from './block-events.ts';
import type { ChainCheck } from './chain-check.ts';
import { withdrawalBody } from './event.ts';
import { type Forks, RESTART_DEPTH } from './forks.ts';
import { findUnreadable, lastEmpty, MISSED_PATIENCE_MS } from './missed.ts';
import type { Parts } from './parts.ts';
import type { BlockMark } from './store/chain.ts';
import type { KeptDelivery } from './store/deliveries.ts';
import type { Tokens } from './tokens.ts';
import type { BlockTag } from './types.ts';

export interface ChainParts extends Parts {
  reader: BlockReader;
  forks: Forks;
  eventsOf: BlockEvents;
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
}

const STUCK_MS = MINUTE;
const MAX_READ_AHEAD = 12;
/** A follow-up waits until this many blocks were read past its event: the transaction may be mined again. */
const WITHDRAW_AFTER = 2;

/** `onDue` is called when deliveries that waited have become due. */
export function createScanner(parts: ChainParts, tokens: Tokens, check: ChainCheck, onDue: () => void) {
  const { node, clock, log, store, forks, reader, stopping } = parts;
  const status = {
    /** null before the first look. */
    head: null as number | null,
    /** null before the first look. */
    next: null as number | null,
    isStuck: false,
    /** In milliseconds since 1970; null while the chain can be read. */
    failingSince: null as number | null,
    problem: null as string | null,
  };
  let stuckSince: number | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const readTo = createBlockRun(parts, check);

  function current(): typeof status {
    const next = status.head === null ? null : (store.chain.state()?.nextBlock ?? null);
    if (next !== status.next || next === null || next > status.head!) stuckSince = null;
    else stuckSince ??= clock.now();
    status.next = next;
    return { ...status, isStuck: stuckSince !== null && clock.now() - stuckSince >= STUCK_MS };
  }

  function alarm(): void {
    const { isStuck, next, head, problem } = current();
    if (isStuck && !status.isStuck) {
      log.error({ next, head, problem }, 'no block was read for a minute although the chain grew');
    }
    status.isStuck = isStuck;
  }

  /** Reading begins after the newest block, or some blocks earlier if the chain started over. */
  async function begin(
    { identity, startsOver }: NonNullable<Awaited<ReturnType<ChainCheck['check']>>>,
    head: NodeHeader,
  ): Promise<void> {
    const height = Number(head.number);
    const newest = blockMarkOf(await forks.verified(head));
    store.chain.begin(identity, startsOver ? Math.max(0, height - RESTART_DEPTH) : height + 1, newest);
    tokens.forget();
    reader.reset();
  }

  async function look(): Promise<void> {
    const started = await check.check();
    const head = await node.head();
    if (started !== null) await begin(started, head);
    status.head = Number(head.number);
    if (status.head < store.chain.state()!.nextBlock) await forks.lookBehind(head);
    await readTo(head);
    if (await applyFinality(parts, status.head)) onDue();
  }

  async function lookAndReport(): Promise<void> {
    if (stopping.aborted) return;
    try {
      await look();
      if (status.failingSince !== null) log.info('the chain can be read again');
      status.failingSince = null;
      status.problem = null;
    } catch (error) {
      if (!stopping.aborted && status.failingSince === null) {
        log.warn({ err: error }, 'cannot read the chain or store its events: retrying until it works');
      }
      status.failingSince ??= clock.now();
      status.problem = (error as Error).message;
      throw error;
    } finally {
      alarm();
    }
  }

  return {
    /** Calls run one after another. @throws when a block cannot be read. */
    scan(): Promise<void> {
      const scanned = last.then(lookAndReport);
      last = scanned.catch(() => undefined);
      return scanned;
    },
    status: current,
    ended: () => last,
  };
}

/** Blocks that cannot be read although newer ones can are left for later. */
function createBlockRun(parts: ChainParts, check: ChainCheck) {
  const { node, reader, store, forks, eventsOf, clock, log, stopping, onDeliveries } = parts;
  let stuck: { at: number; since: number } | undefined;
  /** Until then, unreadable blocks are left for later without waiting. */
  let passingUntil = 0;
  let hasTraces = true;
  let isRootless = false;

  function noteTraces(failure: TracesFailed | null, blockNumber: number): void {
    if ((failure === null) === hasTraces) return;
    hasTraces = failure === null;
    if (failure === null) {
      log.info({ blockNumber }, 'traces can be read again');
      store.chain.wakeGaps('traces');
    } else {
      log.warn(
        { err: failure, blockNumber },
        'cannot read traces: coins sent by contracts are reported later, once a node has the traces of their blocks',
      );
    }
  }

  async function readOne(number: number): Promise<void> {
    const contents = await reader.read(number);
    const { block, moves } = contents;
    const before = store.chain.parentOf(number);
    if (before !== undefined && before.hash !== block.parentHash) {
      reader.reset();
      check.recheck();
      if (await forks.follow(before.number)) return;
      throw new NodeUnreachable(`The node's blocks ${before.number} and ${number} do not fit together`);
    }
    const read = await eventsOf(contents, 'both');
    const failure = moves instanceof TracesFailed ? moves : null;
    const kept = await store.chain.record({ ...read, tracesMissing: failure?.message ?? null }, clock.now());
    if (kept === null) return; // The chain was reorganized meanwhile: the next place is another one.
    if (failure === null) reader.done(block.hash);
    if (block.transactions.length > 0) noteTraces(failure, number);
    if (lacksRoots(node) && !isRootless) {
      isRootless = true;
      log.warn('no transactions root of this chain fits its blocks: transactions that a node leaves out go unnoticed');
    }
    for (const { part, txHash, reason } of read.unreadable) {
      log.error({ blockNumber: number, part, txHash, reason }, 'part of a block cannot be read: moved to quarantine');
    }
    if (kept.length > 0) onDeliveries(kept);
  }

  /** @throws `error` until patience with the block ends. */
  async function passOver(first: number, height: number, error: Error): Promise<void> {
    if (error instanceof NodeBusy || stopping.aborted) throw error;
    const empty = first < height ? await lastEmpty(node, first) : null;
    if (empty !== null && store.chain.passEmpty(first, empty)) return;
    if (stuck?.at !== first) stuck = { at: first, since: clock.now() };
    const isWaitedFor = clock.now() - stuck.since < MISSED_PATIENCE_MS && clock.now() >= passingUntil;
    if (isWaitedFor || first >= height) throw error;
    const to = await findUnreadable(node, first, height);
    if (to === null) throw error;
    passingUntil = clock.now() + MISSED_PATIENCE_MS;
    if (!store.chain.miss(first, to, error.message, clock.now())) return;
    log.error(
      { err: error, first, last: to },
      'the node does not return these blocks although it returns newer ones: retrying every 10 minutes. ' +
        'If it has pruned them, set RPC_URL to a node that keeps them',
    );
  }

  return async (head: NodeHeader): Promise<void> => {
    const height = Number(head.number);
    const nextBlock = () => store.chain.state()!.nextBlock;
    for (let next = nextBlock(); next <= height && !stopping.aborted; next = nextBlock()) {
      if (!store.webhooks.hasAddresses()) {
        store.chain.skipTo(height + 1, blockMarkOf(await forks.verified(head)));
        return;
      }
      try {
        reader.prepare(next, Math.min(height, next + MAX_READ_AHEAD));
        await readOne(next);
      } catch (error) {
        reader.reset();
        await passOver(next, height, error as Error);
      }
    }
  };
}

/** Returns whether there is anything new to send. Deliveries wait where a block tag cannot be read. */
async function applyFinality({ node, store, clock, log }: Parts, height: number): Promise<boolean> {
  async function heightOf(tag: BlockTag): Promise<number | null> {
    if (!store.deliveries.waitsFor(tag)) return null;
    const header = await node.call<NodeHeader | null>('eth_getBlockByNumber', [tag, false]).catch((error: Error) => {
      log.warn({ err: error, tag }, 'cannot read this block tag: deliveries that wait for it stay');
      return null;
    });
    return header === null ? null : Number(header.number);
  }

  const heights = { head: height, safe: await heightOf('safe'), finalized: await heightOf('finalized') };
  const released = store.deliveries.release(heights, clock.now());
  const below = store.chain.state()!.nextBlock - WITHDRAW_AFTER;
  const withdrawn = store.deliveries.withdraw(below, clock.now(), withdrawalBody);
  return released.length > 0 || withdrawn > 0;
}

function blockMarkOf({ number, hash, timestamp }: NodeHeader): BlockMark {
  return { number: Number(number), hash, time: Number(timestamp ?? 0) };
}
