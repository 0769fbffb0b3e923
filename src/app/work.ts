import type { Role } from '../receiver/ops.ts';
import type { AppContext } from './context.ts';
import type { Working } from './working.ts';

export type Work = ReturnType<typeof createWork>;

/** The work begins at most once; `context.stack` ends it. */
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
    current: (): Working | null => current,
    expected(): Working {
      if (current === null) throw new Error('This process does not work now: another one on its database does.');
      return current;
    },
    role: (): Role => (current ? 'working' : context.config.ROLES.includes('work') ? 'standby' : 'receiving'),
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
