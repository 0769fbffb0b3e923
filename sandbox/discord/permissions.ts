/** Computed as Discord does: owner, roles, overwrites, and implied permissions. */
import { PermissionFlagsBits as Bit, ChannelType } from 'discord.js';
import { holdsMessages, isThread } from './channel-types.ts';
import type { PermissionName } from './control.ts';
import { errors, NotPossible } from './errors.ts';
import type { Channel, Guild, Member, World } from './world.ts';

const ALL = Object.values(Bit).reduce((sum, bit) => sum | bit, 0n);

export function bits(names: readonly PermissionName[]): bigint {
  return names.reduce((sum, name) => {
    if (Bit[name] === undefined) throw new NotPossible(`There is no permission "${name}". An example is ViewChannel.`);
    return sum | Bit[name];
  }, 0n);
}

/** Without a channel: in the server at large. */
export function permissionsOf(world: World, guild: Guild, member: Member, channel?: Channel): bigint {
  if (guild.ownerId === member.userId) return ALL;
  const roles = [guild.id, ...member.roleIds];
  let allowed = roles.reduce((sum, id) => sum | (guild.roles.get(id)?.permissions ?? 0n), 0n);
  if (allowed & Bit.Administrator) return ALL;
  if (!channel) return allowed;
  const place = isThread(channel) ? (world.channels.get(channel.parentId ?? '') ?? channel) : channel;

  function apply(matching: { allow: string; deny: string }[]): void {
    for (const { deny } of matching) allowed &= ~BigInt(deny);
    for (const { allow } of matching) allowed |= BigInt(allow);
  }

  apply(place.overwrites.filter(({ id }) => id === guild.id));
  apply(place.overwrites.filter(({ id, type }) => type === 0 && id !== guild.id && member.roleIds.includes(id)));
  apply(place.overwrites.filter(({ id, type }) => type === 1 && id === member.userId));
  if (!(allowed & Bit.ViewChannel)) return 0n;
  const send = isThread(channel) ? Bit.SendMessagesInThreads : Bit.SendMessages;
  if (!(allowed & send)) allowed &= ~(Bit.MentionEveryone | Bit.SendTTSMessages | Bit.AttachFiles | Bit.EmbedLinks);
  return allowed;
}

export function sees(world: World, userId: string, channel: Channel): boolean {
  const guild = world.guildOf(channel);
  if (!guild) return channel.recipientId === userId || userId === world.botId;
  const member = guild.members.get(userId);
  return member !== undefined && (permissionsOf(world, guild, member, channel) & Bit.ViewChannel) !== 0n;
}

/** 0 without access. */
export function botPermissions(world: World, channel: Channel): bigint {
  const guild = world.guildOf(channel);
  if (!guild) return ALL;
  const member = guild.members.get(world.botId);
  if (!guild.present || !member) return 0n;
  const allowed = permissionsOf(world, guild, member, channel);
  const isIn = channel.type !== ChannelType.PrivateThread || channel.joined || channel.ownerId === world.botId;
  return isIn || allowed & Bit.ManageThreads ? allowed : 0n;
}

/** @throws Discord's error unless the bot has all of `needed` there. */
export function accessible(world: World, channelId: string, needed: readonly PermissionName[] = []): Channel {
  const channel = world.channels.get(channelId);
  if (!channel) throw errors.unknownChannel();
  const allowed = botPermissions(world, channel);
  if (!(allowed & Bit.ViewChannel)) throw errors.missingAccess();
  const wanted = bits(needed);
  if ((allowed & wanted) !== wanted) throw errors.missingPermissions();
  return channel;
}

export function sending(channel: Channel): PermissionName {
  return isThread(channel) ? 'SendMessagesInThreads' : 'SendMessages';
}

/** Members who manage threads can write to locked ones. */
export function isLockedOut(world: World, channel: Channel): boolean {
  return channel.locked && !(botPermissions(world, channel) & Bit.ManageThreads);
}

export function botMaySend(world: World, channel: Channel): boolean {
  const takesMessages = holdsMessages(channel) || channel.type === ChannelType.GuildForum;
  if (!takesMessages || isLockedOut(world, channel)) return false;
  const wanted = bits(['ViewChannel', sending(channel)]);
  return (botPermissions(world, channel) & wanted) === wanted;
}
