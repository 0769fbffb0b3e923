import { inTime, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { profileOf } from '../chain/profiles.ts';
import { createReader } from '../chain/reader.ts';
import type { TokenFacts } from '../chain/token.ts';
import { Refusal } from '../server.ts';
import { createBlockEvents } from './block-events.ts';
import { createChainCheck } from './chain-check.ts';
import { createDeliverer } from './deliverer.ts';
import { createEgress } from './egress.ts';
import { fromDraft } from './event.ts';
import { createForks } from './forks.ts';
import { createGaps } from './gaps.ts';
import { createLoop } from './loop.ts';
import type { NotificationOptions, Parts } from './parts.ts';
import { createReplays } from './replay.ts';
import { type ChainParts, createScanner } from './scanner.ts';
import type { CompletedDelivery } from './store/deliveries.ts';
import { openStore } from './store/index.ts';
import { createTokens } from './tokens.ts';
import type { DeliveryProgress, Faults, Notification } from './types.ts';

export type RunningNotification = ReturnType<typeof openNotification>;

export type NotificationStatus = ReturnType<RunningNotification['status']>;

const PLACE_PATIENCE_MS = 5 * SECOND;
const SHRINK_EVERY_MS = MINUTE;
const NO_FAULTS: Faults = {
  repeat: 0,
  repeatAfterMs: 15 * SECOND,
  delayMs: 0,
  reorder: false,
  paused: false,
  lose: false,
  invent: false,
};

/** Nothing runs before `start`. @throws as {@link openStore}. */
export function openNotification(options: NotificationOptions) {
  const { node, clock, log, style } = options;
  const egress = createEgress(options.webhookAllow);
  const listeners = new Set<(progress: DeliveryProgress) => void>();
  const report = (progress: DeliveryProgress): void => {
    for (const listener of listeners) listener(progress);
  };
  let faults = NO_FAULTS;
  const stopping = new AbortController();
  const stack = new AsyncDisposableStack();
  const store = stack.adopt(openStore(options.dir), (it) => it.close());
  const parts: Parts = { ...options, store, faults: () => faults, stopping: stopping.signal };
  const deliverer = createDeliverer(parts, egress, report);
  stack.defer(() => deliverer.stop());

  const matched = ({ id: deliveryId, webhookId, projectId, txHash, blockNumber, body }: CompletedDelivery): void =>
    report({ type: 'matched', deliveryId, webhookId, projectId, txHash, blockNumber, body, at: clock.now() });
  const onDeliveries: ChainParts['onDeliveries'] = (deliveries) => {
    for (const { body, ...delivery } of deliveries) if (body !== null) matched({ ...delivery, body });
    deliverer.expect(deliveries.filter(({ state }) => state === 'pending'));
  };

  const profile = () => profileOf(store.chain.state()?.chainId ?? '');
  const reader = createReader({ node, clock, profile });
  const tokens = createTokens(parts);
  const check = createChainCheck(parts);
  const forks = createForks(parts, reader, check);
  const chainParts = { ...parts, reader, forks, eventsOf: createBlockEvents(parts, tokens, profile), onDeliveries };
  const scanner = createScanner(chainParts, tokens, check, deliverer.nudge);

  async function complete(token: string, facts: TokenFacts): Promise<void> {
    const completed = await store.deliveries.name(token, (draft) => fromDraft(draft, facts, style));
    for (const delivery of completed) matched(delivery);
    const { head, next } = scanner.status();
    const heights = { head: head ?? (next ?? 0) - 1, safe: null, finalized: null };
    const webhooks = store.deliveries.release(heights, clock.now());
    deliverer.expect(webhooks.map((webhookId) => ({ webhookId, dueAt: clock.now() })));
  }

  /** A call that hangs in one kind of work delays neither the other kinds nor new blocks. */
  const backlog = [
    { failure: 'cannot read the names of tokens: retrying', work: () => tokens.work(complete) },
    { failure: 'cannot complete earlier blocks: retrying', work: createGaps(chainParts) },
    { failure: 'cannot read earlier blocks for replays: retrying', work: createReplays(chainParts) },
  ].map(({ failure, work }) =>
    createLoop(clock, () =>
      work().catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, failure);
      }),
    ),
  );

  async function scanAndCatchUp(): Promise<void> {
    await scanner.scan().catch(() => undefined); // The scanner logs it; the loop tries again.
    if (stopping.signal.aborted) return;
    for (const loop of backlog) void loop.run();
  }

  async function shrink(): Promise<void> {
    try {
      store.shrink();
    } catch (error) {
      log.error({ err: error }, 'cannot shrink the database');
    }
  }

  const scanning = createLoop(clock, scanAndCatchUp, options.pollMs);
  const shrinking = createLoop(clock, shrink, SHRINK_EVERY_MS);
  stack.defer(async () => {
    const loops = [scanning, shrinking, ...backlog];
    await Promise.all([scanner.ended(), ...loops.map((loop) => loop.stop())]);
  });

  const inProcess: Notification = {
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
        await Promise.all(backlog.map((loop) => loop.rerun()));
      }
    },
    deliverNow: deliverer.deliverNow,
    pending: store.deliveries.countPending,
  };

  return {
    ...inProcess,
    store,
    style,
    clock,
    permits: egress.permits,
    status: () => ({
      ...scanner.status(),
      chainId: store.chain.state()?.chainId ?? null,
      refused: check.refused(),
      gaps: store.chain.gaps(),
      quarantined: store.chain.countQuarantine(),
      pending: store.deliveries.countPending(),
      pausedReceivers: deliverer.paused(),
    }),
    /** Resolves once the chain was read for the first time. */
    async start(): Promise<void> {
      deliverer.start();
      store.chain.wakeGaps();
      void shrinking.run();
      await scanning.run();
    },
    /** Watching then begins at a known block. @throws {Refusal} while no node names one. */
    async fixPlace(): Promise<void> {
      if (store.chain.state() !== undefined) return;
      const scanned = scanner.scan().catch(() => undefined);
      await inTime(scanned, PLACE_PATIENCE_MS, clock);
      if (store.chain.state() !== undefined) return;
      throw new Refusal(503, 'No node responds, so watching cannot begin yet. Nothing was stored: try again later');
    },
    onHead: scanning.wake,
    nudge: deliverer.nudge,
    close(): Promise<void> {
      stopping.abort();
      return stack.disposeAsync();
    },
  };
}
