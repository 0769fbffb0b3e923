import { ChannelType, Client, type Guild, type GuildMember, PermissionFlagsBits } from 'discord.js';
import { onTestFinished } from 'vitest';

const GUILD = '2100000000000000001';

/** A role that may manage threads. */
export const MODERATORS = '2100000000000000002';

/** Two channels and three threads of a guild, one of them in a channel that the gateway did not send, and a deleted channel. */
export const CHANNELS = {
  open: '2100000000000000011',
  secret: '2100000000000000012',
  publicThread: '2100000000000000013',
  privateThread: '2100000000000000014',
  orphan: '2100000000000000015',
  gone: '2100000000000000016',
};

/** Creates a guild as the library keeps it, without a gateway, and its members. `api`: where the library makes requests. */
export function createGuild(api?: string): { guild: Guild; person: (roles: string[]) => GuildMember } {
  const client = new Client({ intents: [], rest: { ...(api && { api }), retries: 0 } });
  client.rest.setToken('token');
  onTestFinished(() => client.destroy());
  const role = (id: string, permissions: bigint) => ({ id, name: id, permissions: String(permissions) });
  const thread = (id: string, type: ChannelType, parent: string) => ({ id, type, name: id, parent_id: parent });
  const view = PermissionFlagsBits.ViewChannel;
  const { open, secret, publicThread, privateThread, orphan } = CHANNELS;
  const data = {
    id: GUILD,
    name: 'Harbor',
    owner_id: '2100000000000000099',
    roles: [role(GUILD, view), role(MODERATORS, PermissionFlagsBits.ManageThreads)],
    channels: [
      { id: open, type: ChannelType.GuildText, name: 'open', permission_overwrites: [] },
      {
        id: secret,
        type: ChannelType.GuildText,
        name: 'secret',
        permission_overwrites: [{ id: GUILD, type: 0, allow: '0', deny: String(view) }],
      },
    ],
    threads: [
      thread(publicThread, ChannelType.PublicThread, open),
      thread(privateThread, ChannelType.PrivateThread, open),
      thread(orphan, ChannelType.PublicThread, '2100000000000000098'),
    ],
  };
  const guilds = client.guilds as unknown as { _add(data: object): Guild };
  const guild = guilds._add(data);
  const members = guild.members as unknown as { _add(data: object): GuildMember };
  const user = { id: '2100000000000000097', username: 'noa', discriminator: '0', avatar: null };
  return { guild, person: (roles) => members._add({ user, roles, joined_at: '2026-01-01T00:00:00Z' }) };
}
