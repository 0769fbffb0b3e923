import { expect, it } from 'vitest';
import { assertLimits } from '../src/limits.ts';

const MIB = 2 ** 20;

it('refuses to start with 128 MiB of memory, and names what to raise', () => {
  const enough = { memoryBytes: 512 * MIB, openFiles: 1_024 };
  expect(() => assertLimits(enough)).not.toThrow();
  expect(() => assertLimits({ memoryBytes: null, openFiles: null })).not.toThrow();
  expect(() => assertLimits({ ...enough, memoryBytes: 128 * MIB })).toThrow(
    /128 MiB of memory and needs 192 MiB.*MemoryMax/,
  );
});
