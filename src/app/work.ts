import type { InboxRow } from '../domain/inbox.ts';
import type { Role } from '../receiver/ops.ts';
import type { AppContext } from './context.ts';
import type { Working } from './working.ts';

/** The work on what was received, while this process does it. */
export type Work = ReturnType<typeof createWork>;

/** Begins and ends the work, one after the other; `context.stack` ends it, too, for good. */
export function createWork(context: AppContext) {
  let present: Working | null = null;
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
      present = null;
      ends = null;
      await ending?.disposeAsync();
    });

  context.stack.defer(() => {
    isClosed = true;
    return end();
  });
  return {
    /** What works now; null: nothing does. */
    present: (): Working | null => present,
    /** What works now, in a process that is known to work. */
    expected(): Working {
      if (present === null) throw new Error('This process does not work now: another one on its database does.');
      return present;
    },
    role: (): Role => (present ? 'working' : context.config.ROLES.includes('work') ? 'standby' : 'receiving'),
    /** These were stored just now, or a response ended. */
    wake: (stored?: InboxRow[]): void => present?.router.wake(stored),
    /** Begins the work, with a stack of its own. */
    begin: (start: (context: AppContext) => Promise<Working>): Promise<void> =>
      inTurn(async () => {
        if (isClosed) return;
        await using stack = new AsyncDisposableStack();
        present = await start({ ...context, stack });
        ends = stack.move();
      }),
    end,
  };
}
