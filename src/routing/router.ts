import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AlertTarget } from '../domain/alert.ts';
import { type Clock, SECOND } from '../domain/clock.ts';
import { type Inbox, isOperatorScope, type Receiver } from '../domain/inbox.ts';
import type { Outbox } from '../domain/sender.ts';
import { MIB } from '../domain/units.ts';
import { isDatabaseFault } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { type Decided, type DecideOptions, decide, type ParsedRow, parseRow, refuse } from './decide.ts';
import { createRepeatMarker } from './scam.ts';

/** Per commit, unless one body has more: more would cost less disk time but block the event loop for longer. */
const MAX_ROUTED = { limit: 400, bytes: MIB };
/** A busy receiver leaves routing a fiftieth of the time: routing waits this many times as long as its last commit. */
const YIELD_FACTOR = 49;
const MIN_YIELD_MS = 250;
const MAX_YIELD_MS = 5_000;
const BUSY_CHECK_MS = 10;
/** Pause after a failure of the database's file, such as a full disk. */
const PAUSE_MS = 500;

export interface RouterOptions extends Omit<DecideOptions, 'markRepeat'> {
  receiver: Receiver;
  outbox: Outbox;
  log: Logger;
  metrics: { routed: { inc(events: number): void } };
  /** Reads balances once alerts are stored; null: no network has a node. */
  balances: { wake(): void } | null;
  clock: Clock;
}

/** Turns stored deliveries into alerts, oldest first, several per commit. */
export function startRouter(options: RouterOptions) {
  const { store, receiver, outbox, metrics, balances, log, clock } = options;
  const deciding = { ...options, markRepeat: createRepeatMarker() };
  const quarantine = limitQuarantine(store, options);
  let isWanted = false;
  /** A commit failed, but it may be stored. */
  let isUnconfirmed = false;
  let tookMs = 0;
  /** Stored alerts whose transaction continues in the next commit, whose look-ups may outlast the gathering. */
  let unfinished: AlertTarget[] = [];
  let isClosing = false;
  let cancelRetry = (): void => undefined;
  let running: Promise<void> | null = null;

  function wake(): void {
    isWanted = true;
    if (!running && !isClosing) running = run();
  }

  async function run(): Promise<void> {
    while (isWanted && !isClosing) {
      isWanted = false;
      try {
        await yieldToReceiver();
        let items = (await store.inbox.next(MAX_ROUTED.limit, MAX_ROUTED.bytes)).map(parseRow);
        if (isUnconfirmed) void outbox.rescan();
        isUnconfirmed = false;
        while (items.length > 0 && !isClosing) {
          const began = performance.now();
          items = await route(items);
          tookMs = performance.now() - began;
          await yieldToReceiver();
        }
      } catch (error) {
        if (isClosing) break;
        log.error({ err: error }, 'routing paused');
        isUnconfirmed = true;
        // Only one retry, however often it was woken: retries that add up would fill the disk with log lines.
        cancelRetry();
        cancelRetry = clock.after(PAUSE_MS, wake);
      }
    }
    running = null;
  }

  /** Receiving has priority; the inbox is already on disk. In real time, because the load is real. */
  async function yieldToReceiver(): Promise<void> {
    const until = performance.now() + Math.min(MAX_YIELD_MS, Math.max(MIN_YIELD_MS, tookMs * YIELD_FACTOR));
    while (receiver.isBusy() && !isClosing && performance.now() < until) await sleep(BUSY_CHECK_MS);
  }

  /** Routes deliveries in one commit; if that fails because of one of them, each on its own. Returns the next ones. */
  async function route(items: ParsedRow[]): Promise<ParsedRow[]> {
    try {
      return await commit(await decide(items, deciding), MAX_ROUTED);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      for (const item of items) await routeAlone(item);
      isWanted = true;
      return [];
    }
  }

  /** Quarantines a delivery that cannot be looked up or stored, so that it does not hold up the others. */
  async function routeAlone(item: ParsedRow): Promise<void> {
    try {
      await commit(await decide([item], deciding), null);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      await commit(refuse(item.row, error, clock.now()), null);
    }
  }

  async function commit({ decided, result }: Decided, after: typeof MAX_ROUTED | null): Promise<ParsedRow[]> {
    const { edited, next } = await store.routing.commit(result, after);
    for (const decision of decided) logDecision(log, decision, result.now);
    metrics.routed.inc(decided.length);
    balances?.wake();
    if (result.quarantined.length > 0) quarantine.added();

    const items = next.map(parseRow);
    const [hashes, goesOn] = [new Set<string>(), new Set<string>()];
    for (const item of items) if ('event' in item) hashes.add(`${item.row.scope} ${item.event.transfer.txHash}`);
    for (const { key, scope, transfer } of result.transfers)
      if (hashes.has(`${scope} ${transfer.txHash}`)) goesOn.add(key);
    const ready = [...unfinished, ...edited];
    unfinished = [];
    for (const alert of result.alerts) (goesOn.has(alert.transferKey) ? unfinished : ready).push(alert);
    outbox.wake(ready);
    return items;
  }

  return {
    ...({ wake } satisfies Inbox),
    measureQuarantine: quarantine.measure,
    idle: async (): Promise<void> => {
      while (running) await running;
    },
    async close(): Promise<void> {
      isClosing = true;
      cancelRetry();
      await running;
    },
  };
}

