import { bursts } from './bursts.ts';
import { chain } from './chain.ts';
import { footprint } from './footprint.ts';
import { growth } from './growth.ts';
import { intake } from './intake.ts';
import { latency } from './latency.ts';
import { path } from './path.ts';
import { peers } from './peers.ts';
import { postgres, whole } from './whole.ts';

/** `npm run bench -- [name …]`: runs the named measurements, or all; README.md explains the figures. */

const MEASUREMENTS: Record<string, () => Promise<void>> = {
  intake,
  bursts,
  latency,
  growth,
  whole,
  footprint,
  peers,
  postgres,
  path,
  chain,
};
const NAMES = Object.keys(MEASUREMENTS);

const named = process.argv.slice(2);
const unknown = named.filter((name) => !NAMES.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Choose among ${NAMES.join(', ')}.\n`);
  process.exit(1);
}
for (const name of named.length > 0 ? named : NAMES) await MEASUREMENTS[name]!();
