/** No machine takes so long for what a test waits for; the test's own time-out is longer, and would not say for what. */
const MOST_MS = 120_000;

/** Waits for a condition that no event tells of. One that never comes to hold fails the test, with its text. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > MOST_MS) throw new Error(`This never came to hold: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
