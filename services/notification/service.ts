import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import { profileOf } from '../chain/profiles.ts';
import { createReader } from '../chain/reader.ts';
import type { TokenFacts } from '../chain/token.ts';
import { createChainCheck } from './chain-check.ts';
import { createDeliverer } from './deliverer.ts';
import { type EventStyle, fromDraft } from './event.ts';
import { createGaps } from './gaps.ts';
import { createReach } from './reach.ts';
import { createReplays } from './replay.ts';
import { createScanner, type ScannerStatus } from './scanner.ts';
import type { Gap } from './store/chain.ts';
import type { CompletedDelivery, KeptDelivery } from './store/deliveries.ts';
import { type NotificationStore, openStore } from './store/index.ts';
import { createTokens } from './tokens.ts';
import type { DeliveryProgress, Faults, Notification } from './types.ts';

/** What the notification service works with. */
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
  /** Whether a project still exists; nothing is sent for one that was removed. Default: always. */
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
  /** A new block is said to be there. */
  onHead(): void;
  /** Something stored became due. */
  nudge(): void;
  close(): Promise<void>;
}

/** How the service does. */
export interface NotificationStatus extends ScannerStatus {
  chainId: string | null;
  profile: string;
  /** Why scanning is refused; null when it is not. */
  refused: string | null;
  gaps: Gap[];
  quarantined: number;
  pending: number;
  sparedReceivers: string[];
}

const SHRINK_EVERY_MS = MINUTE;

/** Opens the file and connects the parts; nothing runs before `start`. */
export function openNotification(parts: NotificationParts): RunningNotification {
  const { node, clock, log, style, pollMs, random = Math.random, isServed = () => true } = parts;
  const store = openStore(parts.dir);
  const listeners = new Set<(progress: DeliveryProgress) => void>();
  let faults: Faults = { repeat: 0, repeatAfterMs: 15 * SECOND, delayMs: 0, reorder: false, paused: false };
  let isStopping = false;
  let cancelPoll = () => {};
  let cancelShrink = () => {};
  let working: Promise<void> | null = null;
  const reach = createReach(parts.webhookAllow);
  const profile = () => profileOf(store.chain.state()?.chainId ?? '');
  const onProgress = (progress: DeliveryProgress) => {
    for (const listener of listeners) listener(progress);
  };
  const deliverer = createDeliverer({
    store,
    clock,
    log,
    reach,
    random,
    faults: () => faults,
    secretsOf: parts.secretsOf,
    isServed,
    onProgress,
    onAttempt: parts.onAttempt ?? (() => {}),
  });
  const report = ({ id: deliveryId, webhookId, projectId, txHash, blockNumber, body }: CompletedDelivery) =>
    onProgress({ type: 'matched', deliveryId, webhookId, projectId, txHash, blockNumber, body, at: clock.now() });
  const onDeliveries = (deliveries: readonly KeptDelivery[]) => {
    for (const { body, ...delivery } of deliveries) if (body !== null) report({ ...delivery, body });
    if (deliveries.length === 0) deliverer.nudge();
    else deliverer.expect(deliveries.filter(({ body, confirmAt }) => body !== null && confirmAt === null));
  };
  const complete = (token: string, facts: TokenFacts) => {
    for (const delivery of store.deliveries.name(token, (draft) => fromDraft(draft, facts, style))) report(delivery);
    const { head, next } = scanner.status();
    const heights = { head: head ?? (next ?? 0) - 1, safe: null, finalized: null };
    for (const webhookId of store.deliveries.release(heights, clock.now())) {
      deliverer.expect([{ webhookId, dueAt: clock.now() }]);
    }
  };
  const tokens = createTokens({ node, store, clock, log, complete });
  const reader = createReader({ node, clock, profile });
  const check = createChainCheck({
    node,
    clock,
    log,
    state: () => store.chain.state(),
    identify: (identity) => store.chain.identify(identity),
  });
  const scanner = createScanner({
    node,
    reader,
    store,
    tokens,
    check,
    clock,
    log,
    profile,
    style,
    isServed,
    delayMs: () => faults.delayMs,
    onDeliveries,
    onTraces: () => gaps.wake(),
  });
  const gaps = createGaps({ reader, store, scanner, clock, log, isStopping: () => isStopping, onDeliveries });
  const replays = createReplays({ reader, store, scanner, log, isStopping: () => isStopping, onDeliveries });

  /** What is not urgent, in its own time: a call that hangs here holds up no new block. */
  const workAside = (): Promise<void> => {
    working ??= Promise.all([tokens.work(), gaps.work().then(() => replays.work())])
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!isStopping) log.warn({ err: error }, 'cannot complete earlier blocks or tokens: trying again');
      })
      .finally(() => {
        working = null;
      });
    return working;
  };
  const poll = async (): Promise<void> => {
    cancelPoll();
    await scanner.scan().catch(() => undefined); // Logged, and tried again.
    if (isStopping) return;
    void workAside();
    cancelPoll = clock.after(pollMs, () => void poll());
  };
  const shrink = (): void => {
    try {
      store.shrink();
    } catch (error) {
      log.error({ err: error }, 'cannot shrink the database');
    }
    cancelShrink = clock.after(SHRINK_EVERY_MS, shrink);
  };

  return {
    store,
    permits: reach.permits,
    onProgress(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    faults: () => ({ ...faults }),
    setFaults(change) {
      faults = { ...faults, ...change };
      deliverer.nudge();
    },
    async scan() {
      try {
        await scanner.scan();
      } finally {
        await working;
        await workAside();
      }
    },
    deliverNow: () => deliverer.deliverNow(),
    pending: () => store.deliveries.countPending(),
    status: () => ({
      ...scanner.status(),
      chainId: store.chain.state()?.chainId ?? null,
      profile: profile().name,
      refused: check.refused(),
      gaps: store.chain.gaps(),
      quarantined: store.chain.countQuarantine(),
      pending: store.deliveries.countPending(),
      sparedReceivers: deliverer.spared(),
    }),
    async start() {
      deliverer.start();
      store.chain.wakeGaps();
      cancelShrink = clock.after(SHRINK_EVERY_MS, shrink);
      await poll();
    },
    onHead() {
      if (!isStopping) void poll();
    },
    nudge: () => deliverer.nudge(),
    async close() {
      isStopping = true;
      cancelPoll();
      cancelShrink();
      await scanner.stop();
      await working;
      await deliverer.stop();
      store.close();
    },
  };
}
