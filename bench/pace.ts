import { setTimeout as wait } from 'node:timers/promises';

/** Runs something `times` times with limited concurrency. */
export async function many(times: number, atOnce: number, run: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Begins something `times` times at a constant rate; resolves when all of them have ended. */
export async function atRate(perSecond: number, times: number, run: (n: number) => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const running: Promise<unknown>[] = [];
  for (let n = 0; n < times; n++) {
    await wait(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
    running.push(run(n));
  }
  await Promise.all(running);
}

/** The hashes of the transactions that a message shows. */
export const hashesIn = (message: string): Set<string> => new Set(message.match(/0x[0-9a-f]{64}/g));

/** Times each event from its request until a message shows its transaction. */
export function createTimer() {
  const sentAt = new Map<string, number>();
  const tookMs: number[] = [];
  return {
    /** How long each event that was shown took. */
    tookMs,
    /** An event's request begins now. */
    begin: (hash: string): void => void sentAt.set(hash, performance.now()),
    /** Discord has this message. */
    onMessage(message: string): void {
      for (const hash of hashesIn(message)) {
        const began = sentAt.get(hash);
        if (began !== undefined) tookMs.push(performance.now() - began);
        sentAt.delete(hash);
      }
    },
    /** Resolves once this many events were shown, or after a time limit. */
    async shown(events: number, withinMs: number): Promise<void> {
      for (const until = performance.now() + withinMs; performance.now() < until; await wait(20))
        if (tookMs.length >= events) return;
    },
  };
}
