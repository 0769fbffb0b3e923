import { DiscordAPIError, type Guild } from 'discord.js';
import { expect, it, onTestFinished } from 'vitest';
import { type Asker, hiddenFrom } from '../../commands/shared/channels.ts';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import { startUpstream } from '../upstream/server.ts';
import { CHANNELS, createGuild, MODERATORS } from './guild.ts';

const MINUTE = 60_000;

it('asks Discord about hidden channels at most twenty times in two minutes, however many people ask', async () => {
  const discord = await startUpstream(() => ({ status: 403, body: { code: 50_001, message: 'Missing Access' } }));
  onTestFinished(discord.close);
  const { guild } = createGuild(discord.url);
  const ids = Array.from({ length: 30 }, (_, n) => `22000000000000000${n + 10}`);
  let now = 0;
  const { find } = createGuildChannels(() => now);
  /** How often Discord was asked, and how many channels are then known to be hidden. */
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
  const [harbor, orchid] = [createGuild().guild, createGuild().guild];
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
  expect([await ask(harbor, 2 * MINUTE - 1), await ask(orchid, 0)]).toEqual(['not asked', 50_013]);
  expect(asked).toBe(21);
  expect(await ask(harbor, 2 * MINUTE)).toBe(50_013);
});

it('remembers that a channel is gone, and asks again about it after a missing response', async () => {
  const discord = await startUpstream(() => ({ status: 500, body: {} }));
  onTestFinished(discord.close);
  const { guild } = createGuild(discord.url);
  const { find } = createGuildChannels(() => 0);
  const ask = async () => {
    const found = await find(guild, [CHANNELS.gone, CHANNELS.open]);
    return [found.get(CHANNELS.gone), discord.requests.length];
  };
  expect(await ask()).toEqual([undefined, 1]);
  discord.set(() => ({ status: 404, body: { code: 10_003, message: 'Unknown Channel' } }));
  expect(await ask()).toEqual(['gone', 2]);
  expect(await ask()).toEqual(['gone', 2]);
});

it('shows a person what their roles allow: no private thread except the one they use, and nothing unknown', async () => {
  const { guild, person } = createGuild();
  const { secret, privateThread, orphan, gone } = CHANNELS;
  const hidden = async (roles: string[], here: string | null = null) => {
    const asker: Asker = { guild, member: person(roles), memberPermissions: null, channelId: here };
    const context = { manages: false, guildChannels: createGuildChannels(() => 0) };
    return [...(await hiddenFrom(asker, Object.values(CHANNELS), context))].sort();
  };
  expect(await hidden([])).toEqual([secret, privateThread, orphan, gone]);
  expect(await hidden([], privateThread)).toEqual([secret, orphan, gone]);
  expect(await hidden([], gone)).toEqual([secret, privateThread, orphan]);
  expect(await hidden([MODERATORS])).toEqual([secret, orphan, gone]);
});
