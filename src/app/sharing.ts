import { SECOND } from '../domain/clock.ts';
import { repeat } from '../domain/repeat.ts';
import type { SharedStore } from '../store/postgres/client.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import type { Interfaces } from './interfaces.ts';
import { NOTIFICATIONS } from './notifications.ts';
import type { Receiving } from './receiving.ts';
import type { Work } from './work.ts';
import type { Working } from './working.ts';

/** How often the inbox is read although no process notified of anything. */
const POLL_MS = SECOND;
/** How often a process reads again what others change. */
const REREAD_MS = 10 * SECOND;

/** Works whenever this process is elected, and follows what the other processes of a database change. */
export async function shareWork(
  { clock, log, stack }: AppContext,
  shared: SharedStore,
  { tokens, store }: Data,
  { projects }: Interfaces,
  { quotas, quarantine }: Receiving,
  work: Work,
  begin: (context: AppContext, store: Data['store']) => Promise<Working>,
): Promise<void> {
  const reread = async () => {
    try {
      await Promise.all([tokens.reread(), projects.readSigning(), quarantine.measure()]);
      quotas.load(await store.inbox.usage());
    } catch (error) {
      log.debug({ err: error }, 'cannot read what other processes changed');
    }
  };
  stack.defer(repeat(clock, REREAD_MS, reread));
  stack.defer(repeat(clock, POLL_MS, work.wake));
  await shared.leadership.begin({
    onElected: (term) => work.begin((context) => begin(context, shared.during(term))),
    onEnded: work.end,
    onNotification(notification) {
      if (notification === NOTIFICATIONS.stored) work.wake();
      if (notification === NOTIFICATIONS.settings) void reread();
    },
  });
}
