import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_FILTERS } from '../../src/domain/subscription.ts';
import { wordingsOf } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { blockChannels, storeTransfers } from './stored.ts';
import { A, B, buttonsOf, isPrivate, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
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

  it('distinguishes subscriptions of one name in the menu by address and channel', async () => {
    const { id } = await world.subscribe({ label: 'Treasury' });
    const other = await world.subscribe({ label: 'Treasury', channelId: harbor.whales });
    const components = JSON.stringify((await world.use('subscription list')).reply!.message.components);
    const short = `${A.slice(0, 6)}…${A.slice(-4)}`;
    expect(components).toContain(`#${id} · ${short} · #alerts`);
    expect(components).toContain(`#${other.id} · ${short} · #whales`);
  });

  it('lists a subscription whose name fills more than an option of the menu may have', async () => {
    const long = await world.subscribe({ label: '👍🏽'.repeat(60) });
    const listed = await world.use('subscription list');
    const options = JSON.stringify(listed.reply!.message.components);
    expect(textOf(listed)).toContain('1 subscription');
    expect(options).toContain(`"value":"${long.id}"`);
    expect(options).toMatch(/👍🏽?…/u);
  });

  it('shows the time of the last event in the list, the check and the status', async () => {
    const { id } = await world.subscribe();
    for (const [ago, name] of ['subscription list', 'setup check', 'status'].entries()) {
      const lastEventAt = world.clock.now() - (60 - ago) * 1_000;
      await world.recordActivity(id, { lastEventAt });
      expect(await world.read(name), name).toContain(`<t:${Math.floor(lastEventAt / 1_000)}:R>`);
    }
  });

  it('lists one channel on request, and explains how to start when it has no subscriptions', async () => {
    await world.subscribe();
    const answer = await world.use('subscription list', { channel: harbor.whales });
    expect(textOf(answer)).toMatch(/Nothing is watched in <#\d+> yet.*\/subscription add/);
  });

  it('hides subscriptions in channels that the member cannot see', async () => {
    await world.subscribe({ channelId: harbor.treasury, label: 'Secret' });
    expect(await world.read('subscription list', {}, { as: seed.mia })).not.toContain('Secret');
    expect(await world.read('subscription list', {}, { as: seed.ada })).toContain('Secret');
  });

  it('hides subscriptions in a private thread from people who may not be in it', async () => {
    const id = world.makeChannel();
    await world.subscribe({ channelId: id, label: 'Secret' });
    const list = async (who: object) => await world.read('subscription list', {}, who);
    expect(await list({ as: seed.mia })).not.toContain('Secret');
    expect(await list({ as: seed.mia, in: id })).toContain('Secret');
    expect(await list({ as: seed.ada })).toContain('Secret');
  });

  it('lists every subscription of a page, however long its description is', async () => {
    const filters = { ...DEFAULT_FILTERS, cataloged: true, internal: false, zero: true, self: true };
    const chosen = {
      filters,
      minimum: `${'1'.repeat(60)}.${'1'.repeat(60)}`,
      token: lower(TOKEN),
      label: 'x'.repeat(32),
    };
    const { general, alerts, whales, announcements, treasury, audit } = harbor;
    const channels = [general, alerts, whales, announcements, treasury, audit];
    for (const channelId of channels) {
      const { id } = await world.subscribe({ ...chosen, channelId });
      const now = world.clock.now();
      await world.store.subscriptions.change(harbor.id, id, { mutedUntil: now + 3_600_000 });
      await world.recordActivity(id, { lastEventAt: now });
    }
    await blockChannels(world.store, harbor.id, Object.fromEntries(channels.map((id) => [id, 'parked'])));
    const text = await world.read('subscription list');
    for (const { id } of await all()) expect(text).toContain(`#${id}**`);
    expect(text).not.toMatch(/^… \+/m);
  });

  it('shows subscriptions in a deleted channel only to people who may fix them', async () => {
    await world.subscribe({ channelId: '1100000000000009999', label: 'Secret' });
    const seen = async (as: string) => (await world.read('subscription list', {}, { as })).includes('Secret');
    expect([await seen(seed.mia), await seen(seed.ada)]).toEqual([false, true]);
    await world.makeManager(seed.mia);
    expect(await seen(seed.mia)).toBe(true);
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
    const thread = (name: string, type: number) => {
      const made = { name, type, guildId: harbor.id, parentId: harbor.alerts };
      return discord.act({ do: 'channel.create', ...made }).id!;
    };
    const [open, secret, gone] = [thread('open', 11), thread('secret', 12), thread('gone', 11)];
    await world.subscribe({ channelId: open, label: 'Open' });
    await world.subscribe({ channelId: secret, label: 'Secret', address: lower(B) });
    await world.subscribe({ channelId: gone, label: 'Lost', address: lower(TOKEN) });
    for (const channelId of [open, secret]) discord.act({ do: 'channel.update', channelId, archived: true });
    discord.act({ do: 'channel.delete', channelId: gone });
    await world.restart();
    await world.store.guilds.changeSettings(harbor.id, { managerRole: harbor.watchers });
    const reported = async () => await world.read('subscription list', {}, { as: seed.noa });
    expect(await reported()).not.toMatch(/Open|Secret|Lost/);
    discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [harbor.watchers] });
    for (const _ of ['asked for', 'remembered'])
      expect((await reported()).match(/Open|Secret|Lost/g)).toEqual(['Open', 'Lost']);
    expect(await world.read('subscription list')).toContain('Secret');
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

  it('offers at most 25 subscriptions, and none to people without access', async () => {
    for (let n = 1; n <= 30; n++) await world.subscribe({ address: `0x${n.toString(16).padStart(40, '0')}` });
    expect(await world.choices('subscription test', 'subscription')).toHaveLength(25);
    expect(await world.choices('subscription test', 'subscription', {}, { as: seed.mia })).toEqual([]);
  });
});
