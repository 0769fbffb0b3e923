import { beforeEach } from 'vitest';
import { type Pipeline, type PipelineOptions, startPipeline, TREASURY } from './harness.ts';

/** The bot of the running test, in files that start one for each of their tests. */
export let pipeline: Pipeline;

/** Starts the bot that {@link pipeline} is for the rest of the test. */
export async function usePipeline(options?: PipelineOptions): Promise<void> {
  pipeline = await startPipeline(options);
}

/** Starts a bot before each test of the file. These channels watch the treasury. */
export function pipelineForEachTest(...channelIds: string[]): void {
  beforeEach(async () => {
    await usePipeline();
    for (const channelId of channelIds) await pipeline.watch(TREASURY, channelId);
  });
}
