import { ChannelType, type MessageFlags, PermissionFlagsBits } from 'discord-api-types/v10';
import { isThread } from '../../discord/channel-types.ts';
import type {
  ChannelState,
  ControlEvent,
  GuildState,
  InteractionState,
  MemberState,
  MessageState,
  RoleState,
  State,
  UserState,
} from '../../discord/control.ts';
import type { PageEvent, TrackedTransaction, WorldState } from '../protocol.ts';

const MAX_MESSAGES = 300;
const MAX_TRANSACTIONS = 300;
const MAX_INTERACTIONS = 200;

export interface Model {
  discord: State;
  world: WorldState;
  /** By network and transaction hash, oldest first. */
  transactions: Map<string, TrackedTransaction>;
  messages: Map<string, MessageState>;
  interactions: Map<string, InteractionState>;
  /** Grows with every change of people, channels, roles or commands. */
  edition: number;
}

/** undefined until the server's first event. */
export let model: Model | undefined;
export let connected = false;

export function setConnected(now: boolean): void {
  connected = now;
}

export function applyEvent(event: PageEvent): void {
  switch (event.type) {
    case 'hello':
      model = {
        discord: event.discord,
        world: event.world,
        transactions: new Map(event.transactions.map((transaction) => [keyOf(transaction), transaction])),
        messages: new Map(event.discord.messages.map((message) => [message.id, message])),
        interactions: new Map(event.discord.interactions.map((interaction) => [interaction.id, interaction])),
        edition: (model?.edition ?? 0) + 1,
      };
      return;
    case 'world':
      if (model) model.world = event.world;
      return;
    case 'transactions':
      if (model) for (const transaction of event.transactions) model.transactions.set(keyOf(transaction), transaction);
      if (model) forgetOldest(model.transactions, MAX_TRANSACTIONS);
      return;
    case 'discord':
      if (model) applyDiscordEvent(model, event.event);
  }
}

function applyDiscordEvent(all: Model, event: ControlEvent): void {
  const { discord } = all;
  switch (event.type) {
    case 'message':
      if (event.message.deleted) all.messages.delete(event.message.id);
      else all.messages.set(event.message.id, event.message);
      if (event.change === 'created') forgetOldMessages(all, event.message.channelId);
      return;
    case 'interaction':
      all.interactions.set(event.interaction.id, event.interaction);
      forgetOldest(all.interactions, MAX_INTERACTIONS);
      return;
    case 'guild':
      discord.guilds = replaced(discord.guilds, event.guild, (guild) => guild.id);
      break;
    case 'users':
      discord.users = event.users;
      break;
    case 'commands':
      discord.commands = replaced(discord.commands, event.commands, (commands) => String(commands.guildId));
      break;
    case 'direct-message':
      discord.directMessages = replaced(discord.directMessages, event.channel, (channel) => channel.id);
      break;
    case 'sessions':
      discord.sessions = event.sessions;
      return;
    case 'faults':
      discord.faults = event.faults;
      return;
    default:
      return;
  }
  all.edition++;
}

function replaced<T>(list: readonly T[], item: T, key: (one: T) => string): T[] {
  const at = list.findIndex((other) => key(other) === key(item));
  return at < 0 ? [...list, item] : list.with(at, item);
}

function forgetOldest(map: Map<string, unknown>, kept: number): void {
  for (const key of map.keys()) {
    if (map.size <= kept) return;
    map.delete(key);
  }
}

function forgetOldMessages(all: Model, channelId: string): void {
  const ids = [...all.messages.values()].filter((message) => message.channelId === channelId).map(({ id }) => id);
  for (const id of ids.slice(0, Math.max(0, ids.length - MAX_MESSAGES))) all.messages.delete(id);
}

const keyOf = ({ network, txHash }: TrackedTransaction): string => `${network} ${txHash}`;

export function onNetwork(all: Model, network: number): Model {
  const { second } = all.world;
  if (second === null || second === 'starting') return all;
  const world = network === 0 ? all.world : { ...all.world, ...second };
  return {
    ...all,
    world,
    transactions: new Map([...all.transactions].filter(([, transaction]) => transaction.network === network)),
  };
}

