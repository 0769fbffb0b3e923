import type { ManualClock } from '../../sandbox/discord/index.ts';
import { HOUR } from '../../src/domain/clock.ts';
import type { Backlog } from '../../src/domain/overview.ts';
import { pruneAll } from '../store/contract/given.ts';
import { neverHappened, until } from '../until.ts';
import type { Pipeline } from './harness.ts';
import type { Machine } from './machine.ts';
import type { RestartableApp } from './restartable.ts';

type Turning = Pick<
  Pipeline,
  'backlog' | 'settled' | 'routed' | 'idle' | 'turnUntil' | 'turnUntilSettled' | 'pass' | 'prune'
>;

/** A backlog in which every alert is posted or given up. */
export const NOTHING_WAITS = { inbox: { waiting: 0 }, alerts: { due: 0, held: 0, closed: 0 }, frozen: 0 };

/** Waits for the bot's work, and turns the clock between. */
export function createTime(bot: RestartableApp, clock: ManualClock, machine: Machine): Turning {
  async function backlog(): Promise<Backlog> {
    const read = await bot.store.metrics.backlog(machine.now());
    // Another thread read it. The writing thread responds in order: the responses to earlier writes came before this one.
    await bot.store.inbox.next(0);
    return read;
  }
  const routed = () => until('each delivery in the inbox is routed', async () => (await backlog()).inbox.waiting === 0);
  async function idle(): Promise<void> {
    await routed();
    await bot.app.internals.deliverer.idle();
  }

  async function settled(): Promise<boolean> {
    const { inbox, alerts, frozen } = await backlog();
    return inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen === 0;
  }

  async function turnUntil(what: string, condition: () => boolean | Promise<boolean>, seconds = 3_600): Promise<void> {
    for (let left = seconds * 1_000; ; ) {
      if (await condition()) return;
      // Requests are real: they finish before the clock moves on.
      await idle();
      if (await condition()) return;
      if (left <= 0) throw new Error(neverHappened(what, condition));
      left -= advance(left);
    }
  }

  /** Turns the clock to its next timer, but by `step` at least and `max` at most; returns by how much. */
  function advance(max: number, step = 1_000): number {
    const ms = Math.min(max, Math.max(step, clock.untilNext()));
    // Steps of hours are for spans of days: what is due every minute runs only once in each.
    if (step >= HOUR) clock.leap(ms);
    else clock.advance(ms);
    return ms;
  }

  return {
    backlog,
    settled,
    routed,
    idle,
    turnUntil,
    turnUntilSettled: (seconds) => turnUntil('every alert is posted or given up', settled, seconds),
    async pass(ms, step = 1_000) {
      for (let left = ms; left > 0; ) {
        await idle();
        left -= advance(left, step);
      }
      await idle();
    },
    async prune(ms = 30 * 24 * HOUR) {
      await pruneAll(bot.store, machine.now() - ms);
    },
  };
}
