import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { createCounts } from '../metrics/counts.ts';
import type { RefusalReason } from '../receiver/refusals.ts';

/** What every part of the app is started with. */
export interface AppContext {
  config: Config;
  log: Logger;
  clock: Clock;
  now(): number;
  /** Milliseconds that really passed, since any moment. */
  elapsed(): number;
  /** From 0 to 1. */
  random(): number;
  /** What has happened since the start, for the metrics. */
  counts: ReturnType<typeof createCounts<RefusalReason>>;
  /** Closes what was started, latest first: when the app stops, or when a later part cannot start. */
  stack: AsyncDisposableStack;
}
