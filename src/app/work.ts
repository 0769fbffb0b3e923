import type { InboxRow } from '../domain/inbox.ts';
import type { Role } from '../receiver/ops.ts';
import type { Parts } from './parts.ts';
import type { Working } from './working.ts';

/** The work on what was received, while this process does it. */
export type Work = ReturnType<typeof createWork>;

/** Begins and ends the work; `parts.stack` ends it, too. */
export function createWork(parts: Parts) {
  let present: Working | null = null;
  let ends: AsyncDisposableStack | null = null;

  async function end(): Promise<void> {
    const ending = ends;
    present = null;
    ends = null;
    await ending?.disposeAsync();
  }

  parts.stack.defer(end);
  return {
    /** What works now; null: nothing does. */
    present: (): Working | null => present,
    role: (): Role => (present ? 'working' : parts.config.ROLES.includes('work') ? 'standby' : 'receiving'),
    /** These were stored just now, or a response ended. */
    wake: (stored?: InboxRow[]): void => present?.router.wake(stored),
    /** Begins the work, with parts of its own end. */
    async begin(start: (parts: Parts) => Promise<Working>): Promise<void> {
      await using stack = new AsyncDisposableStack();
      present = await start({ ...parts, stack });
      ends = stack.move();
    },
    end,
  };
}
