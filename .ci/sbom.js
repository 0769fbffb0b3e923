/**
 * Prints a bill of materials (CycloneDX) of what runs in production. npm omits a package that development uses, too, so
 * it reads a copy of the lock file without anything of development.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const lock = read('package-lock.json');
const { devDependencies: _, ...root } = lock.packages[''];
const installed = Object.entries(lock.packages).filter(
  ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
);
const parent = mkdtempSync(join(tmpdir(), 'sbom-'));
// The root component is called like its folder.
const folder = join(parent, root.name);
try {
  mkdirSync(folder);
  const { devDependencies: __, ...manifest } = read('package.json');
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const packages = { '': root, ...Object.fromEntries(installed) };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  process.stdout.write(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 }));
} finally {
  rmSync(parent, { recursive: true });
}
