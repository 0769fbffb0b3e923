import type { NotificationStore } from './store/index.ts';

/** Writes that come in the same turn of the event loop share a transaction: each commit waits for the disk. */
export interface Commits {
  /** Resolves with the result of `work` once it is on disk. @throws what it throws, or the database. */
  commit<Result>(work: () => Result): Promise<Result>;
}

interface Waiting {
  work(): unknown;
  resolve(result: never): void;
  reject(error: Error): void;
}

/** Creates the queue of writes. */
export function createCommits({ together }: Pick<NotificationStore, 'together'>): Commits {
  let waiting: Waiting[] = [];

  const flush = (): void => {
    const all = waiting;
    waiting = [];
    try {
      const outcomes = together(all.map(({ work }) => work));
      for (const [index, outcome] of outcomes.entries()) {
        if ('error' in outcome) all[index]!.reject(outcome.error);
        else all[index]!.resolve(outcome.result as never);
      }
    } catch (error) {
      for (const { reject } of all) reject(error as Error);
    }
  };

  return {
    commit: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ work, resolve, reject });
      }),
  };
}
