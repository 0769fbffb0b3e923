import { ChannelFlags, ChannelType, DiscordAPIError, type ForumChannel, ThreadAutoArchiveDuration } from 'discord.js';
import { type AddressText, checksumAddress, shortAddress } from '../../src/domain/address.ts';
import { cutTo } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { languageOf, translator } from '../../src/languages/index.ts';
import { checkTarget, type PickedChannel, TARGET_TYPES } from '../shared/channels.ts';
import { tooManyRefusals } from '../shared/guild-channels.ts';
import { fullAddress } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';

/** Where a subscription's alerts can go: in a forum to a post of its own. */
export const PLACE_TYPES = [...TARGET_TYPES, ChannelType.GuildForum] as const;

const MAX_TITLE = 100;
/** Discord's error for a post without a tag in a forum that requires one. */
const TAG_REQUIRED = 40_067;

export function checkPlace(channelId: string, picked: PickedChannel, context: Context): Promise<void> {
  return checkTarget(channelId, picked, context, forumOf(channelId, context) !== null);
}

/** In a forum, the address's post. If the bot stops before the subscription is stored, the next try finds it. */
export async function placeFor(
  channelId: string,
  { address, label }: { address: AddressText; label: string | null },
  context: Context,
): Promise<string> {
  const forum = forumOf(channelId, context);
  if (!forum) return channelId;
  const known = await postIn(forum, address);
  if (known !== null) return known;
  const { interaction, server, settings, t } = context;
  const here = translator(languageOf(server.language, interaction.guildLocale));
  const name = label === null ? shortAddress(address) : `${label} · ${shortAddress(address)}`;
  const tag = forum.availableTags.find(({ moderated }) => !moderated);
  const create = () =>
    forum.threads.create({
      name: cutTo(name, MAX_TITLE),
      autoArchiveDuration: ThreadAutoArchiveDuration.OneWeek,
      message: { content: here('subscription.forum.first', { address: fullAddress(address, settings) }) },
      appliedTags: tag && forum.flags.has(ChannelFlags.RequireTag) ? [tag.id] : [],
    });
  const made = context.guildChannels.request(forum.guild, create, () => tooManyRefusals(context));
  const { id } = await made.catch((error: unknown) => {
    if (!(error instanceof DiscordAPIError)) throw error;
    const channel = `<#${channelId}>`;
    if (error.code === TAG_REQUIRED) throw new UserError(t('subscription.forum.needsTag', { channel }));
    throw new UserError(t('subscription.forum.refused', { channel, reason: `\`${error.code}\`` }));
  });
  return id;
}

export function forumOf(channelId: string, { interaction }: Context): ForumChannel | null {
  const channel = interaction.guild?.channels.cache.get(channelId);
  return channel?.type === ChannelType.GuildForum ? channel : null;
}

/** The bot's open post about an address; null: none. A look-alike's post may have the same title. */
async function postIn(forum: ForumChannel, address: AddressText): Promise<string | null> {
  const own = forum.threads.cache.filter(
    (thread) => thread.ownerId === forum.client.user.id && thread.name.endsWith(shortAddress(address)),
  );
  for (const thread of own.values()) {
    const first = await thread.fetchStarterMessage().catch(() => null);
    if (first?.content.includes(checksumAddress(address))) return thread.id;
  }
  return null;
}
