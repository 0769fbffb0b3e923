import type { Discord } from '../../sandbox/discord/index.ts';
import { createSender } from '../../src/discord/sender.ts';
import type { Sender } from '../../src/domain/send-outcome.ts';

/** Sends to Discord with a long timeout, because any machine may be slow, and with a short one for chosen channels. */
export function createConnection(discord: Discord) {
  const hurried = new Set<string>();
  const senderOf = (timeoutMs: number) => createSender({ token: discord.token, apiUrl: discord.apiUrl, timeoutMs });
  return {
    giveUpSoon(...channelIds: string[]): void {
      for (const id of channelIds) hurried.add(id);
    },
    sender(): Sender {
      const [patient, hasty] = [senderOf(120_000), senderOf(300)];
      const of = (channelId: string) => (hurried.has(channelId) ? hasty : patient);
      return {
        create: (channelId, ...rest) => of(channelId).create(channelId, ...rest),
        edit: (channelId, ...rest) => of(channelId).edit(channelId, ...rest),
        find: (channelId, ...rest) => of(channelId).find(channelId, ...rest),
        isMember: (guildId) => patient.isMember(guildId),
      };
    },
  };
}
