import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { makeFolder } from '../../src/domain/folder.ts';
import { temporaryFolder } from '../folder.ts';

const SOURCE = join(import.meta.dirname, '../../src/domain/folder.ts');

let place: string;
beforeEach(() => {
  place = temporaryFolder();
});

it('accepts a link to a folder, and the root', () => {
  mkdirSync(join(place, 'real'));
  symlinkSync(join(place, 'real'), join(place, 'link'));
  makeFolder(join(place, 'link', 'inner'));
  makeFolder('/');
  expect(statSync(join(place, 'real', 'inner')).isDirectory()).toBe(true);
});

it.each([[''], ['/inner'], ['/inner/most']])('names the file that stands in the way of <file>%s', (below) => {
  const file = join(place, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file + below)).toThrow(
    expect.objectContaining({ message: `${file} is not a folder`, code: 'ENOTDIR' }),
  );
});

it('names the folder that cannot be made, and does not hang where none can', () => {
  expect(() => makeFolder('/proc/ledgerbell/data')).toThrow(/^ENOENT: .*'\/proc\/ledgerbell'$/);
  symlinkSync(join(place, 'nowhere'), join(place, 'link'));
  expect(() => makeFolder(join(place, 'link'))).toThrow(/^EEXIST: .*link'$/);
});

it('names the folder that this user may not make', () => {
  chmodSync(place, 0o555);
  const script = `import(${JSON.stringify(SOURCE)}).then(({ makeFolder }) => makeFolder(${JSON.stringify(join(place, 'a/b'))}))
    .catch(({ message }) => console.log(message))`;
  const run = [process.execPath, '-e', script];
  // Root may write everywhere, unless it gives up that right.
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
  const [program, ...args] = [...asUser, ...run];
  expect(execFileSync(program!, args, { encoding: 'utf8' })).toBe(
    `EACCES: permission denied, mkdir '${join(place, 'a')}'\n`,
  );
});
