/** The world that a stand-in starts with: two servers, four people, and the bot. */
import { ChannelType } from 'discord.js';
import type { PermissionName } from './control.ts';
import { bits } from './permissions.ts';
import type { World } from './world.ts';

/** What everybody may do in a new server. */
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

/** What the bot's own role may do. */
export const BOT_PERMISSIONS: readonly PermissionName[] = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
];

const id = (number: number): string => String(1_100_000_000_000_000_000n + BigInt(number));

/** The ids of the first world, by name. Ada owns both servers; Max manages; Mia and Noa are members. */
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

const deny = (target: string, type: 0 | 1, ...names: PermissionName[]) => ({
  id: target,
  type,
  allow: '0',
  deny: bits(names).toString(),
});
const allow = (target: string, type: 0 | 1, ...names: PermissionName[]) => ({
  id: target,
  type,
  allow: bits(names).toString(),
  deny: '0',
});

function addServer(
  world: World,
  guild: { id: string; name: string; locale: string },
  manager: string,
  now: number,
): void {
  world.addGuild({ ...guild, ownerId: seed.ada }, bits(EVERYONE_PERMISSIONS));
  const guildId = guild.id;
  const botRole = String(BigInt(guildId) + 9n);
  const bot = world.users.get(world.botId)!;
  world.addRole({ id: botRole, guildId, name: bot.displayName, permissions: bits(BOT_PERMISSIONS), managed: true });
  world.addRole({ id: manager, guildId, name: 'Manager', permissions: bits(['ManageGuild']), color: 0x3498db });
  for (const userId of [seed.ada, seed.mia, seed.noa]) world.addMember({ guildId, userId, joinedAt: now });
  world.addMember({ guildId, userId: seed.max, roleIds: [manager], joinedAt: now });
  world.addMember({ guildId, userId: world.botId, roleIds: [botRole], joinedAt: now });
}

/** Fills an empty world. */
export function plant(world: World, now: number): void {
  const people: [string, string, string][] = [
    [seed.ada, 'ada', 'en-US'],
    [seed.max, 'max', 'en-GB'],
    [seed.mia, 'mia', 'de'],
    [seed.noa, 'noa', 'fr'],
  ];
  for (const [userId, username, locale] of people)
    world.addUser({ id: userId, username, displayName: username[0]!.toUpperCase() + username.slice(1), locale });
  const { harbor, orchid } = seed;
  addServer(world, { id: harbor.id, name: 'Harbor DAO', locale: 'en-US' }, harbor.manager, now);
  world.addRole({ id: harbor.watchers, guildId: harbor.id, name: 'Watchers', permissions: 0n, color: 0xe67e22 });
  const text = (channel: string, name: string, overwrites: ReturnType<typeof deny>[] = []): void => {
    world.addChannel({ id: channel, type: ChannelType.GuildText, name, guildId: harbor.id, overwrites });
  };
  text(harbor.general, 'general');
  text(harbor.alerts, 'alerts');
  text(harbor.whales, 'whales');
  world.addChannel({
    id: harbor.announcements,
    type: ChannelType.GuildAnnouncement,
    name: 'announcements',
    guildId: harbor.id,
  });
  text(harbor.treasury, 'treasury', [
    deny(harbor.id, 0, 'ViewChannel'),
    allow(harbor.manager, 0, 'ViewChannel'),
    allow(world.botId, 1, 'ViewChannel'),
  ]);
  text(harbor.council, 'council', [deny(world.botId, 1, 'ViewChannel')]);
  world.addChannel({
    id: harbor.audit,
    type: ChannelType.PublicThread,
    name: 'audit',
    guildId: harbor.id,
    parentId: harbor.alerts,
    ownerId: seed.max,
  });
  addServer(world, { id: orchid.id, name: 'Orchid Collective', locale: 'de' }, orchid.manager, now);
  for (const [channel, name] of [
    [orchid.lobby, 'lobby'],
    [orchid.alerts, 'alerts'],
  ] as const)
    world.addChannel({ id: channel, type: ChannelType.GuildText, name, guildId: orchid.id });
  world.addChannel({
    id: orchid.rules,
    type: ChannelType.GuildText,
    name: 'rules',
    guildId: orchid.id,
    overwrites: [deny(world.botId, 1, 'SendMessages')],
  });
}
