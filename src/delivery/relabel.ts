import type { AddressText } from '../domain/address.ts';
import { DAY } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

/** Messages that a new label changes at the most: Discord takes one a second in a channel. */
const MOST = 200;

/**
 * Asks for messages of a guild that show one of these addresses to be rendered anew: those of the last day, and those
 * that were rendered and are still to be sent, the latest 200 at most. Gives how many, whether that is all of them, and
 * their channels, for the deliverer to be nudged. Looking through a busy guild's day takes seconds, so that is not done
 * by the thread that stores deliveries.
 */
export async function relabel(
  { history, outbox }: Pick<Store, 'history' | 'outbox'>,
  guildId: string,
  addresses: readonly AddressText[],
  now: number,
): Promise<{ messages: number; isAll: boolean; channels: string[] }> {
  const found = await history.messagesShowing(guildId, addresses, now - DAY, MOST + 1);
  const latest = found.slice(0, MOST);
  const channels = latest.length === 0 ? [] : await outbox.requestRerender(latest, now);
  return { messages: latest.length, isAll: latest.length === found.length, channels };
}
