import type { Logger } from 'pino';
import type { BlockReader } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { Scanner } from './scanner.ts';
import type { KeptDelivery } from './store/deliveries.ts';
import type { NotificationStore } from './store/index.ts';
import type { Replay } from './store/replays.ts';
import type { Webhook } from './store/webhooks.ts';

/** Reads earlier blocks again for single webhooks. */
export interface Replays {
  /** Goes on with the replay that waits longest, some blocks at a time. @throws when a block cannot be read. */
  work(): Promise<void>;
}

const MAX_BLOCKS = 50;

/** Creates the worker for replays. */
export function createReplays(parts: {
  reader: BlockReader;
  store: NotificationStore;
  scanner: Scanner;
  log: Logger;
  isStopping(): boolean;
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
}): Replays {
  const { reader, store, scanner, log, isStopping, onDeliveries } = parts;

  const watchersFor = (replay: Replay) => {
    const addresses = replay.addresses === null ? null : new Set(replay.addresses);
    return (address: string): readonly Webhook[] => {
      if (addresses !== null && !addresses.has(address.toLowerCase())) return [];
      return store.webhooks.watchersOf(address).filter(({ id }) => id === replay.webhookId);
    };
  };

  return {
    async work() {
      for (let count = 0; count < MAX_BLOCKS && !isStopping(); count++) {
        const replay = store.replays.first();
        if (replay === undefined || replay.next >= (store.chain.state()?.nextBlock ?? 0)) return;
        const contents = await reader.read(replay.next);
        if (contents.moves instanceof TracesFailed) throw contents.moves;
        const only = { watchersOf: watchersFor(replay), replay: replay.isForced ? replay.id : 0 };
        const { deliveries, hash } = await scanner.deliveriesIn(contents, 'both', only);
        reader.done(hash);
        const kept = store.replays.keep(replay, deliveries);
        if (kept.length > 0) onDeliveries(kept);
        if (replay.next >= replay.last) log.info({ replay: replay.id, webhookId: replay.webhookId }, 'replay complete');
      }
    },
  };
}
