import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { systemClock } from '../domain/clock.ts';
import type { Language } from '../languages/index.ts';

/** One bar each per moment: `up` and `other` above the zero line, `down` below it. */
export interface Bars {
  /** Labels below the bars: Latin text only, because of the font. */
  labels: string[];
  up: number[];
  down: number[];
  other: number[];
  /** The language of the numbers next to the grid lines. */
  language: Language;
}

const TIMEOUT_MS = 10_000;

/**
 * Creates the function that draws a bar chart as a PNG, one at a time, in a thread that ends afterwards: the event loop is
 * not blocked, and the memory is freed. It logs and rejects when no chart can be drawn on this machine.
 */
export function createCharts(log: Pick<Logger, 'warn'>): (bars: Bars) => Promise<Buffer> {
  let last: Promise<unknown> = Promise.resolve();
  return (bars) => {
    const drawn = last.then(() => draw(bars));
    last = drawn.catch((error: unknown) => log.warn({ err: error }, 'chart not drawn'));
    return drawn;
  };
}

async function draw(bars: Bars): Promise<Buffer> {
  await using stack = new AsyncDisposableStack();
  const worker = new Worker(new URL('./chart-thread.ts', import.meta.url), { workerData: bars });
  stack.defer(async () => void (await worker.terminate()));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The real time, because the work is real.
  stack.defer(systemClock.after(TIMEOUT_MS, () => reject(new Error('Drawing the chart timed out.'))));
  worker.on('message', (png: Uint8Array) => resolve(Buffer.from(png)));
  worker.on('error', (error) => reject(error as Error));
  worker.on('exit', () => reject(new Error('The chart was not drawn.')));
  return await promise;
}
