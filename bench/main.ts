import { bursts } from './bursts.ts';
import { chain } from './chain.ts';
import { footprint } from './footprint.ts';
import { growth } from './growth.ts';
import { intake } from './intake.ts';
import { latency } from './latency.ts';
import { path } from './path.ts';
import { peers } from './peers.ts';
import { postgres, whole } from './whole.ts';

const ALL = [intake, bursts, latency, growth, whole, footprint, peers, postgres, path, chain];

const named = process.argv.slice(2);
const names = ALL.map(({ name }) => name);
const unknown = named.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Choose among ${names.join(', ')}.\n`);
  process.exit(1);
}
for (const measure of ALL) if (named.length === 0 || named.includes(measure.name)) await measure();
