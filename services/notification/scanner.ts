import type { Logger } from 'pino';
import type { Hex } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { innerTransfers, outerTransfers, receiptsOf } from '../chain/block.ts';
import type { NodeHeader } from '../chain/node.ts';
import { NodeBusy, NodeUnreachable } from '../chain/node.ts';
import type { Nodes } from '../chain/nodes.ts';
import type { Profile } from '../chain/profiles.ts';
import type { BlockContents, BlockReader } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { ChainCheck } from './chain-check.ts';
import type { EventStyle } from './event.ts';
import { deliveriesOf, matchesOf } from './match.ts';
import { findUnreadable, MISSED_PATIENCE_MS } from './missed.ts';
import type { ToldBlock } from './store/chain.ts';
import type { KeptDelivery, NewDelivery } from './store/deliveries.ts';
import type { NotificationStore } from './store/index.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Tokens } from './tokens.ts';

/** What the scanner works with. */
export interface ScannerParts {
  node: Nodes;
  reader: BlockReader;
  store: NotificationStore;
  tokens: Tokens;
  check: ChainCheck;
  clock: Clock;
  log: Logger;
  profile(): Profile;
  style: EventStyle;
  /** Whether a project still exists: nothing is read for one that was removed. */
  isServed(projectId: string): boolean;
  /** How long a new event waits before it may be sent, in milliseconds. */
  delayMs(): number;
  /** Called after a block's new deliveries are on disk. */
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
  /** Called when the traces of new blocks can be read again. */
  onTraces(): void;
}

/** How far the scanner is. */
export interface ScannerStatus {
  /** Height of the chain when it was last seen; null before. */
  head: number | null;
  /** Height of the next block to read; null before the first look. */
  next: number | null;
  /** Since when the chain cannot be read, in milliseconds since 1970; null while it can. */
  failingSince: number | null;
  problem: string | null;
}

/** Reads block after block and turns what is watched into deliveries. */
export interface Scanner {
  /** Reads all blocks up to the newest. Runs one after another. @throws when one cannot be read. */
  scan(): Promise<void>;
  /** What a read block says to its watchers; `only` limits these. */
  deliveriesIn(
    contents: BlockContents,
    parts: BlockPart,
    only?: Restriction,
  ): Promise<Omit<ToldBlock, 'tracesMissing'>>;
  /** Goes back to where the chain still is what was told, if the block at this height has changed. Returns whether it had. */
  followFork(number: number): Promise<boolean>;
  status(): ScannerStatus;
  /** Stops after the block at hand. */
  stop(): Promise<void>;
}

/** Which transfers of a block are meant. */
export type BlockPart = 'outer' | 'inner' | 'both';

/** Limits whom a block's events are made for. */
export interface Restriction {
  watchersOf(address: string): readonly Webhook[];
  replay: number;
}

/** How many blocks are read ahead. */
const READ_AHEAD = 12;
/** How far below the chain's end reading goes on where nothing is known of what was before. */
const RESTART_DEPTH = 256;

