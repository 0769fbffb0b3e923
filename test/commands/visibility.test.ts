import {
  ChannelType,
  Client,
  DiscordAPIError,
  type Guild,
  type GuildMember,
  PermissionFlagsBits,
  PermissionsBitField,
} from 'discord.js';
import { expect, it, onTestFinished } from 'vitest';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import { type Asker, hiddenFrom } from '../../commands/shared/visibility.ts';
import { requireMention } from '../../commands/subscription/mention.ts';
import { translator } from '../../src/languages/index.ts';
import { startUpstream } from '../upstream/server.ts';

const GUILD = '2100000000000000001';
const MODERATORS = '2100000000000000002';
const [OPEN, SECRET, PUBLIC, PRIVATE, ORPHAN, GONE] = [11, 12, 13, 14, 15, 16].map((n) => `21000000000000000${n}`);
const ALL = [OPEN, SECRET, PUBLIC, PRIVATE, ORPHAN, GONE] as string[];

/** A server as the gateway sends it: two channels and three threads, one in a channel that it did not send. */
function server(api?: string): { guild: Guild; person: (roles: string[]) => GuildMember } {
  const client = new Client({ intents: [], rest: { ...(api && { api }), retries: 0 } });
  client.rest.setToken('token');
  onTestFinished(() => client.destroy());
  const role = (id: string, permissions: bigint) => ({ id, name: id, permissions: String(permissions) });
  const thread = (id: string, type: ChannelType, parent: string) => ({ id, type, name: id, parent_id: parent });
  const view = PermissionFlagsBits.ViewChannel;
  const data = {
    id: GUILD,
    name: 'Harbor',
    owner_id: '2100000000000000099',
    roles: [role(GUILD, view), role(MODERATORS, PermissionFlagsBits.ManageThreads)],
    channels: [
      { id: OPEN, type: ChannelType.GuildText, name: 'open', permission_overwrites: [] },
      {
        id: SECRET,
        type: ChannelType.GuildText,
        name: 'secret',
        permission_overwrites: [{ id: GUILD, type: 0, allow: '0', deny: String(view) }],
      },
    ],
    threads: [
      thread(PUBLIC!, ChannelType.PublicThread, OPEN!),
      thread(PRIVATE!, ChannelType.PrivateThread, OPEN!),
      thread(ORPHAN!, ChannelType.PublicThread, '2100000000000000098'),
    ],
  };
  const guilds = client.guilds as unknown as { _add(data: object): Guild };
  const guild = guilds._add(data);
  const members = guild.members as unknown as { _add(data: object): GuildMember };
  const user = { id: '2100000000000000097', username: 'noa', discriminator: '0', avatar: null };
  return { guild, person: (roles) => members._add({ user, roles, joined_at: '2026-01-01T00:00:00Z' }) };
}

it('shows a person what their roles allow: no private thread except the one they use, and nothing unknown', async () => {
  const { guild, person } = server();
  const hidden = async (roles: string[], here: string | null = null) => {
    const asker: Asker = { guild, member: person(roles), memberPermissions: null, channelId: here };
    return [...(await hiddenFrom(asker, ALL, { manages: false, guildChannels: createGuildChannels(() => 0) }))].sort();
  };
  expect(await hidden([])).toEqual([SECRET, PRIVATE, ORPHAN, GONE]);
  expect(await hidden([], PRIVATE)).toEqual([SECRET, ORPHAN, GONE]);
  expect(await hidden([], GONE)).toEqual([SECRET, PRIVATE, ORPHAN]);
  expect(await hidden([MODERATORS])).toEqual([SECRET, ORPHAN, GONE]);
});

it('asks Discord about hidden channels at most twenty times in two minutes, however many people ask', async () => {
  const MINUTE = 60_000;
  const discord = await startUpstream(() => ({ status: 403, body: { code: 50_001, message: 'Missing Access' } }));
  onTestFinished(discord.close);
  const { guild } = server(discord.url);
  const ids = Array.from({ length: 30 }, (_, n) => `22000000000000000${n + 10}`);
  let now = 0;
  const { find } = createGuildChannels(() => now);
  /** How often Discord was asked, and how many channels are known to be hidden then. */
  const ask = async (at: number) => {
    now = at;
    const found = [...(await find(guild, ids)).values()];
    return [discord.requests.length, found.filter((channel) => channel === 'hidden').length];
  };
  expect(await ask(0)).toEqual([10, 10]);
  await Promise.all([ask(MINUTE), ask(MINUTE), ask(MINUTE)]);
  expect(await ask(2 * MINUTE - 1)).toEqual([20, 20]);
  expect(await ask(2 * MINUTE)).toEqual([30, 20]);
  expect(new Set(discord.requests.map(({ url }) => url)).size).toBe(20);
});

it('makes no request that Discord may refuse after twenty refusals in two minutes, for that server only', async () => {
  const [harbor, orchid] = [server().guild, server().guild];
  const refusal = { code: 50_013, message: 'Missing Permissions' };
  let asked = 0;
  let now = 0;
  const { request } = createGuildChannels(() => now);
  const refused = async () => {
    asked++;
    throw new DiscordAPIError(refusal, 50_013, 403, 'POST', '/messages', {});
  };
  const ask = (guild: Guild, at: number) => {
    now = at;
    return request(guild, refused, () => 'not asked').catch((error: DiscordAPIError) => error.code);
  };
  for (let n = 0; n < 20; n++) expect(await ask(harbor, 0)).toBe(50_013);
  expect([await ask(harbor, 2 * 60_000 - 1), await ask(orchid, 0)]).toEqual(['not asked', 50_013]);
  expect(asked).toBe(21);
  expect(await ask(harbor, 2 * 60_000)).toBe(50_013);
});

it('does not count the right to ping in one channel for another, unknown one', () => {
  const { guild, person } = server();
  const member = person([]);
  const memberPermissions = new PermissionsBitField(PermissionFlagsBits.MentionEveryone);
  const asker: Asker = { guild, member, memberPermissions, channelId: OPEN! };
  const ping = (channelId: string, who: Asker = asker) =>
    requireMention(who, MODERATORS, channelId, translator('en-US'));
  expect(() => ping(GONE!)).toThrow('You can’t ping');
  expect(() => ping(GONE!, { ...asker, channelId: GONE! })).not.toThrow();
});

it('remembers that a channel is gone, and asks again after a missing response', async () => {
  const discord = await startUpstream(() => ({ status: 500, body: {} }));
  onTestFinished(discord.close);
  const { guild } = server(discord.url);
  const { find } = createGuildChannels(() => 0);
  const ask = async () => [[...(await find(guild, [GONE!, OPEN!])).values()][0], discord.requests.length];
  expect(await ask()).toEqual([undefined, 1]);
  discord.set(() => ({ status: 404, body: { code: 10_003, message: 'Unknown Channel' } }));
  expect(await ask()).toEqual(['gone', 2]);
  expect(await ask()).toEqual(['gone', 2]);
});
