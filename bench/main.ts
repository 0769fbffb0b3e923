import { bursts } from './bursts.ts';
import { chain } from './chain/index.ts';
import { footprint } from './footprint.ts';
import { growth } from './growth.ts';
import { intake } from './intake.ts';
import { latency } from './latency.ts';
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { soak } from './soak/index.ts';
import { whole } from './whole.ts';

/** `npm run bench -- [name …]`: runs the named measurements, or all; README.md explains the figures. */

const measurements: Record<string, () => Promise<void>> = {
  intake,
  bursts,
  latency,
  growth,
  whole,
  footprint,
  peers,
  chain,
  postgres,
};

/** Measurements that take too long to run unless they are named. */
const long: Record<string, () => Promise<void>> = { soak };

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in measurements || name in long));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(', ')}. Choose among ${Object.keys({ ...measurements, ...long }).join(', ')}.\n`,
  );
  process.exit(1);
}
for (const name of named.length > 0 ? named : Object.keys(measurements)) await { ...measurements, ...long }[name]!();
