import { ButtonStyle } from 'discord.js';
import type { ButtonUse, CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress, parseWatchable } from '../../src/domain/address.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { checkTarget } from '../parts/channel.ts';
import { count, fullAddress, note, press, row } from '../parts/reply.ts';
import { describe, type Filters, NO_FILTERS, readFilters } from './filters.ts';

/** `/subscription add`. */
export async function add(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const parsed = parseWatchable(interaction.options.getString('address', true));
  if (!parsed.ok) throw new UserError(context.t(`address.${parsed.fault}`));
  const filters = readFilters(context.t, interaction, NO_FILTERS);
  const picked = interaction.options.getChannel('channel');
  const { defaultChannel } = await context.store.servers.settings(interaction.guildId);
  const channelId = picked?.id ?? defaultChannel ?? interaction.channelId;
  checkTarget(interaction, channelId, picked);
  return watch(interaction, context, { ...filters, address: parsed.address, channelId });
}

/** Starts watching, for whichever command or button asks; what is wrong with the wish was checked before. */
export async function watch(
  interaction: CommandUse | ButtonUse,
  { store, settings, now }: CommandContext,
  wish: Filters & { address: AddressText; channelId: string },
): Promise<Reply> {
  const { guildId } = interaction;
  const outcome = await store.subscriptions.add(
    { ...wish, guildId, createdBy: interaction.user.id, createdAt: now() },
    settings.maxSubscriptions,
  );
  switch (outcome.status) {
    case 'exists':
      throw new UserError(
        `<#${wish.channelId}> already watches ${fullAddress(wish.address, settings)} (number ` +
          `${outcome.subscription.id}). Change it with \`/subscription edit\`.`,
      );
    case 'full':
      throw new UserError(
        `This server watches ${count(settings.maxSubscriptions, 'address', 'addresses')} already, which is the limit ` +
          'here. Remove some with `/subscription remove`, or ask the person who runs this bot for more room.',
      );
    case 'added': {
      const { subscription } = outcome;
      const detail = { id: subscription.id, address: checksumAddress(wish.address), channel: wish.channelId };
      await store.servers.record({
        guildId,
        userId: interaction.user.id,
        action: 'subscription.add',
        detail,
        at: now(),
      });
      return added(interaction, subscription, settings);
    }
  }
}

function added(
  interaction: CommandUse | ButtonUse,
  subscription: Subscription,
  settings: CommandContext['settings'],
): Reply {
  const operator = settings.operatorGuildIds.includes(interaction.guildId);
  const scope = operator
    ? `add it to the addresses of your webhook, the one that posts to\n\`${settings.receiverUrl}\``
    : 'the person who runs this bot has to add it to the addresses of the webhook that posts here.';
  return note(
    'good',
    `🔔 Watching ${inCode(subscription.label, 'a new address')}`,
    [
      fullAddress(subscription.address, settings),
      `Alerts go to <#${subscription.channelId}>: ${describe(subscription, settings)}.`,
      silentMention(interaction, subscription),
    ],
    {
      fields: [
        {
          name: 'One more step',
          value: `The notification service must know the address too: ${scope}\nUntil the first transfer comes, \`/subscription list\` says “no event yet”.`,
        },
      ],
      footer: { text: `Subscription ${subscription.id} · try it with /subscription test` },
      components: [row(press('All subscriptions', 'subscription:list:all:0', ButtonStyle.Secondary))],
    },
  );
}

/** Discord shows a role without pinging it when the role does not allow that. */
function silentMention(interaction: CommandUse | ButtonUse, { mention }: Subscription): string | null {
  const role = mention === null ? undefined : interaction.guild?.roles.cache.get(mention);
  if (!role || role.mentionable || interaction.appPermissions.has('MentionEveryone')) return null;
  return `-# <@&${role.id}> will be shown but not pinged: allow anyone to mention it (Server Settings → Roles).`;
}
