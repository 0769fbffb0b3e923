import type { APIMessage } from 'discord.js';
import type { Discord } from '../../sandbox/discord/index.ts';
import { shownIn } from '../discord/shown.ts';
import type { Sent } from './sender.ts';

/** Every transfer in a message, by its `text` (see {@link Sent}); `times`: how many equal ones it shows. */
export function transfersIn(message: APIMessage): { text: string; times: number }[] {
  const texts = [message.content, ...shownIn(message).map(({ text }) => text)];
  return texts.flatMap((shown) => {
    const found = new Set(shown.match(/\b8(,\d{3}){5}\b|\b9\d{15}\b/g));
    const times = Number(/×(\d+)/.exec(shown)?.[1] ?? 1);
    return [...found].map((text) => ({ text, times }));
  });
}

export function countShown(discord: Discord, sent: readonly Sent[]) {
  const counts = new Map<string, number>();
  for (const { channelId, message } of discord.history()) {
    for (const { text, times } of transfersIn(message)) {
      const key = `${channelId} ${text}`;
      counts.set(key, (counts.get(key) ?? 0) + times);
    }
  }
  const problems: string[] = [];
  const digests = discord
    .history()
    .filter(({ message }) => message.embeds.some(({ title }) => title?.includes('Digest')));
  // Its alerts would count as lost here, although they are posted.
  if (digests.length > 0) problems.push(`${digests.length} digests: the load was too high for this count`);
  let [acknowledged, shown, lost, doubled] = [0, 0, 0, 0];
  for (const transfer of sent) {
    const { text, channelIds } = transfer;
    const times = channelIds.map((channelId) => counts.get(`${channelId} ${text}`) ?? 0);
    if (transfer.acknowledged) {
      acknowledged++;
      if (times.every((n) => n === 1)) shown++;
      if (times.some((n) => n === 0)) lost++;
    }
    if (times.some((n) => n > 1)) doubled++;
    if (times.some((n) => n !== 1))
      problems.push(`${text} is shown ${times.join(', ')} times in ${channelIds.join(', ')}`);
  }
  return { acknowledged, shown, lost, doubled, problems };
}

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
