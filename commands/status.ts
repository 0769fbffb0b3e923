import type { Command } from '../src/discord/command.ts';
import { inCode } from '../src/domain/text.ts';
import { define } from './parts/define.ts';
import { ago, count, note } from './parts/reply.ts';

/** How alerts stand in this server. */
export const status = {
  data: define('status', 'Last event, what waits, what stopped'),
  access: 'manage',
  async execute({ guildId }, { store, settings }) {
    const [overview, subscriptions] = await Promise.all([
      store.servers.overview(guildId),
      store.subscriptions.list(guildId),
    ]);
    const paused = subscriptions.filter((one) => one.paused).length;
    const stopped = overview.stopped
      .slice(0, 10)
      .map(({ channelId, state, reason }) => `<#${channelId}> ${state}${reason ? `: ${inCode(reason, '')}` : ''}`);
    return note(stopped.length > 0 || overview.deadLetters > 0 ? 'warn' : 'info', 'Status', [], {
      fields: [
        {
          name: 'Last event',
          value: overview.lastEventAt === null ? 'none yet' : ago(overview.lastEventAt),
          inline: true,
        },
        { name: 'Waiting to be told', value: count(overview.waiting, 'alert'), inline: true },
        { name: 'Could not be told', value: count(overview.deadLetters, 'alert'), inline: true },
        {
          name: 'Subscriptions',
          value: `${count(subscriptions.length, 'subscription')} of ${settings.maxSubscriptions.toLocaleString('en')}${paused > 0 ? `, ${paused} paused` : ''}`,
        },
        ...(stopped.length > 0 ? [{ name: 'Channels that do not take alerts', value: stopped.join('\n') }] : []),
      ],
      footer: { text: `Ledgerbell ${settings.version} · something wrong? /setup check` },
    });
  },
} satisfies Command;
