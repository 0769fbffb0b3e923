import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { temporaryFolder } from './folder.ts';

/** The preparation of Node that every program begins with. */

const ROOT = resolve(import.meta.dirname, '..');
/** `(module (import "m" "f" (func $f)) (func (export "g") call $f))` */
const MODULE = 'AGFzbQEAAAABBAFgAAACBwEBbQFmAAADAgEABwUBAWcAAQoGAQQAEAAL';

/** The kinds of code that V8 compiles for WebAssembly that calls JavaScript more than a thousand times. */
function compiledAfter(imported: string): Set<string> {
  const script = `${imported}
    const { exports } = await WebAssembly.instantiate(await WebAssembly.compile(Buffer.from('${MODULE}', 'base64')), { m: { f() {} } });
    for (let n = 0; n < 5_000; n++) exports.g();`;
  const log = ['--log-code', '--no-logfile-per-isolate', '--logfile=-'];
  const { stdout, stderr } = spawnSync(process.execPath, [...log, '--input-type=module', '--eval', script], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  expect(stderr).toBe('');
  return new Set((stdout.match(/,wasm-[\w-]+/g) ?? []).map((name) => name.slice(1)));
}

it('keeps Node from compiling the calls from WebAssembly into JavaScript, which it does by default', () => {
  expect(compiledAfter('')).toEqual(new Set(['wasm-function', 'wasm-to-js']));
  expect(compiledAfter("import './src/node.js';")).toEqual(new Set(['wasm-function']));
  const option = /setFlagsFromString\('.*'\);/;
  const inServices = option.exec(readFileSync(join(ROOT, 'services/v8-options.ts'), 'utf8'))![0];
  expect(readFileSync(join(ROOT, 'src/node.js'), 'utf8')).toContain(inServices);
});

it.each(['src/bin.js', 'src/main.ts', 'services/main.ts', 'sandbox/main.ts'])(
  'sets the option in %s before anything else is imported',
  (path) => {
    expect(/^import .*$/m.exec(readFileSync(join(ROOT, path), 'utf8'))![0]).toMatch(/node\.js|v8-options\.ts/);
  },
);

/** Runs an npm script on a Node that says it has this version; `npm` itself does the same. */
function runOn(version: string, script: string) {
  const versions = `{ ...process.versions, node: '${version}' }`;
  const preload = `
    Object.defineProperty(process, 'versions', { value: ${versions} });
    Object.defineProperty(process, 'version', { value: 'v${version}' });`;
  const { status, stderr } = spawnSync('sh', ['-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      ...BARE_ENVIRONMENT,
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload)}`,
    },
  });
  return { status, stderr };
}

it.each(['start', 'sandbox', 'sandbox:discord', 'services', 'ledgerbell'] as const)(
  'refuses a Node before version 24 in npm run %s, and shows what to do',
  (name) => {
    expect(runOn('20.20.2', packageJson.scripts[name])).toEqual({
      status: 78,
      stderr: expect.stringMatching(/^Ledgerbell cannot start: it needs Node 24 or newer, and this is v20\.20\.2\./),
    });
  },
);

it('accepts newer versions of Node', () => {
  expect(runOn('100.1.0', `${packageJson.scripts.ledgerbell} --version`)).toEqual({ status: 0, stderr: '' });
});

it('names a .env that it cannot read, and does not need one', () => {
  const folder = temporaryFolder();
  const help = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, packageJson.bin.ledgerbell), '--help'], {
      cwd: folder,
      env: BARE_ENVIRONMENT,
      encoding: 'utf8',
    });
    return { status, usage: stdout.split('\n')[0], stderr };
  };
  expect(help()).toEqual({ status: 0, usage: 'Usage: ledgerbell <command>', stderr: '' });
  // A folder cannot be read as a file, whoever the user is.
  mkdirSync(join(folder, '.env'));
  expect(help()).toEqual({
    status: 78,
    usage: '',
    stderr: expect.stringMatching(/cannot read the file \.env\. Make it a file/),
  });
});
