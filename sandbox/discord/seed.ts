import { ChannelType } from 'discord.js';
import type { Overwrite, PermissionName } from './control.ts';
import { bits } from './permissions.ts';
import type { Channel, World } from './world.ts';

export const EVERYONE_PERMISSIONS: readonly PermissionName[] = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'CreatePublicThreads',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'ReadMessageHistory',
  'UseApplicationCommands',
];

export const BOT_PERMISSIONS: readonly PermissionName[] = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
];

const id = (number: number): string => String(1_100_000_000_000_000_000n + BigInt(number));

/** Ada owns both servers, Max manages them, Mia and Noa are members. */
export const seed = {
  bot: id(1),
  ada: id(11),
  max: id(12),
  mia: id(13),
  noa: id(14),
  harbor: {
    id: id(100),
    manager: id(101),
    watchers: id(102),
    general: id(111),
    alerts: id(112),
    whales: id(113),
    announcements: id(114),
    /** Seen by Ada, Max and the bot. */
    treasury: id(115),
    /** Hidden from the bot. */
    council: id(116),
    /** A thread in `alerts`. */
    audit: id(117),
  },
  orchid: {
    id: id(200),
    manager: id(201),
    lobby: id(211),
    alerts: id(212),
    /** The bot may read here, but not send. */
    rules: id(213),
  },
} as const;

const overwrite = (id: string, type: 0 | 1, does: 'allow' | 'deny', name: PermissionName): Overwrite => ({
  id,
  type,
  allow: '0',
  deny: '0',
  [does]: bits([name]).toString(),
});

/** Returns a function that adds channels, by default text channels. */
function addServer(world: World, guild: { id: string; name: string; locale: string }, manager: string, now: number) {
  world.addGuild({ ...guild, ownerId: seed.ada }, bits(EVERYONE_PERMISSIONS));
  const guildId = guild.id;
  const botRole = String(BigInt(guildId) + 9n);
  const bot = world.users.get(world.botId)!;
  world.addRole({ id: botRole, guildId, name: bot.displayName, permissions: bits(BOT_PERMISSIONS), managed: true });
  world.addRole({ id: manager, guildId, name: 'Manager', permissions: bits(['ManageGuild']), color: 0x3498db });
  for (const userId of [seed.ada, seed.mia, seed.noa]) world.addMember({ guildId, userId, joinedAt: now });
  world.addMember({ guildId, userId: seed.max, roleIds: [manager], joinedAt: now });
  world.addMember({ guildId, userId: world.botId, roleIds: [botRole], joinedAt: now });
  return (id: string, name: string, rest: Partial<Channel> = {}): void => {
    world.addChannel({ id, name, guildId, type: ChannelType.GuildText, ...rest });
  };
}

export function seedWorld(world: World, now: number): void {
  const people: [string, string, string][] = [
    [seed.ada, 'ada', 'en-US'],
    [seed.max, 'max', 'en-GB'],
    [seed.mia, 'mia', 'de'],
    [seed.noa, 'noa', 'fr'],
  ];
  for (const [userId, username, locale] of people)
    world.addUser({ id: userId, username, displayName: username[0]!.toUpperCase() + username.slice(1), locale });
  seedHarbor(world, now);
  seedOrchid(world, now);
}

function seedHarbor(world: World, now: number): void {
  const { harbor } = seed;
  const guildId = harbor.id;
  const add = addServer(world, { id: guildId, name: 'Harbor DAO', locale: 'en-US' }, harbor.manager, now);
  world.addRole({ id: harbor.watchers, guildId, name: 'Watchers', permissions: 0n, color: 0xe67e22 });
  add(harbor.general, 'general');
  add(harbor.alerts, 'alerts');
  add(harbor.whales, 'whales');
  add(harbor.announcements, 'announcements', { type: ChannelType.GuildAnnouncement });
  add(harbor.treasury, 'treasury', {
    overwrites: [
      overwrite(guildId, 0, 'deny', 'ViewChannel'),
      overwrite(harbor.manager, 0, 'allow', 'ViewChannel'),
      overwrite(world.botId, 1, 'allow', 'ViewChannel'),
    ],
  });
  add(harbor.council, 'council', { overwrites: [overwrite(world.botId, 1, 'deny', 'ViewChannel')] });
  add(harbor.audit, 'audit', { type: ChannelType.PublicThread, parentId: harbor.alerts, ownerId: seed.max });
}

function seedOrchid(world: World, now: number): void {
  const { orchid } = seed;
  const add = addServer(world, { id: orchid.id, name: 'Orchid Collective', locale: 'de' }, orchid.manager, now);
  add(orchid.lobby, 'lobby');
  add(orchid.alerts, 'alerts');
  add(orchid.rules, 'rules', { overwrites: [overwrite(world.botId, 1, 'deny', 'SendMessages')] });
}
