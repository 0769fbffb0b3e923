import type { Guild } from 'discord.js';
import type { GuildOverview } from '../../src/domain/guild.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { Translate } from '../../src/languages/index.ts';
import { ALERT_EXTRAS, isLocked, missingIn, outsideLine } from '../shared/channels.ts';
import type { FoundChannel } from '../shared/guild-channels.ts';
import { boldName, nameOf } from '../shared/names.ts';
import { firstOf } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { type Finding, fault, fine } from './finding.ts';

export async function checkChannels(
  context: Context,
  subscriptions: readonly Subscription[],
  blocked: GuildOverview['blocked'],
): Promise<Finding[]> {
  const { t, server, guildChannels } = context;
  const { guild } = context.interaction;
  if (!guild) return [fault(outsideLine(context))];
  const ids = [...new Set(subscriptions.map(({ channelId }) => channelId))];
  if (ids.length === 0) return [fault(t('setup.check.nothingWatched'))];
  const subscriptionsIn = (id: string): string => {
    const there = subscriptions.filter(({ channelId }) => channelId === id);
    return firstOf(t, there, 5, (subscription) => `#${subscription.id} ${nameOf(subscription)}`).join(t('reply.comma'));
  };
  const known = await guildChannels.find(guild, ids);
  const wrong = new Map(
    ids.flatMap((id): [string, Finding][] => {
      const finding = judge(id, known.get(id), guild, t);
      // Discord shows no name for a deleted channel, so its subscriptions are listed.
      if (finding && known.get(id) === 'gone') return [[id, fault(`${finding.text}\n-# ${subscriptionsIn(id)}`)]];
      return finding ? [[id, finding]] : [];
    }),
  );
  for (const { channelId, state } of blocked) {
    if (wrong.has(channelId)) continue;
    const key = state === 'parked' ? 'setup.check.parked' : 'setup.check.channelUnreachable';
    wrong.set(channelId, fault(t(key, { channel: `<#${channelId}>` })));
  }
  const { defaultChannel } = server;
  // A default channel that already gets alerts was judged above.
  const others = defaultChannel === null || ids.includes(defaultChannel) ? [] : [defaultChannel];
  const found = await guildChannels.find(guild, others);
  return [
    ...(wrong.size > 0 ? wrong.values() : [fine(t('setup.check.channelsFine', { count: ids.length }))]),
    ...(others.some((id) => judge(id, found.get(id), guild, t)) ? [fault(t('setup.check.defaultChannel'))] : []),
  ];
}

function judge(id: string, found: FoundChannel, guild: Guild, t: Translate): Finding | null {
  const channel = `<#${id}>`;
  if (found === 'gone') return fault(t('setup.check.channelGone', { channel }));
  if (found === 'hidden') return fault(t('setup.check.channelHidden', { channel }));
  if (isLocked(guild, found)) return fault(t('setup.check.channelClosed', { channel }));
  const missing = missingIn(guild, id, null, t, ALERT_EXTRAS);
  if (missing.length === 0) return null;
  return fault(t('setup.check.channelLacks', { channel, permissions: missing.join(`**${t('reply.comma')}**`) }));
}

export function checkRoles({ interaction, t, server }: Context, subscriptions: readonly Subscription[]): Finding[] {
  const { guild, appPermissions } = interaction;
  // If a guild is not fully loaded, its roles are unknown.
  if (!guild?.roles.cache.has(guild.id)) return [];
  const { managerRole } = server;
  const findings = managerRole && !guild.roles.cache.has(managerRole) ? [fault(t('setup.check.managerGone'))] : [];
  const seen = new Set<string>();
  for (const { mention, label, id } of subscriptions) {
    if (mention === null || seen.has(mention)) continue;
    seen.add(mention);
    const role = guild.roles.cache.get(mention);
    if (!role) findings.push(fault(t('setup.check.roleGone', { label: boldName(label, `#${id}`) })));
    else if (!role.mentionable && !appPermissions.has('MentionEveryone')) {
      findings.push(fault(t('setup.check.roleSilent', { role: `<@&${mention}>` })));
    }
  }
  return findings;
}