/** While the bot connects, its receiver may not be listening. */
export const isOnline = ({ world, discord }: Model): boolean =>
  world.bot.state === 'running' && discord.sessions.some((session) => session.connected);

export const guildOf = (id: string): GuildState | undefined => model?.discord.guilds.find((guild) => guild.id === id);

export const userOf = (id: string): UserState | undefined => model?.discord.users.find((user) => user.id === id);

export function channelOf(id: string): ChannelState | undefined {
  const all = [
    ...(model?.discord.guilds ?? []).flatMap((guild) => guild.channels),
    ...(model?.discord.directMessages ?? []),
  ];
  return all.find((channel) => channel.id === id);
}

export const hasFlag = ({ message }: MessageState, flag: MessageFlags): boolean => ((message.flags ?? 0) & flag) !== 0;

export const memberOf = (guild: GuildState, userId: string): MemberState | undefined =>
  guild.members.find((member) => member.userId === userId);

/** In the server at large. */
export const permissionsOf = (guild: GuildState, userId: string): bigint =>
  BigInt(memberOf(guild, userId)?.permissions ?? 0);

export const localeOf = (userId: string): string => userOf(userId)?.locale ?? 'en-US';

export function nameOf(userId: string, guild?: GuildState): string {
  return (guild && memberOf(guild, userId)?.nick) ?? userOf(userId)?.displayName ?? 'Somebody';
}

/** The highest of the roles with a color. */
export function coloredRole(guild: GuildState, userId: string): RoleState | undefined {
  const ids = memberOf(guild, userId)?.roleIds ?? [];
  return guild.roles
    .filter(({ id, color }) => color !== 0 && ids.includes(id))
    .sort((a, b) => b.position - a.position)[0];
}

export function rankOf(guild: GuildState, userId: string): 'owner' | 'manager' | 'member' {
  if (guild.ownerId === userId) return 'owner';
  const { ManageGuild, Administrator } = PermissionFlagsBits;
  return permissionsOf(guild, userId) & (ManageGuild | Administrator) ? 'manager' : 'member';
}

const byAge = (a: { id: string }, b: { id: string }): number => (BigInt(a.id) < BigInt(b.id) ? -1 : 1);

/** The channels that the person sees, in order, with threads below their channel. */
export function channelsFor(guild: GuildState, userId: string): ChannelState[] {
  const seen = guild.channels.filter(
    (channel) => channel.visibleTo.includes(userId) && channel.type !== ChannelType.GuildCategory,
  );
  const order = (a: ChannelState, b: ChannelState): number => a.position - b.position || byAge(a, b);
  return seen
    .filter((channel) => !isThread(channel))
    .sort(order)
    .flatMap((channel) => [
      channel,
      ...seen.filter((thread) => isThread(thread) && thread.parentId === channel.id).sort(order),
    ]);
}

/** The messages and failed commands that the person sees, oldest first. */
export function timeline(channelId: string, userId: string): (MessageState | InteractionState)[] {
  const messages = [...(model?.messages.values() ?? [])].filter(
    (message) => message.channelId === channelId && (message.visibleTo === null || message.visibleTo === userId),
  );
  const failures = [...(model?.interactions.values() ?? [])].filter(
    (interaction) =>
      interaction.channelId === channelId &&
      interaction.userId === userId &&
      interaction.status === 'failed' &&
      interaction.kind !== 'autocomplete',
  );
  return [...messages, ...failures].sort(byAge);
}

/** Counts only messages that everybody sees. '0' without any. */
export function newestIn(channelId: string): string {
  let newest = 0n;
  for (const message of model?.messages.values() ?? [])
    if (message.channelId === channelId && message.visibleTo === null && BigInt(message.id) > newest)
      newest = BigInt(message.id);
  return newest.toString();
}

export function addressName(address: string): string | null {
  const same = (other: string): boolean => other.toLowerCase() === address.toLowerCase();
  const wallet = Object.entries(model?.world.wallets ?? {}).find(([, thread]) => same(thread));
  if (wallet) return wallet[0];
  const token = Object.entries(model?.world.tokens ?? {}).find(([, thread]) => same(thread.address));
  if (!token) return null;
  return token[0] === 'hostile' ? 'hostile token' : token[0] === 'fake' ? 'fake HUSD' : `${token[1].name} token`;
}
