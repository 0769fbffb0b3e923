import type { APIMessage } from 'discord.js';
import type { Discord } from '../../sandbox/discord/index.ts';
import { shownIn } from '../discord/shown.ts';
import type { Sent } from './sender.ts';

/** Every transfer in a message, by its amount (`times`: how many equal ones) or its token's id. */
export function linesOf(message: APIMessage): { shown: string; times: number }[] {
  const texts = [message.content, ...shownIn(message).map(({ text }) => text)];
  return texts.flatMap((text) => {
    const found = new Set(text.match(/\b8(,\d{3}){5}\b|\b9\d{15}\b/g));
    const times = Number(/×(\d+)/.exec(text)?.[1] ?? 1);
    return [...found].map((shown) => ({ shown, times }));
  });
}

/** Counts what the channels show of what was sent. */
export function countShown(discord: Discord, sent: readonly Sent[]) {
  const counts = new Map<string, number>();
  for (const { channelId, message } of discord.history()) {
    for (const { shown: text, times: n } of linesOf(message)) {
      const key = `${channelId} ${text}`;
      counts.set(key, (counts.get(key) ?? 0) + n);
    }
  }
  const problems: string[] = [];
  const digests = discord
    .history()
    .filter(({ message }) => message.embeds.some(({ title }) => title?.includes('Digest')));
  // Its alerts would count as lost here, although they are posted.
  if (digests.length > 0) problems.push(`${digests.length} digests: the load was too high for this count`);
  let [acknowledged, shown, lost, doubled] = [0, 0, 0, 0];
  for (const { shown: text, lines, acknowledged: taken } of sent) {
    const reported = lines.map((channelId) => counts.get(`${channelId} ${text}`) ?? 0);
    if (taken) acknowledged++;
    if (taken && reported.every((n) => n === 1)) shown++;
    if (taken && reported.some((n) => n === 0)) lost++;
    if (reported.some((n) => n > 1)) doubled++;
    if (reported.some((n) => n !== 1))
      problems.push(`${text} reported ${reported.join(', ')} times in ${lines.join(', ')}`);
  }
  return { acknowledged, shown, lost, doubled, problems };
}
