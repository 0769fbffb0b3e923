import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const OPTIONS = ['src/v8-options.ts', 'services/v8-options.ts'];
/** `(module (import "m" "f" (func $f)) (func (export "g") call $f))` */
const MODULE = 'AGFzbQEAAAABBAFgAAACBwEBbQFmAAADAgEABwUBAWcAAQoGAQQAEAAL';

/** Which kinds of code V8 compiles for WebAssembly that calls JavaScript more than a thousand times. */
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
  // Node's own WebAssembly, which strips types, is in the log as well unless the result was cached.
  return new Set((stdout.match(/,wasm-[\w-]+/g) ?? []).map((name) => name.slice(1)));
}

it('sees Node compile the calls from WebAssembly into JavaScript unless the option forbids it', () => {
  expect(compiledAfter('')).toEqual(new Set(['wasm-function', 'wasm-to-js']));
});

it.each(OPTIONS)('keeps Node from compiling the calls from WebAssembly into JavaScript with %s', (path) => {
  expect(compiledAfter(`import '${join(ROOT, path)}';`)).toEqual(new Set(['wasm-function']));
});

it.each(['src/main.ts', 'src/ledgerbell.ts', 'services/main.ts', 'sandbox/main.ts'])(
  'sets the option in %s before anything else is imported',
  (path) => {
    expect(/^import .*$/m.exec(readFileSync(join(ROOT, path), 'utf8'))![0]).toContain('v8-options.ts');
  },
);
