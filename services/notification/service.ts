import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import { profileOf } from '../chain/profiles.ts';
import type { TokenFacts } from '../chain/token.ts';
import { createChainWork } from './chain-work.ts';
import { createDeliverer, type Deliverer } from './deliverer.ts';
import { type EventStyle, fromDraft } from './event.ts';
import { createLoop } from './loop.ts';
import { createReach } from './reach.ts';
import type { ScannerStatus } from './scanner.ts';
import type { Gap } from './store/gaps.ts';
import { type NotificationStore, openStore } from './store/index.ts';
import type { KeptDelivery } from './store/new-deliveries.ts';
import type { CompletedDelivery } from './store/waiting.ts';
import type { DeliveryProgress, Faults, Notification } from './types.ts';

/** Dependencies of the notification service. */
export interface NotificationParts {
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
  /** Whether a project still exists. Nothing is sent for a removed project. Default: always. */
  isServed?: (projectId: string) => boolean;
  random?: () => number;
  onAttempt?: (result: string) => void;
}

/** The notification service without its HTTP side. */
export interface RunningNotification extends Notification {
  store: NotificationStore;
  status(): NotificationStatus;
  /** Whether a receiver's IP address may be reached. */
  permits(ip: string): boolean;
  /** Reads the chain a first time and goes on by itself. */
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

/** Opens the file and connects the parts; nothing runs before `start`. */
export function openNotification(parts: NotificationParts): RunningNotification {
  const { node, clock, log, style, pollMs, random = Math.random, isServed = () => true } = parts;
  const store = openStore(parts.dir);
  const reach = createReach(parts.webhookAllow);
  const progress = createProgress();
  let faults = NO_FAULTS;
  let isStopping = false;
  const deliverer = createDeliverer({
    store,
    clock,
    log,
    reach,
    random,
    faults: () => faults,
    secretsOf: parts.secretsOf,
    isServed,
    onProgress: progress.report,
    onAttempt: parts.onAttempt ?? (() => {}),
  });
  const handOver = createHandOver({ store, clock, style, deliverer, report: progress.report });
  const { scanner, check, backlog } = createChainWork({
    node,
    store,
    clock,
    log,
    style,
    isServed,
    delayMs: () => faults.delayMs,
    isStopping: () => isStopping,
    onDeliveries: handOver.deliveries,
    onToken: (token, facts) => handOver.token(token, facts, scanner.status()),
  });
  const scanning = createLoop(
    clock,
    async () => {
      await scanner.scan().catch(() => undefined); // Logged, and tried again.
      if (!isStopping) backlog.start();
    },
    pollMs,
  );
  const shrinking = createLoop(clock, () => shrink(store, log), SHRINK_EVERY_MS);

  return {
    store,
    permits: reach.permits,
    onProgress: progress.listen,
    faults: () => ({ ...faults }),
    setFaults(change) {
      faults = { ...faults, ...change };
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
    status() {
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
    },
    async start() {
      deliverer.start();
      store.chain.wakeGaps();
      void shrinking.run();
      await scanning.run();
    },
    onHead: () => scanning.wake(),
    nudge: () => deliverer.nudge(),
    async close() {
      isStopping = true;
      await Promise.all([scanner.stop(), scanning.stop(), shrinking.stop(), backlog.stop()]);
      await deliverer.stop();
      store.close();
    },
  };
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

/** Passes new and completed deliveries to the deliverer and reports them. */
function createHandOver(parts: {
  store: NotificationStore;
  clock: Clock;
  style: EventStyle;
  deliverer: Deliverer;
  report(progress: DeliveryProgress): void;
}) {
  const { store, clock, style, deliverer, report } = parts;
  const matched = ({ id: deliveryId, webhookId, projectId, txHash, blockNumber, body }: CompletedDelivery): void =>
    report({ type: 'matched', deliveryId, webhookId, projectId, txHash, blockNumber, body, at: clock.now() });
  return {
    deliveries(deliveries: readonly KeptDelivery[]): void {
      for (const { body, ...delivery } of deliveries) if (body !== null) matched({ ...delivery, body });
      if (deliveries.length === 0) deliverer.nudge();
      else deliverer.expect(deliveries.filter(({ state }) => state === 'pending'));
    },
    /** Completes the deliveries that wait for a token. */
    async token(token: string, facts: TokenFacts, { head, next }: ScannerStatus): Promise<void> {
      const completed = await store.deliveries.name(token, (draft) => fromDraft(draft, facts, style));
      for (const delivery of completed) matched(delivery);
      const heights = { head: head ?? (next ?? 0) - 1, safe: null, finalized: null };
      for (const webhookId of store.deliveries.release(heights, clock.now())) {
        deliverer.expect([{ webhookId, dueAt: clock.now() }]);
      }
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
