import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import { profileOf } from '../chain/profiles.ts';
import { type ChainWork, createChainWork } from './chain-work.ts';
import { createDeliverer } from './deliverer.ts';
import type { EventStyle } from './event.ts';
import { createHandOver } from './hand-over.ts';
import { createLoop } from './loop.ts';
import { createReach } from './reach.ts';
import type { ScannerStatus } from './scanner.ts';
import type { Gap } from './store/gaps.ts';
import { type NotificationStore, openStore } from './store/index.ts';
import type { DeliveryProgress, Faults, Notification } from './types.ts';

/** Dependencies of the notification service. */
export interface NotificationOptions {
  node: Nodes;
  /** The folder of the SQLite file. */
  dir: string;
  clock: Clock;
  log: Logger;
  style: EventStyle;
  pollMs: number;
  /** Private addresses and CIDRs that deliveries may go to. */
  webhookAllow: readonly string[];
  secretsOf: (projectId: string) => readonly string[];
  /** Whether a project still exists. Nothing is sent for a removed project. */
  isServed: (projectId: string) => boolean;
  random?: () => number;
  onAttempt: (result: string) => void;
}

/** The notification service without its HTTP side. */
export interface RunningNotification extends Notification {
  store: NotificationStore;
  status(): NotificationStatus;
  /** Whether a receiver's IP address may be reached. */
  permits(ip: string): boolean;
  /** Resolves once the chain was read for the first time; it is read again at each poll. */
  start(): Promise<void>;
  /** Call when a node announces a new block. */
  onHead(): void;
  /** Call when a stored delivery became due. */
  nudge(): void;
  close(): Promise<void>;
}

/** The state of the service. */
export interface NotificationStatus extends ScannerStatus {
  chainId: string | null;
  profile: string;
  /** Why scanning is refused; null when it is not. */
  refused: string | null;
  gaps: Gap[];
  quarantined: number;
  pending: number;
  pausedReceivers: string[];
}

const SHRINK_EVERY_MS = MINUTE;
const NO_FAULTS: Faults = { repeat: 0, repeatAfterMs: 15 * SECOND, delayMs: 0, reorder: false, paused: false };

/** Opens the file and connects the parts; nothing runs before `start`. @throws as {@link openStore}. */
export function openNotification(options: NotificationOptions): RunningNotification {
  const { node, clock, log, style, random = Math.random, isServed, onAttempt } = options;
  const reach = createReach(options.webhookAllow);
  const progress = createProgress();
  const faults = createFaults();
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const stack = new AsyncDisposableStack();
  const store = stack.adopt(openStore(options.dir), (it) => it.close());
  const deliverer = createDeliverer({
    store,
    clock,
    log,
    reach,
    random,
    faults: faults.get,
    secretsOf: options.secretsOf,
    isServed,
    onProgress: progress.report,
    onAttempt,
  });
  stack.defer(() => deliverer.stop());
  const handOver = createHandOver({ store, clock, style, deliverer, report: progress.report });
  const chainWork = createChainWork({
    node,
    store,
    clock,
    log,
    style,
    isServed,
    delayMs: () => faults.get().delayMs,
    isStopping,
    onDeliveries: handOver.deliveries,
    onDue: () => deliverer.nudge(),
    onToken: handOver.token,
  });
  const { scanner, check, backlog } = chainWork;
  const scanning = createScanLoop(chainWork, options, isStopping);
  const shrinking = createLoop(clock, () => shrink(store, log), SHRINK_EVERY_MS);
  stack.defer(async () => {
    await Promise.all([scanner.stop(), scanning.stop(), shrinking.stop(), backlog.stop()]);
  });

  function status(): NotificationStatus {
    const chainId = store.chain.state()?.chainId ?? null;
    return {
      ...scanner.status(),
      chainId,
      profile: profileOf(chainId ?? '').name,
      refused: check.refused(),
      gaps: store.chain.gaps(),
      quarantined: store.chain.countQuarantine(),
      pending: store.deliveries.countPending(),
      pausedReceivers: deliverer.paused(),
    };
  }

  return {
    store,
    permits: reach.permits,
    onProgress: progress.listen,
    faults: () => ({ ...faults.get() }),
    setFaults(change) {
      faults.change(change);
      deliverer.nudge();
    },
    async scan() {
      try {
        await scanner.scan();
      } finally {
        await backlog.rerun();
      }
    },
    deliverNow: () => deliverer.deliverNow(),
    pending: () => store.deliveries.countPending(),
    status,
    async start() {
      deliverer.start();
      store.chain.wakeGaps();
      void shrinking.run();
      await scanning.run();
    },
    onHead: () => scanning.wake(),
    nudge: () => deliverer.nudge(),
    close() {
      stopping.abort();
      return stack.disposeAsync();
    },
  };
}

/** Creates the faults of the service, none at first. */
function createFaults() {
  let faults = NO_FAULTS;
  return {
    get: () => faults,
    change(change: Partial<Faults>): void {
      faults = { ...faults, ...change };
    },
  };
}

/** Creates the loop that reads new blocks, and then starts the work on missing parts of earlier ones. */
function createScanLoop(
  { scanner, backlog }: ChainWork,
  { clock, pollMs }: NotificationOptions,
  isStopping: () => boolean,
) {
  return createLoop(
    clock,
    async () => {
      await scanner.scan().catch(() => undefined); // The scanner logs it; the loop tries again.
      if (!isStopping()) backlog.start();
    },
    pollMs,
  );
}

/** Reports every step of every delivery to listeners. */
function createProgress() {
  const listeners = new Set<(progress: DeliveryProgress) => void>();
  return {
    report(progress: DeliveryProgress): void {
      for (const listener of listeners) listener(progress);
    },
    listen(listener: (progress: DeliveryProgress) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function shrink(store: NotificationStore, log: Logger): Promise<void> {
  try {
    store.shrink();
  } catch (error) {
    log.error({ err: error }, 'cannot shrink the database');
  }
}