const MAX_CHANNELS = 20;

/** `inbox` is the number by which the log line of the message names the delivery again. */
function logDecision(log: Logger, decision: Decided['decided'][number], now: number): void {
  const { row } = decision;
  if ('reason' in decision) {
    const { reason, error } = decision;
    if (error === undefined) log.warn({ inbox: row.id, reason }, 'delivery quarantined');
    else log.error({ err: error, inbox: row.id }, 'routing failed: delivery quarantined');
    return;
  }
  const { alerts, decisions, transfer, verdict, isEdit } = decision;
  const level = alerts.length > 0 || isEdit ? 'info' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  const hidden: Record<string, number> = {};
  for (const { outcome } of decisions) if (outcome !== 'matched') hidden[outcome] = (hidden[outcome] ?? 0) + 1;
  const line = {
    inbox: row.id,
    scope: row.scope,
    tx: transfer.transfer.txHash,
    verdict,
    ...(transfer.count > 1 && { count: transfer.count }),
    alerts: alerts.length,
    channels: alerts.slice(0, MAX_CHANNELS).map(({ channelId }) => channelId),
    hidden,
    ms: now - row.receivedAt,
  };
  log[level](line, 'routed');
}

/** How much of what the operator's URL received keeps its bytes: unreadable bodies must not fill the disk. */
const KEPT = { rows: 10_000, bytes: 50 * MIB };
const KEPT_OF_GUILD = { rows: 1_000, bytes: 5 * MIB };
const MEASURE_EVERY_MS = 10 * SECOND;

/** Lets the oldest deliveries in quarantine give up their bytes where there are too many. It refuses nothing. */
export function limitQuarantine(
  { quarantine }: Pick<Store, 'quarantine'>,
  { clock, log }: { clock: Pick<Clock, 'elapsed'>; log: Logger },
) {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let isFull = new Set<number>();

  async function measure(): Promise<void> {
    measuredAt = clock.elapsed();
    try {
      const full = new Set<number>();
      for (const size of await quarantine.sizes()) {
        const { scope, rows, bytes } = size;
        const keep = isOperatorScope(scope) ? KEPT : KEPT_OF_GUILD;
        // Another one takes the place of each that gives up its bytes, so a full quarantine stays at the limit.
        if (rows < keep.rows && bytes < keep.bytes) continue;
        full.add(scope);
        let givenUp = 0;
        for (;;) {
          const step = await quarantine.giveUp(scope, keep);
          if (step === 0) break;
          givenUp += step;
        }
        if (!isFull.has(scope))
          log.error(
            { ...size, givenUp },
            'quarantine is full: its oldest deliveries lose their bytes (npm run deadletters -- list)',
          );
      }
      isFull = full;
    } catch (error) {
      log.warn({ err: error }, 'cannot measure the quarantine');
    }
  }

  return {
    measure,
    added(): void {
      if (clock.elapsed() - measuredAt >= MEASURE_EVERY_MS) void measure();
    },
  };
}
