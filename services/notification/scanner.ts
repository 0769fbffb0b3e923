import type { Logger } from 'pino';
import type { Hex } from 'viem';
import { readBlock } from '../chain/block.ts';
import type { Node, NodeBlock, NodeReceipt } from '../chain/node.ts';
import { readFacts, type TokenFacts } from '../chain/token.ts';
import { findTraceMethod, type TraceMethod } from '../chain/traces.ts';
import type { Address, Transfer } from '../chain/transfers.ts';
import type { Clock } from '../clock.ts';
import { addressIn, eventBody, type Role, wants } from './event.ts';
import type { Cursor, NewDelivery, NotificationStore, Webhook } from './store.ts';

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

interface Match {
  transfer: Transfer;
  role: Role;
  webhook: Webhook;
}

const roles: readonly Role[] = ['token', 'to', 'from'];

/** Reads block after block and turns what is watched into deliveries. */
export class Scanner {
  readonly #parts: ScannerParts;
  readonly #facts = new Map<Address, TokenFacts>();
  #traceMethod: TraceMethod | undefined;
  #genesis: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #cancel = () => {};
  #closing = false;
  #failing = false;

  constructor(parts: ScannerParts) {
    this.#parts = parts;
  }

  /** Looks once now, and then again and again. Failures are logged and tried again. */
  async start(): Promise<void> {
    const { clock, log, pollMs } = this.#parts;
    try {
      await this.scan();
      if (this.#failing) log.info('The node answers again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, 'The chain cannot be read; trying again until it can');
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

  /** Stops after the block at hand. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancel();
    await this.#last;
  }

  async #run(): Promise<void> {
    const { node, store } = this.#parts;
    const head = Number(await node.call<Hex>('eth_blockNumber'));
    let cursor = await this.#cursor(head);
    while (cursor.next <= head && !this.#closing) {
      if (!store.hasAddresses()) {
        store.commit({ ...cursor, next: head + 1 });
        return;
      }
      const deliveries = await this.#deliveriesOf(cursor.next);
      if (deliveries === null) return;
      cursor = { ...cursor, next: cursor.next + 1 };
      const ids = store.commit(cursor, deliveries);
      if (ids.length > 0)
        this.#parts.onDeliveries(deliveries.map((delivery, index) => ({ ...delivery, id: ids[index]! })));
    }
  }

  /** Where to go on; on a chain not seen before that is after its newest block. */
  async #cursor(head: number): Promise<Cursor> {
    const { node, store, log } = this.#parts;
    this.#genesis ??= (await node.call<NodeBlock>('eth_getBlockByNumber', ['0x0', false])).hash;
    const known = store.cursor();
    if (known?.genesis === this.#genesis) return known;
    if (known !== undefined) log.warn('This is another chain than last time; going on from its newest block');
    const cursor = { genesis: this.#genesis, next: head + 1 };
    store.commit(cursor);
    return cursor;
  }

  async #deliveriesOf(blockNumber: number): Promise<NewDelivery[] | null> {
    const { node, clock, nativeSymbol } = this.#parts;
    const read = await readBlock(node, blockNumber, await this.#tracing());
    if (read === null) return null;
    const { block, transfers } = read;
    const matches = transfers.flatMap((transfer) => this.#matches(transfer));
    const hashes = [...new Set(matches.map(({ transfer }) => transfer.txHash))];
    const receipts = new Map<Hex, NodeReceipt>();
    for (const hash of hashes) {
      const receipt = await node.call<NodeReceipt | null>('eth_getTransactionReceipt', [hash]);
      if (receipt === null) return null; // The node lags behind itself: the block is read again.
      receipts.set(hash, receipt);
    }
    const deliveries: NewDelivery[] = [];
    for (const { transfer, role, webhook } of matches) {
      const { txHash } = transfer;
      const receipt = receipts.get(txHash)!;
      const transaction = block.transactions.find(({ hash }) => hash === txHash);
      if (transaction === undefined || receipt.status === '0x0') continue;
      const token = transfer.kind === 'native' ? null : await this.#factsOf(transfer.token);
      const { id: webhookId, projectId } = webhook;
      const body = eventBody({ transfer, role, projectId, block, transaction, receipt, token, nativeSymbol });
      deliveries.push({ webhookId, projectId, txHash, blockNumber, body, dueAt: clock.now() + this.#parts.delay() });
    }
    return deliveries;
  }

  #matches(transfer: Transfer): Match[] {
    return roles.flatMap((role) =>
      this.#parts.store
        .watchersOf(addressIn(transfer, role))
        .filter(({ eventType }) => wants(eventType, transfer))
        .map((webhook) => ({ transfer, role, webhook })),
    );
  }

  async #tracing(): Promise<TraceMethod> {
    if (this.#traceMethod === undefined) {
      this.#traceMethod = await findTraceMethod(this.#parts.node);
      const { log } = this.#parts;
      if (this.#traceMethod !== 'none')
        log.info({ method: this.#traceMethod }, 'Internal transfers are read from traces');
      else {
        log.warn(
          'The node offers neither trace_block nor debug_traceBlockByNumber: coins sent by contracts will not be seen. ' +
            'Use a node with one of them to see them.',
        );
      }
    }
    return this.#traceMethod;
  }

  async #factsOf(token: Address): Promise<TokenFacts> {
    const known = this.#facts.get(token);
    if (known !== undefined) return known;
    const facts = await readFacts(this.#parts.node, token);
    if (this.#facts.size >= 10_000) this.#facts.clear();
    this.#facts.set(token, facts);
    return facts;
  }
}
