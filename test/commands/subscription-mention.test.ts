import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import { beforeEach, expect, it } from 'vitest';
import type { Asker } from '../../commands/shared/channels.ts';
import { requireMention } from '../../commands/subscription/save.ts';
import { translator } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { CHANNELS, createGuild, MODERATORS } from './guild.ts';
import { A, B, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
const REFUSED = /You can’t ping <@&\d+> in that channel yourself/;
/** Noa has the manager role and nothing else. */
const noa = { as: seed.noa };
const world = await forFile(startWorld());
beforeEach(async () => {
  await world.reset();
  await world.makeManager(seed.noa);
  allowMention(false);
});

/** Lets everybody mention the role of the subscriptions, or only those who may mention every role. */
const allowMention = (mentionable: boolean) =>
  world.discord.act({ do: 'role.update', roleId: harbor.watchers, mentionable });
const add = (channel: string, who: object) =>
  world.use('subscription add', { address: lower(TOKEN), channel, mention: harbor.watchers }, who);
const all = () => world.store.subscriptions.list(harbor.id);

it('refuses a role to ping, in a new or an old subscription, to somebody who could not ping it', async () => {
  expect(textOf(await add(harbor.alerts, noa))).toMatch(REFUSED);
  const { id } = await world.subscribe({ address: lower(A) });
  const changed = await world.use('subscription edit', { subscription: String(id), mention: harbor.watchers }, noa);
  expect(textOf(changed)).toMatch(REFUSED);
  const imported = await world.bring(`address,channel,mention\n${B},#general,${harbor.watchers}`, noa);
  expect(textOf(imported)).toMatch(REFUSED);
  expect(await all()).toMatchObject([{ id, mention: null }]);
});

it('accepts a role to ping that everybody may mention, or from somebody who may mention every role', async () => {
  allowMention(true);
  await add(harbor.alerts, noa);
  allowMention(false);
  await add(harbor.whales, { as: seed.ada });
  expect((await all()).map(({ channelId, mention }) => [channelId, mention])).toEqual([
    [harbor.alerts, harbor.watchers],
    [harbor.whales, harbor.watchers],
  ]);
});

it('refuses to make a role be pinged more often to somebody who could not ping it', async () => {
  const pinging = await world.subscribe({ mention: harbor.watchers });
  const often = { subscription: String(pinging.id), 'mention-cooldown': 0 };
  expect(await world.read('subscription edit', often, noa)).toMatch(REFUSED);
  const text = `address,channel,mention-cooldown\n${pinging.address},${pinging.channelId},0`;
  expect(textOf(await world.bring(text, noa))).toMatch(REFUSED);
  expect(await all()).toEqual([pinging]);
});

it('refuses to move a subscription with a role to ping to a channel where the person could not ping it', async () => {
  const pinging = await world.subscribe({ mention: harbor.watchers });
  const moved = { subscription: String(pinging.id), channel: harbor.general };
  expect(await world.read('subscription edit', moved, noa)).toMatch(REFUSED);
  expect(await all()).toEqual([pinging]);
});

it('does not count the right to ping in one channel for another, unknown one', () => {
  const { guild, person } = createGuild();
  const memberPermissions = new PermissionsBitField(PermissionFlagsBits.MentionEveryone);
  const asker: Asker = { guild, member: person([]), memberPermissions, channelId: CHANNELS.open };
  const ping = (who: Asker) => requireMention(who, MODERATORS, CHANNELS.gone, translator('en-US'));
  expect(() => ping(asker)).toThrow('You can’t ping');
  expect(() => ping({ ...asker, channelId: CHANNELS.gone })).not.toThrow();
});

it('says that there is no pause between pings instead of one of no minutes', async () => {
  const { id } = await world.subscribe({ mention: harbor.watchers });
  const edited = await world.use('subscription edit', { subscription: String(id), 'mention-cooldown': 0 });
  expect(textOf(edited)).toContain('no pause between pings');
});
