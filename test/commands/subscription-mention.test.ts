import { PermissionFlagsBits } from 'discord.js';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { forFile } from '../for-file.ts';
import { B, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
const REFUSED = /You can’t ping <@&\d+> in that channel yourself/;
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
  world.read('subscription add', { address: TOKEN, channel, mention: harbor.watchers }, who);
const edit = async (options: object, who = {}) =>
  world.read('subscription edit', { subscription: String((await all())[0]!.id), ...options }, { ...noa, ...who });
const all = () => world.store.subscriptions.list(harbor.id);

it('refuses a role to ping, in a new or an old subscription, to somebody who could not ping it', async () => {
  expect(await add(harbor.alerts, noa)).toMatch(REFUSED);
  const { id } = await world.subscribe();
  expect(await edit({ mention: harbor.watchers })).toMatch(REFUSED);
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

it('refuses to make a role be pinged more often, or elsewhere, to somebody who could not ping it there', async () => {
  const pinging = await world.subscribe({ mention: harbor.watchers });
  expect(await edit({ 'mention-cooldown': 0 })).toMatch(REFUSED);
  const text = `address,channel,mention-cooldown\n${pinging.address},${pinging.channelId},0`;
  expect(textOf(await world.bring(text, noa))).toMatch(REFUSED);
  expect(await edit({ channel: harbor.general })).toMatch(REFUSED);
  expect(await all()).toEqual([pinging]);
});

it('does not count the right to ping in one channel for another, unknown one', async () => {
  const allow = String(PermissionFlagsBits.MentionEveryone);
  const overwrites = [{ id: seed.noa, type: 1 as const, allow, deny: '0' }];
  world.discord.act({ do: 'channel.update', channelId: harbor.alerts, overwrites });
  onTestFinished(() => void world.discord.act({ do: 'channel.update', channelId: harbor.alerts, overwrites: [] }));
  const { id } = await world.subscribe({ channelId: '1100000000000099999' });
  expect(await edit({ mention: harbor.watchers })).toMatch(REFUSED);
  const thread = world.makeChannel();
  await world.store.subscriptions.change(harbor.id, id, { channelId: thread });
  expect(await edit({ mention: harbor.watchers }, { in: thread })).toContain('Changed');
});
