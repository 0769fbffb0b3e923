import { isDeepStrictEqual } from 'node:util';
import { GuildMember, PermissionFlagsBits } from 'discord.js';
import { checksumAddress } from '../../src/domain/address.ts';
import type { Choices, NewSubscription, Subscription, SubscriptionChange } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Asker } from '../shared/channels.ts';
import { notNamed } from '../shared/names.ts';
import { record } from '../shared/records.ts';
import type { Context } from '../shared/services.ts';

/** The difference between two choices, filter by filter, so that simultaneous changes by others stay. */
export function onlyChanged<Settings extends Pick<Choices, 'filters'>>(
  before: Settings,
  after: Settings,
): Partial<Omit<Settings, 'filters'>> & Pick<SubscriptionChange, 'filters'> {
  const { filters, ...rest } = after;
  const changed = differences(before, rest);
  const narrower = differences(before.filters, filters);
  return { ...changed, ...(Object.keys(narrower).length > 0 && { filters: narrower }) };
}

function differences<Settings extends object>(before: Settings, after: Settings): Partial<Settings> {
  const changed = Object.entries(after).filter(
    ([key, value]) => !isDeepStrictEqual(before[key as keyof Settings], value),
  );
  return Object.fromEntries(changed) as Partial<Settings>;
}

export type NewChoices = Choices & Pick<NewSubscription, 'address' | 'channelId' | 'network'>;

export async function addSubscription(wanted: NewChoices, createdAt: number, context: Context) {
  const { interaction, subscriptions, settings } = context;
  const outcome = await subscriptions.add(
    { ...wanted, guildId: interaction.guildId, createdBy: interaction.user.id, createdAt },
    settings.maxSubscriptions,
    settings.maxChannelsPerAddress,
  );
  if (outcome.status === 'added') {
    const { id, address, channelId: channel } = outcome.subscription;
    await record(context, 'subscription.add', { id, address: checksumAddress(address), channel });
  }
  return outcome;
}

/** The choices about pings and how often they are sent: changing these needs the right to ping. */
export const PINGS = ['mention', 'mentionMinimum', 'mentionMinimumUsd', 'mentionCooldown'] as const;

export async function save(
  context: Context,
  before: Subscription,
  change: SubscriptionChange,
  action: string,
): Promise<Subscription> {
  const { interaction, subscriptions, t } = context;
  const after = { ...before, ...change };
  const isOtherPing = PINGS.some((key) => after[key] !== before[key]) || after.channelId !== before.channelId;
  if (isOtherPing) requireMention(interaction, after.mention, after.channelId, t);
  const outcome = await subscriptions.change(interaction.guildId, before.id, change, {
    userId: interaction.user.id,
    at: context.now(),
  });
  switch (outcome.status) {
    case 'missing':
      throw new UserError(t('subscription.edit.gone'));
    case 'exists': {
      const { channelId, id } = outcome.subscription;
      throw new UserError(t('subscription.edit.exists', { channel: `<#${channelId}>`, id }));
    }
    case 'label-taken':
    case 'labels-full':
      throw notNamed(outcome, context);
    case 'changed':
      context.wake([before, outcome.subscription]);
      await record(context, action, { id: before.id, ...change });
      return outcome.subscription;
  }
}

/** The bot must not ping where Discord would not let the person ping. */
export function requireMention(asker: Asker, roleId: string | null, channelId: string, t: Translate): void {
  if (roleId === null) return;
  const { guild, member, memberPermissions } = asker;
  const channel = guild?.channels.cache.get(channelId);
  const known = member instanceof GuildMember ? member : null;
  // Rights in the channel where the command is used do not apply to another one.
  const elsewhere = channelId === asker.channelId ? null : known?.permissions;
  const permissions = (known && channel?.permissionsFor(known)) ?? elsewhere ?? memberPermissions;
  if (permissions?.has(PermissionFlagsBits.MentionEveryone)) return;
  if (guild?.roles.cache.get(roleId)?.mentionable === true) return;
  throw new UserError(t('subscription.mentionForbidden', { role: `<@&${roleId}>` }));
}
