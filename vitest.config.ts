import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that take minutes: `npm run check` runs them, `npm test` does not. */
const LONG = [
  'test/containers/*.test.ts',
  'test/crash/crash.test.ts',
  'test/faults/*.test.ts',
  'test/store/sqlite/damage.test.ts',
  'test/{release,site}.test.ts',
  'test/lifecycle/{deadletters,log,npm-start,projects,start,stop,trouble}.test.ts',
  'test/processes/*.test.ts',
  'test/store/postgres/*.test.ts',
  'test/sandbox/{browser,lifecycle,page}.test.ts',
  'test/{completeness,services}/proof/*.test.ts',
];

/** Tests that start processes and wait for them, or open a store for each of many cases. */
const SLOW = /\/test\/((crash|end-to-end|lifecycle|operator|sandbox)\/|store\/sqlite\/(contract|damage))/;

/** Runs slow files first. By default the largest files come first, and a small slow one may be left for the end. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);

// Each store opens threads, which compile what they import. With a cache on the disk they take a third of the time.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'ledgerbell-test-compile-cache');

export default defineConfig({
  test: {
    // They end tests that hang, and measure nothing: a busy machine may take many times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    setupFiles: 'test/setup.ts',
    pool: 'forks',
    // V8 of Node 24 sometimes aborts ("jit_page.has_value()") when it compiles the calls from undici's WASM into
    // JavaScript, which it does after a thousand of them; the bot and the services set the same option.
    execArgv: ['--wasm-wrapper-tiering-budget=2000000000'],
    // Most tests wait for processes and disks of their own: one more than there are processors keeps all of these busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG],
          // Files that run in one process share their modules. Loading the bot takes longer than most files' tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'long', include: LONG } },
    ],
  },
});
