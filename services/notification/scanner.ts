import type { Logger } from 'pino';
import { readBlock, readReceipts, readTransfers } from '../chain/block.ts';
import { type Node, type NodeBlock, NodeRefused, NodeUnreachable } from '../chain/node.ts';
import { findTraceMethod, type TraceMethod, TracesFailed } from '../chain/traces.ts';
import { settled, type Transfer } from '../chain/transfers.ts';
import type { Clock } from '../clock.ts';
import { addressIn, eventBody, mayWant, type Role, wants } from './event.ts';
import { Missed } from './missed.ts';
import type { Cursor, NewDelivery, NotificationStore, Webhook } from './store.ts';
import { patienceMs, Tokens } from './tokens.ts';

interface ScannerParts {
  node: Node;
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  nativeSymbol: string;
  /** Milliseconds between looks for a new block. */
  pollMs: number;
  /** How long a new event waits before it may be sent, in milliseconds. */
  delay(): number;
  /** Called after a block's deliveries are on disk, with their ids. */
  onDeliveries(deliveries: (NewDelivery & { id: number })[]): void;
}

/** Whose turn a block is: those that were left for later wait for their traces by themselves. */
type Line = 'new' | 'missed';

interface Match {
  transfer: Transfer;
  role: Role;
  webhook: Webhook;
}

/** How long a node that offers no traces is not asked for them again, in milliseconds. */
const untracedMs = 600_000;

/** In the place of the first block's hash: the node does not have that block. */
const unknownGenesis = 'unknown';

const roles: readonly Role[] = ['token', 'to', 'from'];

/** Reads block after block and turns what is watched into deliveries. */
export class Scanner {
  readonly #parts: ScannerParts;
  readonly #tokens: Tokens;
  readonly #missed: Missed;
  #traceMethod: TraceMethod | undefined;
  /** Until when nobody asks anew which way of tracing there is, in milliseconds since 1970. */
  #tracingUntil = 0;
  /** Since when no block could be traced, in milliseconds since 1970. */
  readonly #untracedSince: Record<Line, number | undefined> = { new: undefined, missed: undefined };
  #ahead: { number: number; block: Promise<NodeBlock> } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #cancel = () => {};
  #closing = false;
  /** Whether this chain was looked at since the start: until then its height alone says nothing. */
  #isKnownChain = false;
  #failing = false;

