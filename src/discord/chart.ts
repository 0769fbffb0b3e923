import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

/** `up` and `other` are above the zero line, `down` is below it. */
export interface Bars {
  /** Latin text only, because of the font. */
  labels: string[];
  up: number[];
  down: number[];
  other: number[];
}

const TIMEOUT_MS = 10_000;

/**
 * Draws one chart at a time as a PNG, in a thread that ends afterwards: the event loop is not blocked, and the memory
 * is freed. Logs and rejects when no chart can be drawn on this machine.
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
  const worker = new Worker(new URL('./chart-thread.ts', import.meta.url), { workerData: bars });
  try {
    const [png] = (await once(worker, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [Uint8Array];
    return Buffer.from(png);
  } finally {
    await worker.terminate();
  }
}
