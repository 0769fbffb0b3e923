import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { NewAlert } from '../domain/alert.ts';
import { type Clock, SECOND } from '../domain/clock.ts';
import type { Inbox, Receiver } from '../domain/inbox.ts';
import { isOperatorScope } from '../domain/project.ts';
import type { Outbox } from '../domain/sender.ts';
import { MIB } from '../domain/units.ts';
import { isDatabaseFault } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { type DecideOptions, decide, type ParsedRow, parseRow, quarantineOne } from './decide.ts';
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
  count(events: number): void;
  clock: Clock;
}

/** Turns stored deliveries into alerts, oldest first, several per commit. */
export function startRouter(options: RouterOptions) {
  const { store, receiver, outbox, count, log, clock } = options;
  const markRepeat = createRepeatMarker();
  const quarantine = limitQuarantine(store, options);
  let isWanted = false;
  /** A commit failed, but it may be stored. */
  let isUnconfirmed = false;
  let tookMs = 0;
  /** Stored alerts whose transaction the next commit goes on with: its look-ups may outlast the gathering. */
  let unfinished: NewAlert[] = [];
  let isClosing = false;
  let cancelRetry = (): void => undefined;
  let running: Promise<void> | null = null;

  function wake(): void {
    isWanted = true;
    if (running || isClosing) return;
    running = run().finally(() => {
      running = null;
      if (isWanted && !isClosing) wake();
    });
  }

  async function run(): Promise<void> {
    while (isWanted && !isClosing) {
      isWanted = false;
      try {
        await yieldToReceiver();
        let items = await nextItems();
        if (isUnconfirmed) void outbox.rescan();
        isUnconfirmed = false;
        while (items.length > 0 && !isClosing) {
          const began = performance.now();
          items = await route(items);
          tookMs = performance.now() - began;
          await yieldToReceiver();
        }
      } catch (error) {
        if (isClosing) return;
        log.error({ err: error }, 'routing paused');
        isUnconfirmed = true;
        // Only one retry, however often it was woken: retries that add up would fill the disk with log lines.
        cancelRetry();
        cancelRetry = clock.after(PAUSE_MS, wake);
        return;
      }
    }
  }

  /** Receiving has priority; the inbox is already on disk. In real time, because the load is real. */
  async function yieldToReceiver(): Promise<void> {
    const until = performance.now() + Math.min(MAX_YIELD_MS, Math.max(MIN_YIELD_MS, tookMs * YIELD_FACTOR));
    while (receiver.isBusy() && !isClosing && performance.now() < until) await sleep(BUSY_CHECK_MS);
  }

  /** Routes deliveries in one commit; if that fails because of one of them, each on its own. Returns the next ones. */
  async function route(items: ParsedRow[]): Promise<ParsedRow[]> {
    try {
      return await routeTogether(items, MAX_ROUTED);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      for (const item of items) await routeAlone(item);
      return nextItems();
    }
  }

  const nextItems = async () => (await store.inbox.next(MAX_ROUTED.limit, MAX_ROUTED.bytes)).map(parseRow);

  async function routeTogether(items: ParsedRow[], after: typeof MAX_ROUTED | null): Promise<ParsedRow[]> {
    const { result, logStored } = await decide(items, { ...options, markRepeat });
    const { edited, next: rows } = await store.routing.commit(result, after);
    logStored();
    const next = rows.map(parseRow);
    const hashes = new Set(next.map((item) => 'event' in item && item.event.transfer.txHash));
    const goesOn = new Set(result.transfers.flatMap(({ key, transfer }) => (hashes.has(transfer.txHash) ? key : [])));
    const { more = [], ready = [] } = Object.groupBy(result.alerts, ({ transferKey }) =>
      goesOn.has(transferKey) ? 'more' : 'ready',
    );
    outbox.wake([...unfinished, ...ready, ...edited]);
    unfinished = more;
    finish(result.done.length, result.quarantined.length);
    return next;
  }

  /** Quarantines a delivery that cannot be looked up or stored, so that it does not hold up the others. */
  async function routeAlone(item: ParsedRow): Promise<void> {
    try {
      await routeTogether([item], null);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      const { id } = item.row;
      await store.routing.commit(quarantineOne(id, error, clock.now()));
      log.error({ err: error, inbox: id }, 'routing failed: delivery quarantined');
      finish(0, 1);
    }
  }

  function finish(done: number, quarantined: number): void {
    count(done + quarantined);
    if (quarantined > 0) quarantine.added();
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

  async function shrink(scope: number, keep: typeof KEPT): Promise<number> {
    let givenUp = 0;
    for (;;) {
      const step = await quarantine.giveUp(scope, keep);
      if (step === 0) return givenUp;
      givenUp += step;
    }
  }

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
        const givenUp = await shrink(scope, keep);
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
