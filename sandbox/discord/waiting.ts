/** Waits of tests, which end with an error that names what never happened. */
import { type Clock, inTime } from '../../src/domain/clock.ts';

/** Longer than any machine needs. */
const MAX_WAIT_MS = 120_000;

/**
 * Returns what the promise resolves to. `real`: a clock that runs, because that of the stand-in may stand still.
 * @throws an error that names `what` was waited for, after two minutes.
 */
export async function awaitEvent<T>(real: Clock, promise: Promise<T>, what: () => string): Promise<T> {
  const found = await inTime(
    promise.then((value) => ({ value })),
    MAX_WAIT_MS,
    real,
  );
  if (!found) throw new Error(`This was expected and never happened: ${what()}`);
  return found.value;
}
