import { defineConfig } from 'vitest/config';

/** The tests that `npm run test:mutants` runs against each mutant: of rules, without processes and threads. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/domain/**/*.test.ts',
      'test/mutants/contract.ts',
      'test/delivery/{limits,outcome,turns}.test.ts',
      'test/discord/{compact,digest,render,sender}.test.ts',
      'test/commands/{fair-use,read-csv}.test.ts',
      'test/completeness/{checker,movements,statements}.test.ts',
      'test/{maintenance/uptime,receiver/quotas,upstream/chain}.test.ts',
    ],
    setupFiles: 'test/setup.ts',
    // A busy machine may take many times as long as an idle one; Stryker ends mutants that hang.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