/** Creates the scanner; nothing runs before {@link Scanner.scan}. */
export function createScanner(parts: ScannerParts): Scanner {
  const { node, reader, store, tokens, check, clock, log, style } = parts;
  const status: ScannerStatus = { head: null, next: null, failingSince: null, problem: null };
  let last: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  let stuck: { at: number; since: number } | undefined;
  let passingUntil = 0;
  let hasTraces = true;

  const headerAt = (number: number): Promise<NodeHeader> =>
    node.call<NodeHeader>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false], (header: NodeHeader | null) => {
      if (header === null) throw new NodeUnreachable(`The node does not have block ${number}`);
      if (Number(header.number) !== number) throw new NodeUnreachable(`The node returned another block than ${number}`);
    });

  /** A newest block that the node also has under its number: one wrong answer moves nothing. */
  const verified = async (head: NodeHeader): Promise<NodeHeader> => {
    const header = await headerAt(Number(head.number));
    if (header.hash !== head.hash) throw new NodeUnreachable(`The node has two blocks ${Number(head.number)}`);
    return header;
  };

  const run = async (): Promise<void> => {
    const isNew = await check.check();
    const head = await node.head();
    const height = Number(head.number);
    if (isNew !== null) {
      const newest = markOf(await verified(head));
      const nextBlock = isNew.startsOver ? Math.max(0, height - RESTART_DEPTH) : height + 1;
      store.chain.begin({ ...isNew.identity, nextBlock, newest });
      tokens.forget();
      reader.reset();
    }
    status.head = height;
    if (height < store.chain.state()!.nextBlock) await lookBehind(head);
    await readTo(head);
    status.next = store.chain.state()!.nextBlock;
    await release(height);
  };

  /** The chain ends at or before what was told: another block at the same height, a node behind, or a chain that started over. */
  const lookBehind = async (head: NodeHeader): Promise<void> => {
    const height = Number(head.number);
    const { toldTime } = store.chain.state()!;
    const told = store.chain.hashAt(height);
    if (told === head.hash) return;
    if (told !== undefined) {
      await verified(head);
      await followFork(height);
      return;
    }
    check.recheck();
    for (
      let at = store.chain.rememberedBelow(height);
      at !== undefined;
      at = store.chain.rememberedBelow(at.number - 1)
    ) {
      if ((await headerAt(at.number)).hash !== at.hash) continue;
      if (store.chain.rememberedBelow(height)!.number !== at.number) rewind(at.number);
      return;
    }
    // A node that is still behind has old blocks; a chain that started over makes new ones.
    if (Number(head.timestamp ?? 0) <= toldTime) return;
    await verified(head);
    log.error(
      { height, next: store.chain.state()!.nextBlock },
      'the chain started over below what was read: reading on from there',
    );
    rewind(Math.max(-1, height - RESTART_DEPTH));
  };

  const readTo = async (head: NodeHeader): Promise<void> => {
    const height = Number(head.number);
    for (
      let next = store.chain.state()!.nextBlock;
      next <= height && !isStopping;
      next = store.chain.state()!.nextBlock
    ) {
      if (!store.webhooks.hasAddresses()) {
        store.chain.skipTo(height + 1, markOf(await verified(head)));
        return;
      }
      try {
        reader.prepare(next, Math.min(height, next + READ_AHEAD));
        await readOne(next);
      } catch (error) {
        reader.reset();
        await passOver(next, height, error as Error);
      }
    }
  };

  const readOne = async (number: number): Promise<void> => {
    const contents = await reader.read(number);
    const { block, moves } = contents;
    const before = store.chain.hashAt(number - 1);
    if (before !== undefined && before !== block.parentHash) {
      reader.reset();
      check.recheck();
      if (await followFork(number - 1)) return;
      throw new NodeUnreachable(`The node's blocks ${number - 1} and ${number} do not fit together`);
    }
    const told = await deliveriesIn(contents, 'both');
    const failure = moves instanceof TracesFailed ? moves : null;
    const kept = store.chain.tell({ ...told, tracesMissing: failure?.message ?? null }, clock.now());
    if (failure === null) reader.done(block.hash);
    noteTraces(failure, number, block.transactions.length === 0);
    noteUnreadable(told);
    if (kept.length > 0) parts.onDeliveries(kept);
  };

  const noteTraces = (failure: TracesFailed | null, blockNumber: number, isEmpty: boolean): void => {
    if (isEmpty || (failure === null) === hasTraces) return;
    hasTraces = failure === null;
    if (failure === null) {
      log.info({ blockNumber }, 'traces can be read again');
      parts.onTraces();
    } else {
      log.warn(
        { err: failure, blockNumber },
        'cannot read traces: coins sent by contracts are reported later, once a node has the traces of their blocks',
      );
    }
  };

  const noteUnreadable = ({ number, unreadable }: Pick<ToldBlock, 'number' | 'unreadable'>): void => {
    for (const { part, txHash, reason } of unreadable) {
      log.error(
        { blockNumber: number, part, txHash, reason },
        'part of a block cannot be read: set aside in quarantine',
      );
    }
  };

  /** Leaves a block that cannot be read for later once patience ends. @throws the error before that. */
  const passOver = async (first: number, height: number, error: Error): Promise<void> => {
    if (error instanceof NodeBusy || isStopping) throw error;
    if (stuck?.at !== first) stuck = { at: first, since: clock.now() };
    const isWaitedFor = clock.now() - stuck.since < MISSED_PATIENCE_MS && clock.now() >= passingUntil;
    if (isWaitedFor || first >= height) throw error;
    const to = await findUnreadable(node, first, height);
    if (to === null) throw error;
    passingUntil = clock.now() + MISSED_PATIENCE_MS;
    store.chain.miss(first, to, error.message, clock.now());
    log.error(
      { err: error, first, last: to },
      'the node does not return these blocks although it returns newer ones: trying again every 10 minutes. ' +
        'If it has pruned them, set RPC_URL to a node that keeps them',
    );
  };

  const followFork = async (number: number): Promise<boolean> => {
    let at = number;
    for (let told = store.chain.hashAt(at); told !== undefined; told = store.chain.hashAt(at)) {
      if ((await headerAt(at)).hash === told) break;
      at -= 1;
    }
    if (at === number) return false;
    rewind(at);
    return true;
  };

  const rewind = (number: number): void => {
    reader.reset();
    const gone = store.chain.rewind(number);
    log.warn({ blockNumber: number, blocks: gone.length }, 'the chain was reorganized: reading on after this block');
  };

  const deliveriesIn: Scanner['deliveriesIn'] = async (contents, part, only) => {
    const { block, logs, moves } = contents;
    const none = { transfers: [], unreadable: [] };
    const outer = part === 'inner' ? none : outerTransfers(block, logs.logs, parts.profile());
    const inner = part === 'outer' || moves instanceof TracesFailed ? none : innerTransfers(moves, parts.profile());
    // Payments, then what contracts paid, then tokens.
    const isPayment = ({ kind }: { kind: string }) => kind === 'native';
    const transfers = [
      ...outer.transfers.filter(isPayment),
      ...inner.transfers,
      ...outer.transfers.filter((one) => !isPayment(one)),
    ];
    const watchersOf = only?.watchersOf ?? ((address: string) => store.webhooks.watchersOf(address));
    const served = (address: string) => watchersOf(address).filter(({ projectId }) => parts.isServed(projectId));
    const matches = matchesOf(transfers, served, style);
    const listed = new Set(block.transactions.map(({ hash }) => hash));
    const hashes = [...new Set(matches.map(({ transfer }) => transfer.txHash))].filter((hash) => listed.has(hash));
    const receipts = await receiptsOf(node, block, logs, hashes as Hex[]);
    const deliveries: NewDelivery[] = deliveriesOf(matches, {
      block,
      receipts,
      style,
      clock,
      factsOf: (token) => tokens.factsOf(token),
      delayMs: parts.delayMs(),
      replay: only?.replay ?? 0,
    });
    return {
      number: Number(block.number),
      hash: block.hash,
      time: Number(block.timestamp ?? 0),
      deliveries,
      unreadable: [...outer.unreadable, ...inner.unreadable],
    };
  };

  /** Lets deliveries be sent whose confirmations are there, and creates the follow-ups of reorganizations. */
  const release = async (height: number): Promise<void> => {
    const heightOf = async (tag: 'safe' | 'finalized', code: -1 | -2): Promise<number | null> => {
      if (!store.deliveries.waitsFor(code)) return null;
      const header = await node.call<NodeHeader | null>('eth_getBlockByNumber', [tag, false]).catch((error: Error) => {
        log.warn({ err: error, tag }, 'cannot read this block tag: deliveries that wait for it stay');
        return null;
      });
      return header === null ? null : Number(header.number);
    };
    const heights = { head: height, safe: await heightOf('safe', -1), finalized: await heightOf('finalized', -2) };
    const released = store.deliveries.release(heights, clock.now());
    const withdrawn = store.deliveries.withdraw(store.chain.state()!.nextBlock - WITHDRAW_AFTER, clock.now());
    if (released.length > 0 || withdrawn > 0) parts.onDeliveries([]);
  };

  return {
    scan() {
      const scanned = last.then(async () => {
        if (isStopping) return;
        try {
          await run();
          if (status.failingSince !== null) log.info('the chain can be read again');
          status.failingSince = null;
          status.problem = null;
        } catch (error) {
          if (!isStopping && status.failingSince === null) {
            log.warn({ err: error }, 'cannot read the chain, or store what it says: trying again until it works');
          }
          status.failingSince ??= clock.now();
          status.problem = (error as Error).message;
          throw error;
        }
      });
      last = scanned.catch(() => undefined);
      return scanned;
    },
    deliveriesIn,
    followFork,
    status: () => ({ ...status }),
    async stop() {
      isStopping = true;
      await last;
    },
  };
}

function markOf({ number, hash, timestamp }: NodeHeader): { number: number; hash: string; time: number } {
  return { number: Number(number), hash, time: Number(timestamp ?? 0) };
}

/** A follow-up waits until as many blocks were read past its event: the transaction may be mined again. */
const WITHDRAW_AFTER = 2;
