import type { InboxRow } from '../domain/inbox.ts';
import type { Role } from '../receiver/ops.ts';
import type { AppContext } from './context.ts';
import type { Working } from './working.ts';

/** The work on what was received, while this process does it. */
export type Work = ReturnType<typeof createWork>;

/** Begins and ends the work, one after the other; `context.stack` ends it, too, for good. */
export function createWork(context: AppContext) {
  let current: Working | null = null;
  let ends: AsyncDisposableStack | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function inTurn(step: () => Promise<void>): Promise<void> {
    const behind = last.then(step);
    last = behind.catch(() => undefined);
    return behind;
  }

  const end = () =>
    inTurn(async () => {
      const ending = ends;
      current = null;
      ends = null;
      await ending?.disposeAsync();
    });

  context.stack.defer(() => {
    isClosed = true;
    return end();
  });
  return {
    /** What works now; null: nothing does. */
    current: (): Working | null => current,
    /** What works now, in a process that is known to work. */
    expected(): Working {
      if (current === null) throw new Error('This process does not work now: another one on its database does.');
      return current;
    },
    role: (): Role => (current ? 'working' : context.config.ROLES.includes('work') ? 'standby' : 'receiving'),
    /** Routes deliveries that were stored just now, if this process works. */
    deliveriesStored: (rows: readonly InboxRow[]): void => current?.router.deliveriesStored(rows),
    /** Routes what waits in the inbox, if this process works. */
    wake: (): void => current?.router.wake(),
    /** Begins the work, with a stack of its own. */
    begin: (start: (context: AppContext) => Promise<Working>): Promise<void> =>
      inTurn(async () => {
        if (isClosed) return;
        await using stack = new AsyncDisposableStack();
        current = await start({ ...context, stack });
        ends = stack.move();
      }),
    end,
  };
}
