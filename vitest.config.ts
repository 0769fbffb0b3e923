import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // Every processor: most tests wait for processes, disks and clocks of their own.
    maxWorkers: '100%',
  },
});
