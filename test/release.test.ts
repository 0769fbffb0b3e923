import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { temporaryFolder } from './folder.ts';

/** A release: the two packages, installed where nothing of this repository is, and the commands of `.ci/release`. */

const ROOT = resolve(import.meta.dirname, '..');
const NAMES = ['ledgerbell-discord-stand-in', 'ledgerbell-services'];

interface Packed {
  bin: string;
  dependencies: Record<string, string>;
}

describe('the packages', () => {
  let folder: string;
  const packed = new Map<string, Packed>();

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'packages-'));
    execFileSync(process.execPath, [join(ROOT, '.ci/pack.js'), folder]);
    for (const name of NAMES) {
      const own = join(folder, 'node_modules', name);
      mkdirSync(own, { recursive: true });
      const file = readdirSync(folder).find((one) => one.startsWith(`${name}-`))!;
      execFileSync('tar', ['--extract', '--file', join(folder, file), '--strip-components=1', '--directory', own]);
      const described = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Packed;
      packed.set(name, described);
      for (const dependency of Object.keys(described.dependencies)) link(dependency, own);
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function link(name: string, inside = folder): void {
    const path = join(inside, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), path);
  }

  const node = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH }, encoding: 'utf8' });

  it('lets another bot’s test import the Discord stand-in, with types', () => {
    for (const name of ['discord.js', 'vitest', 'typescript', '@types/node', '@types/ws']) link(name);
    const example = readFileSync(join(ROOT, 'test/discord-stand-in/example.test.ts'), 'utf8');
    writeFileSync(join(folder, 'example.test.ts'), example);
    const types = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const checked = node(join(ROOT, 'node_modules/typescript/bin/tsc'), ...types, 'example.test.ts');
    expect([checked.stdout, checked.status]).toEqual(['', 0]);
    const run = node(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder);
    expect([run.status, run.stdout]).toEqual([0, expect.stringMatching(/1 passed/)]);
  });

  it('lets plain Node start the Discord stand-in', () => {
    const start = `import { startDiscord } from 'ledgerbell-discord-stand-in';
    const discord = await startDiscord(); console.log(discord.apiUrl); await discord.close();`;
    expect(node('--input-type=module', '--eval', start)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\n$/),
      stderr: '',
    });
  });

  it('starts the services as far as their configuration, which they miss', () => {
    const main = join(folder, 'node_modules/ledgerbell-services', packed.get('ledgerbell-services')!.bin);
    expect(node(main)).toMatchObject({ status: 78, stderr: expect.stringContaining('RPC_URL must be') });
  });

  it('serves the directory from the data in the package of the services', () => {
    const start = `import { startServices } from 'ledgerbell-services';
    const services = await startServices({ chains: [], dir: '.', projects: [], only: 'discovery' });
    const response = await fetch(services.discoveryUrl + '/api/infrastructure-providers/categories');
    console.log((await response.json()).result.length > 0); await services.close();`;
    expect(node('--input-type=module', '--eval', start)).toMatchObject({ status: 0, stdout: 'true\n', stderr: '' });
  });
});

describe('the release', () => {
  const { version } = packageJson;

  /** Runs it in a copy of the repository for example/ledgerbell, with stand-ins for docker and gh that note their arguments. */
  function release(tag: string) {
    const copy = temporaryFolder();
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
    for (const path of files
      .toString()
      .split('\0')
      .filter((name) => name === 'docs/changelog.md' || !/^(docs|test|bench|)(\/|$)/.test(name)))
      cpSync(join(ROOT, path), join(copy, path));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const name of ['docker', 'gh']) {
      const path = join(copy, 'programs', name);
      mkdirSync(join(copy, 'programs'), { recursive: true });
      const noting = `(printf '%s\\t' ${name} "$@"; echo) >>'${copy}/called'`;
      writeFileSync(path, `#!/bin/sh\n${noting}\n`, { mode: 0o755 });
    }
    const { status, stderr } = spawnSync(join(copy, '.ci/release'), {
      env: {
        PATH: `${join(copy, 'programs')}:${process.env.PATH}`,
        GITHUB_REPOSITORY: 'Example/Ledgerbell',
        GITHUB_REF_NAME: tag,
        GITHUB_SHA: 'a1b2c3',
        GITHUB_ACTOR: 'somebody',
        GH_TOKEN: 'token',
      },
      encoding: 'utf8',
    });
    const called = existsSync(join(copy, 'called')) ? readFileSync(join(copy, 'called'), 'utf8') : '';
    return { copy, status, stderr, called: called.replaceAll('\t', ' ') };
  }

  it('runs .ci/release in its workflow after the checks', () => {
    expect(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')).toMatch(
      /run: bash \.ci\/run\n +- run: \.ci\/release\n/,
    );
  });

  it('fills in where the repository is published, in package.json, the packages and the images', () => {
    const { copy, status, stderr, called } = release(`v${version}`);
    expect(status, stderr).toBe(0);
    const described = {
      repository: { type: 'git', url: 'git+https://github.com/Example/Ledgerbell.git' },
      bugs: { url: 'https://github.com/Example/Ledgerbell/issues' },
    };
    expect(JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))).toMatchObject(described);
    const packed = readdirSync(join(copy, 'release')).filter((name) => name.endsWith('.tgz'));
    expect(packed).toHaveLength(2);
    for (const name of packed) {
      const args = ['--extract', '--to-stdout', '--file', join(copy, 'release', name), 'package/package.json'];
      expect(JSON.parse(execFileSync('tar', args, { encoding: 'utf8' }))).toMatchObject(described);
    }
    for (const target of ['bot', 'services']) {
      expect(called).toMatch(
        new RegExp(
          `docker build --file .ci/Dockerfile --target ${target} --tag ghcr.io/example/ledgerbell/${target}:${version} .*` +
            '--label org.opencontainers.image.source=https://github.com/Example/Ledgerbell ',
        ),
      );
      expect(called).toContain(`docker push --all-tags ghcr.io/example/ledgerbell/${target} `);
    }
    expect(called).toMatch(new RegExp(`gh release create v${version} .*--notes \\s*The first version: `));
  });

  it('refuses a tag that is not the version of package.json, and builds nothing', () => {
    const { status, stderr, called } = release('v99.0.0');
    expect([status, stderr, called]).toEqual([1, expect.stringContaining('The tag is v99.0.0'), '']);
  });
});
