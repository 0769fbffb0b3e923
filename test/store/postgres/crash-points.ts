import pg from 'pg';

/** Reports each commit to `pass`: before it is sent, after, and when the server responded. */
export function watchCommits(pass: (point: string) => void): void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const isCommit = (args[0] as { text?: string }).text === 'COMMIT';
    if (isCommit) pass('commit unsent');
    const result = (query as (...all: unknown[]) => unknown).apply(this, args);
    if (isCommit) {
      pass('commit sent');
      void (result as Promise<unknown>).then(
        () => pass('commit answered'),
        () => undefined,
      );
    }
    return result;
  } as typeof query;
}
