import { bursts } from './bursts.ts';
import { footprint } from './footprint.ts';
import { growth } from './growth.ts';
import { intake } from './intake.ts';
import { latency } from './latency.ts';
import { peers } from './peers.ts';
import { whole } from './whole.ts';

/** `npm run bench -- [name …]`: measures what is named, or everything; README.md says what the figures mean. */

const measurements: Record<string, () => Promise<void>> = { intake, bursts, latency, growth, whole, footprint, peers };

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in measurements));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Choose among ${Object.keys(measurements).join(', ')}.\n`);
  process.exit(1);
}
for (const name of named.length > 0 ? named : Object.keys(measurements)) await measurements[name]!();
