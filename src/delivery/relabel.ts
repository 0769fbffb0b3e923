import type { AddressText } from '../domain/address.ts';
import { DAY } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

/** Maximum number of messages that one label change renders again: Discord takes about one edit a second per channel. */
const MAX_MESSAGES = 200;

/**
 * Re-renders a guild's messages that show one of these addresses: the latest 200 of the last day, sent or not. Returns how
 * many, whether that is all of them, and the channels to wake.
 */
export async function relabel(
  { history, outbox }: Pick<Store, 'history' | 'outbox'>,
  guildId: string,
  addresses: readonly AddressText[],
  now: number,
): Promise<{ messages: number; isAll: boolean; channels: string[] }> {
  const found = await history.messagesShowing(guildId, addresses, now - DAY, MAX_MESSAGES + 1);
  const latest = found.slice(0, MAX_MESSAGES);
  const channels = latest.length === 0 ? [] : await outbox.requestRerender(latest, now);
  return { messages: latest.length, isAll: latest.length === found.length, channels };
}