  constructor(parts: ScannerParts) {
    this.#parts = parts;
    this.#tokens = new Tokens(parts);
    this.#missed = new Missed({
      ...parts,
      deliveriesOf: (block) => this.#deliveriesOf(block, 'missed'),
      isReorganised: (block) => this.#isReorganised(block),
    });
  }

  /** Looks once now, and then again and again. Failures are logged and tried again. */
  async start(): Promise<void> {
    const { clock, log, pollMs } = this.#parts;
    try {
      await this.scan();
      if (this.#failing) log.info('The node answers again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing && !this.#closing)
        log.warn(
          { err: error },
          'The chain cannot be read, or what it tells cannot be kept; trying again until it can',
        );
      this.#failing = true;
    }
    if (!this.#closing) this.#cancel = clock.setTimer(pollMs, () => void this.start());
  }

  /** Reads all blocks up to the newest. Runs one after another. */
  scan(): Promise<void> {
    const run = this.#last.then(() => this.#run());
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Stops with the block at hand: told whole, or not at all where its node is closed. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancel();
    await this.#last;
  }

  async #run(): Promise<void> {
    const { node, store } = this.#parts;
    const newest = await node.call<unknown>('eth_blockNumber');
    const head = typeof newest === 'string' && newest !== '' ? Number(newest) : Number.NaN;
    if (Number.isNaN(head)) throw new NodeUnreachable("The node's answer to eth_blockNumber cannot be read");
    if (!this.#isKnownChain || store.cursor()?.next !== head + 1) await this.#readTo(head);
    if (store.hasAddresses()) await this.#missed.tell(() => this.#closing);
  }

  async #readTo(head: number): Promise<void> {
    const { store } = this.#parts;
    let cursor = await this.#cursor(head);
    this.#isKnownChain = true;
    this.#ahead = undefined;
    if (head < cursor.next && (await this.#isRolledBack(head))) cursor = { ...cursor, next: head };
    while (cursor.next <= head && !this.#closing) {
      if (!store.hasAddresses()) {
        store.commit({ ...cursor, next: head + 1 });
        return;
      }
      try {
        cursor = await this.#readNext(cursor, head);
      } catch (error) {
        const first = cursor.next;
        cursor = { ...cursor, next: (await this.#missed.pass(first, head, error as Error)) + 1 };
        store.miss(cursor, first);
        this.#ahead = undefined;
      }
    }
  }

  /** Tells the next block, or finds that those before it go first; answers where to go on. */
  async #readNext(cursor: Cursor, head: number): Promise<Cursor> {
    const { node, store } = this.#parts;
    const { next } = cursor;
    const block = await (this.#ahead?.number === next ? this.#ahead.block : readBlock(node, next));
    this.#ahead = next < head ? this.#readAhead(next + 1) : undefined;
    if (await this.#isReorganised(block)) return { ...cursor, next: next - 1 };
    const isTold = store.toldAt(next).includes(block.hash);
    const deliveries = isTold ? [] : await this.#deliveriesOf(block, 'new');
    const moved = { ...cursor, next: next + 1 };
    const kept = store.commit(moved, block.hash, deliveries);
    if (kept.length > 0) this.#parts.onDeliveries(kept);
    return moved;
  }

  /** Begins to read the block after the one at hand: where blocks come quickly, one call after another falls behind. */
  #readAhead(number: number): { number: number; block: Promise<NodeBlock> } {
    const block = readBlock(this.#parts.node, number);
    block.catch(() => undefined); // In its turn it is seen, or asked for again.
    return { number, block };
  }

  /** Whether a chain that ends before what was told ends with another block: it was not only a node that lags behind. */
  async #isRolledBack(head: number): Promise<boolean> {
    const { node, store } = this.#parts;
    const told = store.toldAt(head);
    return told.length > 0 && !told.includes((await readBlock(node, head)).hash);
  }

  /** Whether the block before is another one than the one that was told: then what it tells now goes first. */
  async #isReorganised({ number, parentHash }: NodeBlock): Promise<boolean> {
    const { node, store } = this.#parts;
    const told = store.toldAt(Number(number) - 1);
    if (told.length === 0 || told.includes(parentHash)) return false;
    // Else it went back and forth for as long as that block cannot be read; once it can, it is compared itself.
    if (store.missed().some(({ first, last }) => first < Number(number) && Number(number) <= last + 1)) return false;
    const before = await readBlock(node, Number(number) - 1);
    if (told.includes(before.hash)) {
      throw new NodeUnreachable(`The node's blocks ${Number(before.number)} and ${Number(number)} do not fit together`);
    }
    return true;
  }

  /** Where to go on; on a chain not seen before that is after its newest block. */
  async #cursor(head: number): Promise<Cursor> {
    const { node, store, log } = this.#parts;
    // Asked each time: a local chain may be started anew under the same URL. Some nodes keep only the newest blocks.
    const first = await node.call<NodeBlock | null>('eth_getBlockByNumber', ['0x0', false]).catch((error: Error) => {
      if (error instanceof NodeRefused) return null;
      throw error;
    });
    const genesis = first?.hash ?? unknownGenesis;
    const known = store.cursor();
    if (known?.genesis === genesis || (known !== undefined && genesis === unknownGenesis)) return known;
    if (known?.genesis === unknownGenesis) return { ...known, genesis };
    if (known !== undefined) log.warn('This is another chain than last time; going on from its newest block');
    this.#tokens.forget();
    const cursor = { genesis, next: head + 1 };
    store.restart(cursor);
    return cursor;
  }

  async #deliveriesOf(block: NodeBlock, line: Line): Promise<NewDelivery[]> {
    const { node, clock, nativeSymbol } = this.#parts;
    const blockNumber = Number(block.number);
    const transfers = await this.#transfersOf(block, line);
    const matches = this.#matches(transfers);
    const hashes = [...new Set(matches.map(({ transfer }) => transfer.txHash))];
    const receipts = await readReceipts(node, block, hashes);
    const tokens = matches.flatMap(({ transfer }) => (transfer.kind === 'native' ? [] : [transfer.token]));
    const facts = await this.#tokens.factsOf(new Set(tokens));
    const deliveries: NewDelivery[] = [];
    for (const { transfer: found, role, webhook } of matches) {
      const { txHash } = found;
      const receipt = receipts.get(txHash)!;
      const transaction = block.transactions.find(({ hash }) => hash === txHash);
      if (transaction === undefined || receipt.status === '0x0') continue;
      const token = found.kind === 'native' ? null : facts.get(found.token)!;
      const transfer = settled(found, token);
      if (!wants(webhook.eventType, transfer)) continue;
      const { id: webhookId, projectId } = webhook;
      const body = eventBody({ transfer, role, projectId, block, transaction, receipt, token, nativeSymbol });
      deliveries.push({ webhookId, projectId, txHash, blockNumber, body, dueAt: clock.now() + this.#parts.delay() });
    }
    return deliveries;
  }

  async #transfersOf(block: NodeBlock, line: Line): Promise<Transfer[]> {
    const { node, clock, log } = this.#parts;
    // An empty block tells nothing of whether others can be traced.
    if (block.transactions.length === 0) return [];
    try {
      const method = await this.#tracing();
      const transfers = await readTransfers(node, block, method);
      if (method !== 'none') this.#untracedSince[line] = undefined;
      return transfers;
    } catch (error) {
      if (!(error instanceof TracesFailed)) throw error;
      const since = this.#untracedSince[line] ?? clock.now();
      this.#untracedSince[line] = since;
      if (clock.now() - since < patienceMs) throw error;
      log.warn(
        { err: error, blockNumber: Number(block.number) },
        'Coins that contracts sent in this block are not seen',
      );
      // Which way there is was not answered: the next block need not wait for that again.
      if (this.#traceMethod === undefined || this.#traceMethod === 'none') this.#traceBy('none');
      // Another node may answer under this URL now, with another way of tracing.
      else if (this.#tracingUntil === Number.POSITIVE_INFINITY || this.#tracingUntil <= clock.now()) {
        this.#tracingUntil = clock.now() + untracedMs;
      }
      return readTransfers(node, block, 'none');
    }
  }

  #matches(transfers: readonly Transfer[]): Match[] {
    // One transaction may move the tokens of one address thousands of times.
    const watchers = new Map<string, readonly Webhook[]>();
    const watchersOf = (address: string): readonly Webhook[] => {
      const known = watchers.get(address) ?? this.#parts.store.watchersOf(address);
      watchers.set(address, known);
      return known;
    };
    return transfers.flatMap((transfer) =>
      roles.flatMap((role) =>
        watchersOf(addressIn(transfer, role))
          .filter(({ eventType }) => mayWant(eventType, transfer))
          .map((webhook) => ({ transfer, role, webhook })),
      ),
    );
  }

  async #tracing(): Promise<TraceMethod> {
    if (this.#traceMethod !== undefined && this.#parts.clock.now() < this.#tracingUntil) return this.#traceMethod;
    return this.#traceBy(await findTraceMethod(this.#parts.node));
  }

  #traceBy(method: TraceMethod): TraceMethod {
    const { clock, log } = this.#parts;
    this.#tracingUntil = method === 'none' ? clock.now() + untracedMs : Number.POSITIVE_INFINITY;
    if (method === this.#traceMethod) return method;
    this.#traceMethod = method;
    if (method !== 'none') log.info({ method }, 'Internal transfers are read from traces');
    else {
      log.warn(
        'The node offers neither trace_block nor debug_traceBlockByNumber: coins sent by contracts will not be seen. ' +
          'Use a node with one of them to see them.',
      );
    }
    return method;
  }
}
