import type { ManualClock } from '../../sandbox/discord/index.ts';
import { GATHER_MS } from '../../src/delivery/schedule.ts';
import { type Clock, HOUR } from '../../src/domain/clock.ts';
import type { Backlog } from '../../src/domain/guild.ts';
import { CHECK_MS } from '../../src/domain/identity.ts';
import { pruneAll } from '../store/contract/given.ts';
import { neverHappened, until } from '../until.ts';
import type { RestartableApp } from './harness.ts';

/** The machine's clock, which may be set wrong. */
export interface Machine extends Clock {
  /** Sets it forward or back; its timers and Discord go on as they were. */
  jump(ms: number): void;
}

export function createMachine(clock: ManualClock, elapsed = clock.elapsed): Machine {
  let wrong = 0;
  return {
    now: () => clock.now() + wrong,
    elapsed,
    after: clock.after.bind(clock),
    jump(ms) {
      wrong += ms;
    },
  };
}

export const NOTHING_WAITS = { inbox: { waiting: 0 }, alerts: { due: 0, held: 0, closed: 0 }, frozen: 0 };

/** How long a bot takes no deliveries after it slept. */
const AWAKE_MS = 1_000;

export function createTime(bot: RestartableApp, clock: ManualClock, machine: Machine) {
  /** The backlog, once every earlier write was confirmed to the part that made it. */
  async function backlog(): Promise<Backlog> {
    const read = await bot.store.metrics.backlog(machine.now());
    // Another thread read it. The writing thread responds in order: the responses to earlier writes came before this one.
    await bot.store.inbox.next(0);
    return read;
  }
  /** Resolves once everything stored has been routed, and every call to the database that was made before is answered. */
  const routed = () =>
    until('each delivery in the inbox is routed', async () => {
      await bot.app.internals.working().router.idle();
      return (await backlog()).inbox.waiting === 0;
    });
  /** Resolves once everything stored has been routed and no request is under way; the clock stands still. */
  async function worked(): Promise<void> {
    await routed();
    await bot.app.internals.working().deliverer.idle();
  }
  /** Lets as much time pass as alerts, and a notice that follows from them, gather; none if nothing is due in it. */
  async function idle(): Promise<void> {
    await worked();
    for (let left = 2 * GATHER_MS, ms = untilNext(); ms <= left; left -= ms, ms = untilNext()) {
      clock.advance(ms);
      await worked();
    }
  }

  const untilNext = () => clock.untilNext(CHECK_MS);

  async function settled(): Promise<boolean> {
    const { inbox, alerts, frozen } = await backlog();
    return inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen === 0;
  }

  /** Turns the clock from timer to timer until the condition holds, at most `seconds`. An error names `what` was waited for. */
  async function turnUntil(what: string, condition: () => boolean | Promise<boolean>, seconds = 3_600): Promise<void> {
    for (let left = seconds * 1_000; ; ) {
      if (await condition()) return;
      // Requests are real: they finish before the clock moves on.
      await worked();
      if (await condition()) return;
      if (left <= 0) throw new Error(neverHappened(what, condition));
      left -= advance(left);
    }
  }

  /**
   * Turns the clock to its next timer, at most by `max`, but by a `step` of more than a second at least; returns by how
   * much.
   */
  function advance(max: number, step = 1_000): number {
    const ms = Math.min(max, Math.max(step > 1_000 ? step : 1, untilNext()));
    // Steps of hours are for spans of days: what is due every minute runs only once in each.
    if (step >= HOUR) clock.leap(ms - AWAKE_MS);
    clock.advance(step >= HOUR ? AWAKE_MS : ms);
    return ms;
  }

  return {
    backlog,
    settled,
    routed,
    idle,
    turnUntil,
    async turnUntilSettled(seconds?: number): Promise<void> {
      // A change to a posted message is no alert that waits.
      await worked();
      await turnUntil('every alert is posted or given up', settled, seconds);
    },
    /** Turns the clock from timer to timer, by `step` at least; what is due is done after each. */
    async pass(ms: number, step = 1_000): Promise<void> {
      for (let left = ms; left > 0; ) {
        await worked();
        left -= advance(left, step);
      }
      await worked();
    },
    async prune(ms = 30 * 24 * HOUR): Promise<void> {
      await pruneAll(bot.store, machine.now() - ms);
    },
  };
}
