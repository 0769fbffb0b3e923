import type { Role } from '../receiver/ops.ts';
import type { AppContext } from './context.ts';
import type { Working } from './working.ts';

/** The work on what was received, once this process does it. */
export type Work = ReturnType<typeof createWork>;

/** Creates the place of the work. It begins at most once; `context.stack` ends it. */
export function createWork(context: AppContext) {
  const stack = new AsyncDisposableStack();
  let current: Working | null = null;
  let beginning: Promise<void> | null = null;
  let isClosed = false;

  context.stack.defer(async () => {
    isClosed = true;
    await beginning?.catch(() => undefined);
    current = null;
    await stack.disposeAsync();
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
    /** Routes what waits in the inbox, if this process works. */
    wake: (): void => current?.router.wake(),
    begin(start: (context: AppContext) => Promise<Working>): Promise<void> {
      beginning = (async () => {
        if (isClosed) return;
        current = await start({ ...context, stack });
      })();
      return beginning;
    },
  };
}
