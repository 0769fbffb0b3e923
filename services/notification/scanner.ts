import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { NodeHeader } from '../chain/node.ts';
import { NodeBusy, NodeUnreachable } from '../chain/node.ts';
import type { Nodes } from '../chain/nodes.ts';
import type { BlockReader } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { BlockEvents } from './block-events.ts';
import type { ChainCheck } from './chain-check.ts';
import { applyFinality } from './finality.ts';
import { type Forks, RESTART_DEPTH } from './forks.ts';
import { findUnreadable, MISSED_PATIENCE_MS } from './missed.ts';
import type { BlockMark, ReadBlock } from './store/chain.ts';
import type { NotificationStore } from './store/index.ts';
import type { KeptDelivery } from './store/new-deliveries.ts';
import type { Tokens } from './tokens.ts';

/** Dependencies of the scanner. */
export interface ScannerOptions {
  node: Nodes;
  reader: BlockReader;
  store: NotificationStore;
  tokens: Tokens;
  check: ChainCheck;
  forks: Forks;
  eventsOf: BlockEvents;
  clock: Clock;
  log: Logger;
  /** Called after a block's new deliveries are on disk. */
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
  /** Called when deliveries that waited have become due. */
  onDue(): void;
  /** Called when the traces of new blocks can be read again. */
  onTraces(): void;
}

/** How far the scanner has read. */
export interface ScannerStatus {
  /** Height of the chain when it was last seen; null before. */
  head: number | null;
  /** Height of the next block to read; null before the first look. */
  next: number | null;
  /** Since when the chain cannot be read, in milliseconds since 1970; null while it can. */
  failingSince: number | null;
  problem: string | null;
}

/** Reads block after block and makes deliveries of what is watched. */
export interface Scanner {
  /** Reads all blocks up to the newest. Calls run one after another. @throws when a block cannot be read. */
  scan(): Promise<void>;
  status(): ScannerStatus;
  /** Stops after the current block. */
  stop(): Promise<void>;
}

/** How many blocks are read ahead. */
const MAX_READ_AHEAD = 12;

/** Creates the scanner; nothing runs before {@link Scanner.scan}. */
export function createScanner(options: ScannerOptions): Scanner {
  const { clock, log, store, check } = options;
  const status: ScannerStatus = { head: null, next: null, failingSince: null, problem: null };
  let last: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  const blocks = createBlockRun(options, () => isStopping);

  async function look(): Promise<void> {
    const started = await check.check();
    const head = await options.node.head();
    if (started !== null) await begin(options, started, head);
    status.head = Number(head.number);
    if (status.head < store.chain.state()!.nextBlock) await options.forks.lookBehind(head);
    await blocks.readTo(head);
    status.next = store.chain.state()!.nextBlock;
    if (await applyFinality(options, status.head)) options.onDue();
  }

  async function lookAndReport(): Promise<void> {
    if (isStopping) return;
    try {
      await look();
      if (status.failingSince !== null) log.info('the chain can be read again');
      status.failingSince = null;
      status.problem = null;
    } catch (error) {
      if (!isStopping && status.failingSince === null) {
        log.warn({ err: error }, 'cannot read the chain or store its events: retrying until it works');
      }
      status.failingSince ??= clock.now();
      status.problem = (error as Error).message;
      throw error;
    }
  }

  return {
    scan() {
      const scanned = last.then(lookAndReport);
      last = scanned.catch(() => undefined);
      return scanned;
    },
    status: () => ({ ...status }),
    async stop() {
      isStopping = true;
      await last;
    },
  };
}

/** Sets the place in a chain that is new to this file: after its newest block, or some blocks earlier if it started over. */
async function begin(
  { store, tokens, reader, forks }: ScannerOptions,
  { identity, startsOver }: NonNullable<Awaited<ReturnType<ChainCheck['check']>>>,
  head: NodeHeader,
): Promise<void> {
  const height = Number(head.number);
  const newest = blockMarkOf(await forks.verified(head));
  const nextBlock = startsOver ? Math.max(0, height - RESTART_DEPTH) : height + 1;
  store.chain.begin({ ...identity, nextBlock, newest });
  tokens.forget();
  reader.reset();
}

/** Reads blocks in the chain's order. Those that cannot be read although newer ones can are left for later. */
function createBlockRun(options: ScannerOptions, isStopping: () => boolean) {
  const { node, reader, store, check, forks, eventsOf, clock, log } = options;
  /** The block that cannot be read, and since when. */
  let stuck: { at: number; since: number } | undefined;
  /** Until when further unreadable blocks are left for later without waiting. */
  let passingUntil = 0;
  const traces = createTraceWatch(options);

  async function readOne(number: number): Promise<void> {
    const contents = await reader.read(number);
    const { block, moves } = contents;
    const before = store.chain.hashAt(number - 1);
    if (before !== undefined && before !== block.parentHash) {
      reader.reset();
      check.recheck();
      if (await forks.follow(number - 1)) return;
      throw new NodeUnreachable(`The node's blocks ${number - 1} and ${number} do not fit together`);
    }
    const read = await eventsOf(contents, 'both');
    const failure = moves instanceof TracesFailed ? moves : null;
    const kept = await store.chain.record({ ...read, tracesMissing: failure?.message ?? null }, clock.now());
    if (kept === null) return; // The chain was reorganized meanwhile: the next place is another one.
    if (failure === null) reader.done(block.hash);
    if (block.transactions.length > 0) traces.note(failure, number);
    logUnreadable(log, read);
    if (kept.length > 0) options.onDeliveries(kept);
  }

  /** Leaves a block that cannot be read for later, once patience ends. @throws the error before that. */
  async function passOver(first: number, height: number, error: Error): Promise<void> {
    if (error instanceof NodeBusy || isStopping()) throw error;
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

  return {
    async readTo(head: NodeHeader): Promise<void> {
      const height = Number(head.number);
      const nextBlock = () => store.chain.state()!.nextBlock;
      for (let next = nextBlock(); next <= height && !isStopping(); next = nextBlock()) {
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
    },
  };
}

/** Notices when the traces of new blocks stop being readable, and when they are again. */
function createTraceWatch({ log, onTraces }: Pick<ScannerOptions, 'log' | 'onTraces'>) {
  let hasTraces = true;
  return {
    note(failure: TracesFailed | null, blockNumber: number): void {
      if ((failure === null) === hasTraces) return;
      hasTraces = failure === null;
      if (failure === null) {
        log.info({ blockNumber }, 'traces can be read again');
        onTraces();
      } else {
        log.warn(
          { err: failure, blockNumber },
          'cannot read traces: coins sent by contracts are reported later, once a node has the traces of their blocks',
        );
      }
    },
  };
}

function logUnreadable(log: Logger, { number, unreadable }: Pick<ReadBlock, 'number' | 'unreadable'>): void {
  for (const { part, txHash, reason } of unreadable) {
    log.error({ blockNumber: number, part, txHash, reason }, 'part of a block cannot be read: moved to quarantine');
  }
}

function blockMarkOf({ number, hash, timestamp }: NodeHeader): BlockMark {
  return { number: Number(number), hash, time: Number(timestamp ?? 0) };
}
