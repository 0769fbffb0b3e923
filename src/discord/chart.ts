import { Worker } from 'node:worker_threads';
import type { Language } from '../languages/index.ts';

/** Bars for one moment each: `up` and `other` stand on the line, `down` hangs from it. */
export interface Bars {
  /** Below the bars: Latin text, which the font has. */
  labels: string[];
  up: number[];
  down: number[];
  other: number[];
  /** In which the numbers beside the lines are written. */
  language: Language;
}

/** However long drawing takes, nobody waits longer. */
const PATIENCE_MS = 10_000;

let last: Promise<unknown> = Promise.resolve();

/**
 * Draws a bar chart as a PNG, in a thread that ends with it: the event loop goes on, and the memory comes back. One at a
 * time. Rejects when it cannot be drawn here.
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
