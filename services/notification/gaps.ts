import type { Logger } from 'pino';
import { backOff } from '../../src/domain/back-off.ts';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { BlockReader } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { BlockEvents } from './block-events.ts';
import type { Forks } from './forks.ts';
import type { Gap } from './store/gaps.ts';
import type { NotificationStore } from './store/index.ts';
import type { KeptDelivery } from './store/new-deliveries.ts';

/** Completes blocks that could not be read, or only in part. */
export interface Gaps {
  /** Tries the gaps that are due, a hundred blocks at most. */
  work(): Promise<void>;
  /** Makes the missing traces due now. */
  wake(): void;
}

const MAX_BLOCKS = 100;
const BACK_OFF = { base: SECOND, max: 10 * MINUTE };
/** How long a gap may last before it is an error. */
const ALARM_MS = 10 * MINUTE;
const TRACE_PATIENCE_MS = MINUTE;

/** Creates the worker for gaps. */
export function createGaps(options: {
  reader: BlockReader;
  store: NotificationStore;
  forks: Forks;
  eventsOf: BlockEvents;
  clock: Clock;
  log: Logger;
  isStopping(): boolean;
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
}): Gaps {
  const { reader, store, forks, eventsOf, clock, log, isStopping, onDeliveries } = options;
  const alarmed = new Set<string>();

  /** Returns why a block could not be completed, or null when it was. */
  async function complete({ part }: Gap, number: number): Promise<Error | null> {
    try {
      const contents = await reader.read(number, TRACE_PATIENCE_MS);
      const { block, moves } = contents;
      const before = store.chain.hashAt(number - 1);
      if (before !== undefined && before !== block.parentHash) {
        if (await forks.follow(number - 1)) return null;
        return new Error(`the node's blocks ${number - 1} and ${number} do not fit together`);
      }
      const failure = moves instanceof TracesFailed ? moves : null;
      if (part === 'traces' && failure !== null) return failure;
      const read = await eventsOf(contents, part === 'traces' ? 'inner' : 'both');
      const kept = await store.chain.fill(part, { ...read, tracesMissing: failure?.message ?? null }, clock.now());
      reader.done(block.hash);
      if (kept === null) return new Error('the node has another block here than the one that was read');
      if (kept.length > 0) onDeliveries(kept);
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  /** Old traces are pruned first, so the newest block is tried first; whole blocks come in the chain's order. */
  async function tryGap(gap: Gap): Promise<Error | null> {
    const [one, other] = gap.part === 'traces' ? [gap.last, gap.first] : [gap.first, gap.last];
    const failure = await complete(gap, one);
    return failure !== null && other !== one ? await complete(gap, other) : failure;
  }

  return {
    async work() {
      for (let count = 0; count < MAX_BLOCKS && !isStopping(); count++) {
        const gap = store.chain.dueGap(clock.now());
        if (gap === undefined || !store.webhooks.hasAddresses()) return;
        const failure = await tryGap(gap);
        if (isStopping()) return;
        const name = `${gap.part} ${gap.first}`;
        if (failure === null) {
          if (gap.first === gap.last && alarmed.delete(name))
            log.info({ ...gap }, 'blocks that were missing are complete');
          continue;
        }
        const wait = gap.part === 'block' ? BACK_OFF.max : backOff(gap.attempts, BACK_OFF);
        store.chain.postpone(gap, clock.now() + wait, failure.message);
        if (clock.now() - gap.since < ALARM_MS || alarmed.has(name)) continue;
        alarmed.add(name);
        log.error(
          { err: failure, part: gap.part, first: gap.first, last: gap.last },
          gap.part === 'traces'
            ? 'no node has the traces of these blocks: coins sent by contracts are still to be reported. ' +
                'A node that keeps old traces, in RPC_TRACE_URL, closes the gap'
            : 'still missing blocks: their transfers are reported once a node returns them. RPC_URL may name one that keeps them',
        );
      }
    },
    wake() {
      store.chain.wakeGaps('traces');
    },
  };
}
