import type Database from 'better-sqlite3';

/** Runs `work` as part of a transaction; see `NotificationStore.commit`. */
export type Commit = <Result>(work: () => Result) => Promise<Result>;

interface Waiting {
  work(): unknown;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Creates the group commit: the writes of one turn of the event loop share a transaction. */
export function createCommit(db: Database.Database): Commit {
  let waiting: Waiting[] = [];

  /** Runs one of the writes; returns the function that reports its result, to be called after the commit. */
  function run({ work, resolve, reject }: Waiting): () => void {
    try {
      const result = db.transaction(work)();
      return () => resolve(result);
    } catch (error) {
      return () => reject(error as Error);
    }
  }

  function flush(): void {
    const all = waiting;
    waiting = [];
    try {
      const reports = db.transaction(() => all.map(run))();
      for (const report of reports) report();
    } catch (error) {
      for (const { reject } of all) reject(error as Error);
    }
  }

  return <Result>(work: () => Result) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
    });
}
