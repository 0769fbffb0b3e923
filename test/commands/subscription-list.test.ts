import { ChannelType, type Guild, GuildMember } from 'discord.js';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { hiddenFrom } from '../../commands/shared/channels.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { wordingsOf } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { storeTransfers } from './stored.ts';
import { A, B, buttonsOf, isPrivate, lower, menuOf, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const list = (who = {}) => world.read('subscription list', {}, who);
const all = () => world.store.subscriptions.list(harbor.id);

describe('/subscription list', () => {
  it('lists subscriptions by channel with full addresses, filters, state and "no event since it was added"', async () => {
    await world.subscribe({ label: 'Treasury' });
    const paused = await world.subscribe({ channelId: harbor.whales, address: lower(B) });
    await world.store.subscriptions.change(harbor.id, paused.id, { paused: true });
    await world.recordActivity(paused.id, { lastEventAt: world.clock.now() - 1000 });
    const answer = await world.use('subscription list', {}, { as: seed.mia });
    const text = textOf(answer);
    expect(answer).toSatisfy(isPrivate);
    expect(JSON.stringify(answer.reply!.message.components)).not.toContain('subscription:act');
    expect(text).toContain('2 subscriptions');
    expect(text).toMatch(
      new RegExp(`### <#${harbor.alerts}>\\n.*Treasury.*\\n.*${A}.*\\n.*\\n.*no event since it was added`),
    );
    expect(text).toMatch(new RegExp(`### <#${harbor.whales}>\\n.*\\n.*${B}.*\\n.*\\n.*⏸️ paused · last event <t:`));
    const elsewhere = await world.read('subscription list', { channel: harbor.general });
    expect(elsewhere).toMatch(/Nothing is watched in <#\d+> yet.*\/subscription add/);
  });

  it('lets a manager edit, mute, test and remove a subscription that is picked from the list', async () => {
    const { id } = await world.subscribe({ label: 'Treasury' });
    const picked = await world.choose(await world.use('subscription list'), [String(id)]);
    expect(textOf(picked)).toContain('⚙️ Treasury');
    expect(buttonsOf(picked)).toContain(`subscription:filters:${id}`);
    expect(textOf(await world.press(picked, 'subscription:mute'))).toContain('Muted Treasury');
    expect(await all()).toMatchObject([{ mutedUntil: world.clock.now() + 8 * 3_600_000 }]);
    expect(textOf(await world.press(picked, 'subscription:test'))).toContain('Sample sent for Treasury');
    const asked = await world.press(picked, 'subscription:remove');
    await world.press(asked, 'subscription:drop');
    expect(await all()).toEqual([]);
  });

  it('distinguishes subscriptions of one name in the menu by address and channel, however long it is', async () => {
    await world.subscribe({ label: '👍🏽'.repeat(60) });
    await world.subscribe({ channelId: harbor.whales });
    const { options } = menuOf(await world.use('subscription list'));
    const short = `${A.slice(0, 6)}…${A.slice(-4)}`;
    const subscriptions = (await all()).map(({ id, channelId }) => ({
      value: String(id),
      label: expect.stringMatching(/👍🏽?…/u),
      description: `#${id} · ${short} · #${channelId === harbor.alerts ? 'alerts' : 'whales'}`,
    }));
    expect(options).toMatchObject(subscriptions);
  });

  it('shows the time of the last event in the list, the check and the status', async () => {
    const { id } = await world.subscribe();
    for (const [ago, name] of ['subscription list', 'setup check', 'status'].entries()) {
      const lastEventAt = world.clock.now() - (60 - ago) * 1_000;
      await world.recordActivity(id, { lastEventAt });
      expect(await world.read(name), name).toContain(`<t:${Math.floor(lastEventAt / 1_000)}:R>`);
    }
  });

  it('hides subscriptions in channels that the member cannot see', async () => {
    await world.subscribe({ channelId: harbor.treasury, label: 'Secret' });
    expect(await list({ as: seed.mia })).not.toContain('Secret');
    expect(await list()).toContain('Secret');
  });

  it('hides subscriptions in a private thread from people who may not be in it', async () => {
    const id = world.makeChannel();
    await world.subscribe({ channelId: id, label: 'Secret' });
    const mia = { as: seed.mia };
    for (const _ of ['not reported', 'the bot is in it']) {
      expect(await list(mia)).not.toContain('Secret');
      expect(await list({ ...mia, in: id })).toContain('Secret');
      expect(await list()).toContain('Secret');
      world.invite(id);
    }
    const moderators = { guildId: harbor.id, name: 'Moderators', permissions: ['ManageThreads' as const] };
    const roleId = world.discord.act({ do: 'role.create', ...moderators }).id!;
    world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.mia, roleIds: [roleId] });
    expect(await list(mia)).toContain('Secret');
  });

  it('shows subscriptions in a deleted channel only to people who may fix them, and remembers that it is gone', async () => {
    const channelId = '1100000000000009999';
    await world.subscribe({ channelId, label: 'Secret' });
    const seen = async (as: string) => (await list({ as })).includes('Secret');
    expect([await seen(seed.mia), await seen(seed.ada)]).toEqual([false, true]);
    await world.makeManager(seed.mia);
    const path = `/channels/${channelId}`;
    const fault = world.discord.fault({ fault: { kind: 'error', status: 500 }, path });
    expect(await seen(seed.mia)).toBe(false);
    fault.clear();
    const from = world.discord.requests().at(-1)!.number;
    expect([await seen(seed.mia), await seen(seed.mia)]).toEqual([true, true]);
    expect(world.discord.requests(from).filter((one) => one.path.endsWith(path))).toHaveLength(1);
  });

  it('asks Discord about hidden channels at most twenty times in two minutes, however many people ask', async () => {
    world.clock.advance(2 * MINUTE);
    for (const userId of [seed.mia, seed.noa]) await world.makeManager(userId);
    for (let n = 10; n < 40; n++) await world.subscribe({ channelId: `22000000000000000${n}` });
    const fault = { kind: 'error', status: 403, code: 50_001, message: 'Missing Access' } as const;
    const asked = world.discord.fault({ fault, method: 'GET', path: '/channels/:channel' });
    onTestFinished(() => {
      asked.clear();
      world.clock.advance(2 * MINUTE);
    });
    await list({ as: seed.mia });
    expect(asked.hits).toBe(10);
    world.clock.advance(MINUTE);
    await Promise.all([seed.mia, seed.noa, seed.noa].map((as) => list({ as })));
    world.clock.advance(MINUTE - 1);
    await list({ as: seed.mia });
    expect(asked.hits).toBe(20);
    world.clock.advance(1);
    await list({ as: seed.mia });
    expect(asked.hits).toBe(30);
  });

  it('turns pages of the list with buttons that work after a restart', async () => {
    for (let n = 1; n <= 14; n++) {
      await world.subscribe({ address: `0x${n.toString(16).padStart(40, '0')}`, label: `Wallet ${n}` });
    }
    const first = await world.use('subscription list');
    expect(textOf(first)).toContain('Page 1 of 3');
    expect(textOf(first)).toContain('**Wallet 6 · ');
    expect(textOf(first)).not.toContain('**Wallet 7 · ');
    await world.restart();
    const second = await world.press(first, 'subscription:list:all:1');
    expect(textOf(second)).toContain('**Wallet 7 · ');
    const third = await world.press(second, 'subscription:list:all:2');
    expect(textOf(third)).toContain('**Wallet 14 · ');
    expect(third.reply!.id).toBe(first.reply!.id);
  });
});

