import type { Discord } from '../../sandbox/discord/index.ts';
import { transfersIn } from './count.ts';
import type { Sent } from './sender.ts';

/** Knows which transfers some channel does not show yet. */
export function watchUnshown(discord: Discord) {
  const shown = new Set<string>();
  discord.on((event) => {
    if (event.type !== 'message' || event.change === 'deleted') return;
    const { channelId, message } = event.message;
    for (const { text } of transfersIn(message)) shown.add(`${channelId} ${text}`);
  });
  const unshown = new Set<Sent>();
  let known = 0;
  return {
    /** Returns how many of these are unshown; `sent` only grows from call to call. */
    count(sent: ReadonlyMap<string, Sent>): number {
      for (const transfer of [...sent.values()].slice(known)) unshown.add(transfer);
      known = sent.size;
      for (const transfer of unshown) {
        const { text, channelIds } = transfer;
        if (channelIds.every((channelId) => shown.has(`${channelId} ${text}`))) unshown.delete(transfer);
      }
      return unshown.size;
    },
  };
}
