import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSeal, keyFromFile } from '../src/secrets.ts';
import { temporaryFolder } from './folder.ts';

const [old, present, foreign] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

it('opens a seal only with its key, for its purpose, and unchanged', () => {
  const seal = createSeal([present]);
  const sealed = seal.seal('very secret', 'guild 1');
  expect(Buffer.from(sealed).toString('latin1')).not.toContain('very secret');
  expect(seal.open(sealed, 'guild 1')).toEqual({ text: 'very secret', stale: false });
  expect(seal.open(sealed, 'guild 2')).toBeNull();
  expect(createSeal([foreign]).open(sealed, 'guild 1')).toBeNull();
  for (const length of [0, 12, 20, sealed.length - 1])
    expect(seal.open(sealed.subarray(0, length), 'guild 1')).toBeNull();
  const changed = Uint8Array.from(sealed);
  changed[sealed.length - 1]! ^= 1;
  expect(seal.open(changed, 'guild 1')).toBeNull();
  // The same text never looks the same.
  expect(seal.seal('very secret', 'guild 1')).not.toEqual(sealed);
});

it('opens with the old key and seals with the new one during a rotation', () => {
  const sealed = createSeal([old]).seal('x', 'g');
  const both = createSeal([present, old]);
  expect(both.open(sealed, 'g')).toEqual({ text: 'x', stale: true });
  expect(createSeal([present]).open(both.seal('x', 'g'), 'g')).toEqual({ text: 'x', stale: false });
});

it('creates the key file once, for its owner only, and refuses one without a key', () => {
  const file = join(temporaryFolder(), 'secrets.key');
  const made = keyFromFile(file);
  expect(made).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(keyFromFile(file)).toEqual(made);
  const text = readFileSync(file, 'utf8').trim();
  expect(Buffer.from(text, 'base64')).toEqual(made);
  writeFileSync(file, 'c2hvcnQ=');
  expect(() => keyFromFile(file)).toThrow(/does not contain a key.*Restore it/);
  expect(() => keyFromFile(file)).not.toThrow(/c2hvcnQ/);
});
