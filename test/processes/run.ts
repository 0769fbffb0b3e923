import { SECOND } from '../../src/domain/clock.ts';
import { FAULTS, type Fault } from './faults.ts';
import { trial } from './trial.ts';

/** `npm run test:processes -- <seconds>`: exit code 1 when anything was lost, posted twice, out of order or late. */

const EVERY_MS = 5 * SECOND;

const seconds = Number(process.argv[2] ?? 300);
if (!Number.isInteger(seconds) || seconds < 10) {
  process.stderr.write('How many seconds? A whole number from 10, for example: npm run test:processes -- 300\n');
  process.exit(64);
}
const kinds = Object.keys(FAULTS) as Fault[];
const begun = Date.now();
let happened = 0;

function* faults(): Generator<Fault> {
  while (Date.now() - begun < seconds * 1_000) yield kinds[happened++ % kinds.length]!;
}

const verdict = await trial(faults(), { everyMs: EVERY_MS, pulseMs: 50 }, (fault, idleMs) => {
  const at = Math.round((Date.now() - begun) / 1_000);
  process.stdout.write(`${at} s: ${fault}, ${(idleMs / 1_000).toFixed(1)} s without a process that works\n`);
});
const { acknowledged, shown, lost, doubled, disordered, problems, refusedMs } = verdict;
for (const [fault, ms] of Object.entries(refusedMs))
  process.stdout.write(`${fault}: at most ${(ms / 1_000).toFixed(1)} s from the first try to the 200\n`);
for (const problem of problems.slice(-20)) process.stdout.write(`${problem}\n`);
process.stdout.write(
  `${Math.round((Date.now() - begun) / 1_000)} s, ${happened} faults · ` +
    `acknowledged ${acknowledged}, shown ${shown}, lost ${lost}, doubled ${doubled}, disordered ${disordered}\n`,
);
const TAKE_OVER_MS = 10 * SECOND;
/** The sender's first retry: no delivery may be refused for longer while a new release starts. */
const RETRY_MS = 15 * SECOND;
const isSlow = Math.max(...Object.values(verdict.idleMs)) > TAKE_OVER_MS || (refusedMs.roll ?? 0) > RETRY_MS;
process.exit(problems.length > 0 || lost + doubled + disordered > 0 || isSlow ? 1 : 0);
