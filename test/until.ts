import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Longer than any machine needs. The test's own timeout is longer, but its message would not say what was waited for. */
const MAX_MS = 120_000;

/** This many looks follow each other at once, the next ones after a pause. */
const QUICK_LOOKS = 50;
const LOOK_MS = 2;

/** The message of a test that waited in vain. */
export const neverHappened = (what: string, condition?: () => unknown): string =>
  `This was expected and never happened: ${what}.${condition ? ` The condition: ${condition.toString()}` : ''}`;

/** Returns the promise's value. If it settles too late, the test fails with `what` it waited for. */
export function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(neverHappened(what))), MAX_MS);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Waits for a condition that no event reports. If it never holds, the test fails with `what` it waited for. `expect.poll`
 * would show a value instead, wait at least a millisecond between two looks, and cannot be used outside of a test.
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  for (let looks = 1; !(await condition()); looks++) {
    if (performance.now() - began > MAX_MS) throw new Error(neverHappened(what, condition));
    // Anything longer than a few turns of the loop waits for another process or a timer, which needs the processor.
    await (looks < QUICK_LOOKS ? nextTurn() : wait(LOOK_MS));
  }
}
