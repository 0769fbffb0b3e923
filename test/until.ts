/** Longer than any machine needs. The test's own time-out is longer, but its message would not name the condition. */
const MOST_MS = 120_000;

/** Waits for a condition that no event reports. If it never holds, the test fails with the condition's source. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > MOST_MS) throw new Error(`This condition never held: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
