import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They end what hangs, and measure nothing: a busy machine may take many times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Every processor: most tests wait for processes, disks and clocks of their own.
    maxWorkers: '100%',
  },
});
