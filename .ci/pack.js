/**
 * `npm run packages -- <folder>`: packs the Discord stand-in and the services into a folder, each as a package that can be
 * installed without this repository. Node runs no TypeScript below node_modules, so they hold JavaScript and types.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGES = [
  { folder: 'sandbox/discord', library: 'index', files: [], node: '>=22.19' },
  { folder: 'services', library: 'start', files: ['discovery/providers.json'], node: '>=24' },
];
const target = resolve(process.argv[2] ?? '.');
mkdirSync(target, { recursive: true });

for (const { folder, library, files, node } of PACKAGES) {
  const made = mkdtempSync(join(tmpdir(), 'package-'));
  const settings = join(made, 'tsconfig.json');
  writeFileSync(
    settings,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: ROOT,
        outDir: made,
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      files: [`${library}.ts`, 'main.ts'].map((name) => join(ROOT, folder, name)),
      include: [join(ROOT, folder, '*.d.ts')],
    }),
  );
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settings], { stdio: 'inherit' });
  rmSync(settings);
  for (const name of files) cpSync(join(ROOT, folder, name), join(made, folder, name));
  cpSync(join(ROOT, folder, 'README.md'), join(made, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(made, 'LICENSE'));
  const { scripts: _, files: __, ...described } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const packed = {
    ...described,
    exports: `./${folder}/${library}.js`,
    bin: `./${folder}/main.js`,
    engines: { node },
  };
  writeFileSync(join(made, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target], { cwd: made, stdio: 'inherit' });
  rmSync(made, { recursive: true });
}
