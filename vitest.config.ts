import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where tests start processes and wait for them. */
const LONG = /\/test\/(crash|lifecycle|sandbox)\//;

/** By themselves the largest files come first on a new machine, and a small one that takes long is left over at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They end what hangs, and measure nothing: a busy machine may take many times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // V8 of Node 24 sometimes aborts ("jit_page.has_value()") when it compiles the calls from undici's WASM into
    // JavaScript, which it does after a thousand of them; `npm start` has the same option.
    execArgv: ['--wasm-wrapper-tiering-budget=2000000000'],
    // Most tests wait for processes and disks of their own: one more than there are processors keeps all of these busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
  },
});
