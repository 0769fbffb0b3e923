import type { Logger } from 'pino';
import { readBlock, readReceipts } from '../chain/block.ts';
import { type Node, type NodeBlock, NodeBusy } from '../chain/node.ts';
import type { Clock } from '../clock.ts';
import type { NewDelivery, NotificationStore } from './store.ts';

/** How long a block that cannot be read holds up those after it, in milliseconds. */
const patienceMs = 600_000;

/** How long blocks that were left for later are not asked for again, in milliseconds. */
const restMs = 600_000;

/** How many of them are told before new blocks have their turn again. */
const fewBlocks = 100;

interface MissedParts {
  node: Node;
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  deliveriesOf(block: NodeBlock): Promise<NewDelivery[]>;
  /** Whether the block before is another one than the one that was told. */
  isReorganised(block: NodeBlock): Promise<boolean>;
  onDeliveries(deliveries: (NewDelivery & { id: number })[]): void;
}

/** Blocks that the node does not give although it gives newer ones, as one that has pruned them: told as soon as it does. */
export class Missed {
  readonly #parts: MissedParts;
  #stuck: { at: number; since: number } | undefined;
  /** Until when another block that cannot be read need not be waited for, in milliseconds since 1970. */
  #passingUntil = 0;
  #restUntil = 0;
  /** The first blocks of those that the log has named since the start. */
  readonly #named = new Set<number>();

  constructor(parts: MissedParts) {
    this.#parts = parts;
  }

  /**
   * Leaves a block that cannot be read for later, with those after it that cannot either; answers the last of them.
   *
   * @throws the given error while there is patience left, and where the newest block cannot be read either.
   */
  async pass(first: number, head: number, error: Error): Promise<number> {
    const { clock, log } = this.#parts;
    if (error instanceof NodeBusy) throw error;
    if (this.#stuck?.at !== first) this.#stuck = { at: first, since: clock.now() };
    const isWaitedFor = clock.now() - this.#stuck.since < patienceMs && clock.now() >= this.#passingUntil;
    if (isWaitedFor || first >= head || !(await this.#isReadable(head))) throw error;
    const last = await this.#lastUnreadable(first, head);
    // A node that went away meanwhile gives no block at all.
    if (!(await this.#isReadable(head))) throw error;
    this.#passingUntil = clock.now() + patienceMs;
    this.#restUntil = clock.now() + restMs;
    this.#named.add(first);
    log.error({ err: error, first, last }, `The node does not give these blocks, but newer ones: ${whatNow}`);
    return last;
  }

  /** Tells what the node gives by now of the blocks that were left for later. */
  async tell(isClosing: () => boolean): Promise<void> {
    const { store, clock, log } = this.#parts;
    if (clock.now() < this.#restUntil) return;
    let told = 0;
    for (const { first, last } of store.missed()) {
      for (let number = first; number <= last; number++) {
        if (isClosing() || told >= fewBlocks) return;
        const failure = await this.#tell(number);
        if (isClosing() || failure === 'reorganised') return;
        if (failure !== undefined) {
          if (!this.#named.has(number)) log.warn({ err: failure, first: number, last }, `Still missing: ${whatNow}`);
          this.#named.add(number);
          break;
        }
        told += 1;
        if (number === last) log.info({ first, last }, 'Blocks that were left for later are told');
      }
    }
    if (told < fewBlocks) this.#restUntil = clock.now() + restMs;
  }

  /** Tells one block; answers why the node does not give it, or that what was told before it goes first. */
  async #tell(number: number): Promise<Error | 'reorganised' | undefined> {
    const { node, store, deliveriesOf, isReorganised, onDeliveries } = this.#parts;
    let hash: string;
    let deliveries: NewDelivery[];
    try {
      const block = await readBlock(node, number);
      if (await isReorganised(block)) {
        store.commit({ ...store.cursor()!, next: number - 1 });
        return 'reorganised';
      }
      ({ hash } = block);
      deliveries = store.toldAt(number).includes(hash) ? [] : await deliveriesOf(block);
    } catch (error) {
      return error as Error;
    }
    const kept = store.commitMissed(number, hash, deliveries);
    if (kept.length > 0) onDeliveries(kept);
    return undefined;
  }

  /** Looks ever further for a block that can be read, and then between it and the last that could not. */
  async #lastUnreadable(first: number, head: number): Promise<number> {
    let last = first;
    let readable = head;
    for (let step = 1; last + step < readable; step *= 2) {
      if (await this.#isReadable(last + step)) readable = last + step;
      else last += step;
    }
    while (readable - last > 1) {
      const between = Math.floor((last + readable) / 2);
      if (await this.#isReadable(between)) readable = between;
      else last = between;
    }
    return last;
  }

  /** Whether the node has a block and, which some prune sooner, its receipts. */
  async #isReadable(number: number): Promise<boolean> {
    const { node } = this.#parts;
    try {
      const block = await readBlock(node, number);
      const hashes = block.transactions.slice(0, 1).map(({ hash }) => hash);
      await readReceipts(node, block, hashes);
      return true;
    } catch (error) {
      if (error instanceof NodeBusy) throw error;
      return false;
    }
  }
}

const whatNow =
  'their transfers are told as soon as it does; it is asked every 10 minutes, also after a restart. ' +
  'If it has pruned them, set RPC_URL to a node that keeps them';
