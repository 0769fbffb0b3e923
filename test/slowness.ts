import { spawnSync } from 'node:child_process';

/** In how many milliseconds any machine that is not busy starts Node. */
const START_MS = 100;

/** How many times as long as on an idle machine everything takes on this one now; 1 at the least. */
export function slowness(): number {
  const began = performance.now();
  spawnSync(process.execPath, ['--eval', '']);
  return Math.max(1, (performance.now() - began) / START_MS);
}

/** The milliseconds that this would have taken on an idle machine: promises in seconds are made for such. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = slowness();
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  return took / Math.max(before, slowness());
}
