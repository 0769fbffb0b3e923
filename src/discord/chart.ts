import { Worker } from 'node:worker_threads';
import type { Language } from '../languages/index.ts';

/** One bar each per moment: `up` and `other` above the zero line, `down` below it. */
export interface Bars {
  /** Labels below the bars: Latin text only, because of the font. */
  labels: string[];
  up: number[];
  down: number[];
  other: number[];
  /** The language of the numbers beside the grid lines. */
  language: Language;
}

/** Time limit for one chart. */
const PATIENCE_MS = 10_000;

let last: Promise<unknown> = Promise.resolve();

/**
 * Draws a bar chart as a PNG, one at a time, in a thread that ends afterwards: the event loop is not blocked, and the
 * memory is freed. Rejects when no chart can be drawn on this machine.
 */
export function drawChart(bars: Bars): Promise<Buffer> {
  const drawn = last.then(
    () => draw(bars),
    () => draw(bars),
  );
  last = drawn;
  return drawn;
}

async function draw(bars: Bars): Promise<Buffer> {
  const worker = new Worker(new URL('./chart-thread.ts', import.meta.url), { workerData: bars });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const timer = setTimeout(() => reject(new Error('Drawing the chart timed out.')), PATIENCE_MS);
  worker.on('message', (png: Uint8Array) => resolve(Buffer.from(png)));
  worker.on('error', (error) => reject(error as Error));
  worker.on('exit', () => reject(new Error('The chart was not drawn.')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