describe('the manager role', () => {
  it('offers the manager role what it sees, and nothing of other channels', async () => {
    await world.makeManager(seed.noa);
    await world.subscribe({ label: 'Open' });
    const hidden = await world.subscribe({ channelId: harbor.treasury, address: lower(B) });
    const noa = { as: seed.noa };
    const offered = async (name: string, option: string) => JSON.stringify(await world.choices(name, option, {}, noa));
    expect(await offered('subscription edit', 'subscription')).toMatch(/^(?!.*0x1ea1).*Open/);
    expect(await offered('label set', 'address')).toMatch(/^(?!.*0x1ea1).*Open/);
    // Tokens and counterparties of the hidden address are not offered either.
    const reported = [await offered('label set', 'address'), await offered('subscription add', 'token')];
    await storeTransfers(world.store, world.clock.now(), [{ kind: 'erc20', token: lower(TOKEN), tokenSymbol: 'COIN' }]);
    expect([await offered('label set', 'address'), await offered('subscription add', 'token')]).toEqual(reported);
    expect(await world.choices('subscription add', 'token')).toHaveLength(1);
    const options = { subscription: String(hidden.id) };
    expect(await world.read('subscription remove', options, noa)).toMatch(/no such subscription/);
    expect(await world.read('subscription remove', options)).toContain('0x1ea1');
    // A message that shows the hidden subscription does not let the role remove it.
    const shown = await world.post(`subscription:drop:${hidden.id}`);
    expect(textOf(await world.press(shown, 'subscription:drop', noa))).toMatch(/no longer|already/);
    expect(await world.store.subscriptions.get(harbor.id, hidden.id)).toMatchObject({ id: hidden.id });
    // A look-alike of the hidden address does not reveal it either.
    const like = { address: `${B.slice(0, 6)}${'0'.repeat(32)}${B.slice(-4)}`.toLowerCase(), name: 'Mine' };
    expect(await world.read('label set', like, noa)).not.toMatch(/Look-alike/);
    expect(await world.read('label set', like)).toMatch(/Look-alike.*0x1ea1/);
    await world.use('label remove', { address: like.address });
  });

  it('shows the manager role closed threads after a restart, but no private ones', async () => {
    const { discord } = world;
    const thread = (name: string, type: number) =>
      discord.act({ do: 'channel.create', name, type, guildId: harbor.id, parentId: harbor.alerts }).id!;
    const [open, secret, gone] = [thread('open', 11), thread('secret', 12), thread('gone', 11)];
    await world.subscribe({ channelId: open, label: 'Open' });
    await world.subscribe({ channelId: secret, label: 'Secret', address: lower(B) });
    await world.subscribe({ channelId: gone, label: 'Lost', address: lower(TOKEN) });
    for (const channelId of [open, secret]) discord.act({ do: 'channel.update', channelId, archived: true });
    discord.act({ do: 'channel.delete', channelId: gone });
    await world.restart();
    const noa = { as: seed.noa };
    expect(await list(noa)).not.toMatch(/Open|Secret|Lost/);
    await world.makeManager(seed.noa);
    for (const _ of ['asked for', 'remembered'])
      expect((await list(noa)).match(/Open|Secret|Lost/g)).toEqual(['Open', 'Lost']);
    expect(await list()).toContain('Secret');
  });

  it('hides a thread of a channel that Discord did not report', async () => {
    const threads = new Map([['2', { type: ChannelType.PublicThread, permissionsFor: () => null }]]);
    const guild = { available: true, id: '1', roles: { cache: new Map([['1', {}]]) }, channels: { cache: threads } };
    const member = Object.create(GuildMember.prototype) as GuildMember;
    const asker = { guild: guild as unknown as Guild, member, memberPermissions: null, channelId: null };
    const { guildChannels } = world.services;
    expect(await hiddenFrom(asker, ['2'], { manages: false, guildChannels })).toEqual(new Set(['2']));
  });
});

describe('choices of `subscription`', () => {
  it('offers this server’s own subscriptions by label, address or number', async () => {
    const { id } = await world.subscribe({ label: 'Treasury', direction: 'incoming' });
    await world.subscribe({ address: lower(B) });
    await world.subscribe({ guildId: orchid.id, channelId: orchid.alerts, label: 'Foreign' });
    expect(await world.choices('subscription remove', 'subscription')).toHaveLength(2);
    expect(await world.choices('subscription edit', 'subscription', { subscription: 'treas' })).toEqual([
      { name: `Treasury · ${A.slice(0, 6)}…${A.slice(-4)} · #alerts · incoming (#${id})`, value: String(id) },
    ]);
    expect(await world.choices('subscription pause', 'subscription', { subscription: B.slice(0, 8) })).toHaveLength(1);
    expect((await world.choices('subscription mute', 'subscription'))[0]).toMatchObject({ value: 'all' });
    world.speak('de');
    const [german] = await world.choices('subscription edit', 'subscription', { subscription: 'treas' });
    expect(german!.name).toContain(wordingsOf('de')['subscription add direction=incoming']!.name);
  });
});
