/** Prints every package that runs in production, with its version and license, from the lock file. */
import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const rows = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
  .map(([path, { version, license = 'unknown' }]) => [path.split('node_modules/').at(-1), version, license].join('\t'));
process.stdout.write(`${[...new Set(rows)].sort().join('\n')}\n`);
