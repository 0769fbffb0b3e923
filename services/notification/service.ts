import type { Logger } from 'pino';
import type { Node } from '../chain/node.ts';
import type { Clock } from '../clock.ts';
import { Deliverer } from './deliver.ts';
import { Scanner } from './scanner.ts';
import { NotificationStore } from './store.ts';
import type { DeliveryProgress, Faults, Notification } from './types.ts';

interface NotificationParts {
  node: Node;
  /** The folder of the SQLite file. */
  dir: string;
  clock: Clock;
  log: Logger;
  nativeSymbol: string;
  pollMs: number;
  random?: () => number;
}

/** The notification service without its HTTP side. */
export interface RunningNotification extends Notification {
  store: NotificationStore;
  /** Reads the chain a first time and goes on by itself. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file and wires scanner and deliverer; nothing runs before `start`. */
export function openNotification(parts: NotificationParts): RunningNotification {
  const { node, clock, log, nativeSymbol, pollMs, random = Math.random } = parts;
  const store = new NotificationStore(parts.dir);
  const listeners = new Set<(progress: DeliveryProgress) => void>();
  let faults: Faults = { repeat: 0, repeatAfterMs: 15_000, delayMs: 0, reorder: false, paused: false };
  const onProgress = (progress: DeliveryProgress) => {
    for (const listener of listeners) listener(progress);
  };
  const deliverer = new Deliverer({ store, clock, log, random, faults: () => faults, onProgress });
  const scanner = new Scanner({
    node,
    store,
    clock,
    log,
    nativeSymbol,
    pollMs,
    delay: () => faults.delayMs,
    onDeliveries(deliveries) {
      for (const { id, dueAt: _, ...delivery } of deliveries) {
        onProgress({ ...delivery, type: 'matched', deliveryId: id, at: clock.now() });
      }
      deliverer.nudge();
    },
  });
  return {
    store,
    onProgress(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    faults: () => ({ ...faults }),
    setFaults(change) {
      faults = { ...faults, ...change };
      deliverer.nudge();
    },
    scan: () => scanner.scan(),
    deliverNow() {
      store.hasten(clock.now());
      deliverer.nudge();
    },
    pending: () => store.countDeliveries(),
    async start() {
      deliverer.start();
      await scanner.start();
    },
    async close() {
      await scanner.close();
      await deliverer.close();
      store.close();
    },
  };
}
