import { backOff, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { TracesFailed } from '../chain/traces.ts';
import { lastEmpty } from './missed.ts';
import type { ChainParts } from './scanner.ts';
import type { Gap } from './store/gaps.ts';

const MAX_BLOCKS = 100;
const BACK_OFF = { base: SECOND, max: 10 * MINUTE };
const ALARM_MS = 10 * MINUTE;
const TRACE_PATIENCE_MS = MINUTE;

export function createGaps({ node, reader, store, forks, eventsOf, clock, log, stopping, onDeliveries }: ChainParts) {
  const alarmed = new Set<string>();

  /** null when it was completed. */
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
    const empty = gap.part === 'block' ? await lastEmpty(node, gap.first).catch(() => null) : null;
    if (empty !== null) {
      for (let number = gap.first; number <= Math.min(empty, gap.last); number++) store.chain.closeEmpty(number);
      return null;
    }
    const [firstTry, secondTry] = gap.part === 'traces' ? [gap.last, gap.first] : [gap.first, gap.last];
    const failure = await complete(gap, firstTry);
    return failure !== null && secondTry !== firstTry ? await complete(gap, secondTry) : failure;
  }

  function postpone(gap: Gap, failure: Error): void {
    const { part, first, last, since, attempts } = gap;
    const wait = part === 'block' ? BACK_OFF.max : backOff(attempts, BACK_OFF);
    store.chain.postpone(gap, clock.now() + wait, failure.message);
    if (clock.now() - since < ALARM_MS || alarmed.has(nameOf(gap))) return;
    alarmed.add(nameOf(gap));
    log.error(
      { err: failure, part, first, last },
      part === 'traces'
        ? 'no node has the traces of these blocks: coins sent by contracts are still to be reported. ' +
            'A node that keeps old traces, in RPC_TRACE_URL, closes the gap'
        : 'still missing blocks: their transfers are reported once a node returns them. RPC_URL may name one that keeps them',
    );
  }

  return async (): Promise<void> => {
    for (let count = 0; count < MAX_BLOCKS && !stopping.aborted; count++) {
      const gap = store.chain.dueGap(clock.now());
      if (gap === undefined || !store.webhooks.hasAddresses()) return;
      const failure = await tryGap(gap);
      if (stopping.aborted) return;
      if (failure !== null) postpone(gap, failure);
      else if (gap.first === gap.last && alarmed.delete(nameOf(gap)))
        log.info({ ...gap }, 'blocks that were missing are complete');
    }
  };
}

const nameOf = ({ part, first }: Gap): string => `${part} ${first}`;
