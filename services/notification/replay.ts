import { backOff, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { NodeUnreachable } from '../chain/node.ts';
import { TracesFailed } from '../chain/traces.ts';
import { lastEmpty } from './missed.ts';
import type { ChainParts } from './scanner.ts';
import type { Replay } from './store/replays.ts';
import type { Webhook } from './store/webhooks.ts';

const MAX_BLOCKS = 50;
const BACK_OFF = { base: SECOND, max: 10 * MINUTE };
const TRACE_PATIENCE_MS = 10 * MINUTE;

interface Failure {
  attempts: number;
  since: number;
  retryAt: number;
}

export function createReplays({ node, reader, store, eventsOf, clock, log, stopping, onDeliveries }: ChainParts) {
  const failures = new Map<number, Failure>();
  /** For as long as no node has the traces of their blocks. */
  const untraced = new Set<number>();

  function watchersFor(replay: Replay) {
    const addresses = replay.addresses === null ? null : new Set(replay.addresses);
    return (address: string): readonly Webhook[] => {
      if (addresses !== null && !addresses.has(address.toLowerCase())) return [];
      return store.webhooks.watchersOf(address).filter(({ id }) => id === replay.webhookId);
    };
  }

  function continueWithout(failure: TracesFailed, { id, webhookId, next }: Replay): void {
    if (untraced.has(id)) return;
    if (clock.now() - (failures.get(id)?.since ?? clock.now()) < TRACE_PATIENCE_MS) throw failure;
    untraced.add(id);
    log.error(
      { err: failure, replay: id, webhookId, blockNumber: next },
      'no node has the traces from this block on: the replay continues without what contracts paid',
    );
  }

  async function readNext(replay: Replay): Promise<void> {
    const contents = await reader.read(replay.next);
    const { block, moves } = contents;
    const known = store.chain.hashAt(replay.next);
    if (known !== undefined && known !== block.hash) {
      throw new NodeUnreachable(`The node has another block ${replay.next} than the one that was read before`);
    }
    if (moves instanceof TracesFailed) continueWithout(moves, replay);
    else untraced.delete(replay.id);
    const only = { watchersOf: watchersFor(replay), replay: replay.isForced ? replay.id : 0 };
    const { deliveries } = await eventsOf(contents, 'both', only);
    reader.done(block.hash);
    const kept = store.replays.keep(replay, deliveries);
    if (kept.length > 0) onDeliveries(kept);
    if (replay.next >= replay.last) log.info({ replay: replay.id, webhookId: replay.webhookId }, 'replay complete');
  }

  function noteFailure({ id, webhookId, next }: Replay, error: Error): void {
    const { attempts, since } = failures.get(id) ?? { attempts: 0, since: clock.now() };
    failures.set(id, { attempts: attempts + 1, since, retryAt: clock.now() + backOff(attempts, BACK_OFF) });
    store.replays.noteError(id, error.message);
    if (attempts === 0) {
      log.warn({ err: error, replay: id, webhookId, blockNumber: next }, 'cannot read a block for a replay: retrying');
    }
  }

  async function continueOne(id: number): Promise<void> {
    for (let count = 0; count < MAX_BLOCKS && !stopping.aborted; count++) {
      const replay = store.replays.find(id);
      if (replay === undefined || replay.next >= (store.chain.state()?.nextBlock ?? 0)) return;
      try {
        await readNext(replay);
        failures.delete(id);
      } catch (error) {
        if (stopping.aborted) return;
        if ((await lastEmpty(node, replay.next).catch(() => null)) !== null) {
          store.replays.keep(replay, []);
          continue;
        }
        noteFailure(replay, error as Error);
        return;
      }
    }
  }

  return async (): Promise<void> => {
    for (const id of store.replays.ids()) {
      if (!stopping.aborted && (failures.get(id)?.retryAt ?? 0) <= clock.now()) await continueOne(id);
    }
  };
}
