import { ChannelType, Client, type Guild, type GuildMember, PermissionFlagsBits } from 'discord.js';
import { expect, it, onTestFinished } from 'vitest';
import { type Asker, hiddenFrom } from '../../commands/parts/channel.ts';

const GUILD = '2100000000000000001';
const MODERATORS = '2100000000000000002';
const [OPEN, SECRET, PUBLIC, PRIVATE, ORPHAN, GONE] = [11, 12, 13, 14, 15, 16].map((n) => `21000000000000000${n}`);
const ALL = [OPEN, SECRET, PUBLIC, PRIVATE, ORPHAN, GONE] as string[];

/** A server as the gateway tells of it: two channels and three threads, one in a channel that it did not tell of. */
function server(): { guild: Guild; person: (roles: string[]) => GuildMember } {
  const client = new Client({ intents: [] });
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

it('a person sees what the roles show: no private thread but the one asked from, and nothing that is not known', async () => {
  const { guild, person } = server();
  const hidden = async (roles: string[], here: string | null = null) => {
    const asker: Asker = { guild, member: person(roles), memberPermissions: null, channelId: here };
    return [...(await hiddenFrom(asker, ALL, { manages: false, now: () => 0 }))].sort();
  };
  expect(await hidden([])).toEqual([SECRET, PRIVATE, ORPHAN, GONE]);
  expect(await hidden([], PRIVATE)).toEqual([SECRET, ORPHAN, GONE]);
  expect(await hidden([], GONE)).toEqual([SECRET, PRIVATE, ORPHAN]);
  expect(await hidden([MODERATORS])).toEqual([SECRET, ORPHAN, GONE]);
});
