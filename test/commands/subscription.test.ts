import { ChannelType } from 'discord.js';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_CHOICES } from '../../src/domain/subscription.ts';
import { shownIn } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { payment } from '../pipeline/harness.ts';
import { A, B, buttonsOf, isPrivate, LIKE_A, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const add = (options: Record<string, string>, who = {}) => world.read('subscription add', options, who);
const all = () => world.store.subscriptions.list(harbor.id);

describe('/subscription add', () => {
  it('watches every transfer here, and shows what remains to be done', async () => {
    const answer = await world.use('subscription add', { address: A.toLowerCase(), label: 'Treasury' });
    expect(answer).toSatisfy(isPrivate);
    for (const part of [
      `[\`${A}\`](https://explorer.example/address/${A})`,
      'Watching Treasury',
      `<#${harbor.alerts}>: every transfer except zero amounts and self-transfers`,
      'Add the address to the webhook that posts here, at the notification service.',
    ])
      expect(textOf(answer)).toContain(part);
    const place = { address: lower(A), channelId: harbor.alerts, label: 'Treasury', createdBy: seed.ada };
    expect(await all()).toMatchObject([{ ...DEFAULT_CHOICES, ...place, lastEventAt: null }]);
  });

  it('accepts every filter as an option of /subscription add', async () => {
    const chosen = { direction: 'incoming', kind: 'erc20', minimum: '250.5', token: TOKEN, mention: harbor.watchers };
    const text = await add({ address: A, channel: harbor.whales, ...chosen });
    expect(text).toContain(`<#${harbor.whales}>: incoming ERC-20 transfers.\n- at least \`250.5\`\n- token`);
    for (const part of [TOKEN, `pings <@&${harbor.watchers}>`, 'shown but not pinged']) expect(text).toContain(part);
    expect(await all()).toMatchObject([{ channelId: harbor.whales, ...chosen, token: lower(TOKEN) }]);
  });

  it('warns of an address that could be taken for another one that is watched here', async () => {
    await add({ address: A, label: 'Treasury' });
    const warned = await add({ address: LIKE_A, label: 'Treasury 2' });
    expect(warned).toMatch(new RegExp(`Look-alike: this is not Treasury[\\s\\S]*${LIKE_A}[\\s\\S]*${A}`));
    expect(await add({ address: LIKE_A }, { in: orchid.lobby })).not.toContain('Look-alike');
  });

  it('posts to the server’s alert channel, and refuses to use one that is gone', async () => {
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.treasury });
    expect(await add({ address: A })).toContain(`<#${harbor.treasury}>`);
    expect(await all()).toMatchObject([{ channelId: harbor.treasury }]);
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: '1100000000000099999' });
    expect(await add({ address: B })).toMatch(/default channel of `\/setup server`.*Choose another one/);
    expect(await all()).toHaveLength(1);
    expect(await add({ address: B, channel: harbor.whales })).toContain('Watching');
  });

  it('accepts threads and announcement channels', async () => {
    await add({ address: A, channel: harbor.audit });
    await add({ address: A, channel: harbor.announcements });
    expect((await all()).map(({ channelId }) => channelId).sort()).toEqual([harbor.announcements, harbor.audit].sort());
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ address: 'hello' }, /`0x` followed by 40 hexadecimal digits.*Paste the full address/],
    [{ address: A.replace('cc95E', 'Cc95E') }, /EIP-55/],
    [{ address: `0x${'1a'.repeat(32)}` }, /transaction hash.*copy.*40 hexadecimal digits/],
    [{ address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }, /another kind of chain.*40 hexadecimal digits.*copy/],
    [{ address: `0x${'0'.repeat(40)}` }, /zero address.*nearly everything/],
    [{ address: `0x${'e'.repeat(40)}` }, /stands for the native coin.*nearly everything/],
    [{ address: A, token: '0x12' }, /That token isn’t valid.*40 hexadecimal/],
    [{ address: A, kind: 'native', token: TOKEN }, /nothing would ever match/],
    [{ address: A, kind: 'nft', minimum: '2' }, /NFTs have no amount/],
    [{ address: A, label: 'free-mint.xyz' }, /looks like a link/],
    [{ address: A, label: '\u200b\u200b' }, /no visible characters/],
    [{ address: A, channel: harbor.council }, /missing \*\*View Channel/],
  ])('refuses the new subscription %j in one helpful sentence', async (options, sentence) => {
    const answer = await world.use('subscription add', options);
    expect(textOf(answer)).toMatch(sentence);
    expect(answer).toSatisfy(isPrivate);
    expect(await all()).toEqual([]);
  });

  it('refuses a channel where the bot may not send, also the current one', async () => {
    expect(await add({ address: A, channel: orchid.rules }, { in: orchid.lobby })).toMatch(/Send Messages/);
    expect(await add({ address: A }, { in: orchid.rules })).toMatch(/Send Messages/);
    expect(await world.store.subscriptions.list(orchid.id)).toEqual([]);
  });

  it('refuses a channel that the person cannot see', async () => {
    await world.makeManager(seed.noa);
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.treasury });
    for (const answer of [
      await add({ address: A, channel: harbor.treasury }, { as: seed.noa }),
      await add({ address: A }, { as: seed.noa }),
      textOf(await world.bring(`address,channel\n${A},`, { as: seed.noa })),
    ])
      expect(answer).toMatch(/can’t see that channel yourself/);
  });

  it('shows the subscription that already exists', async () => {
    const { id } = await world.subscribe();
    expect(await add({ address: A })).toContain(`(#${id})`);
    expect(await add({ address: A, channel: harbor.whales })).toContain('Watching');
    expect(await all()).toHaveLength(2);
  });

  it('states how many subscriptions a server may have, and how many channels may watch one address', async () => {
    world.configure({ maxChannelsPerAddress: 1, maxSubscriptions: 2 });
    await world.subscribe();
    expect(await add({ address: A, channel: harbor.whales })).toMatch(/already watched in 1 channel/);
    expect(await add({ address: B, channel: harbor.whales })).toContain('Watching');
    expect(await add({ address: TOKEN })).toMatch(/reached its limit of 2 subscriptions\./);
    expect((await all()).map(({ address }) => address)).toEqual([lower(A), lower(B)]);
  });

  it('asks to be added to a private thread', async () => {
    const id = world.makeChannel();
    for (const answer of [await add({ address: B }, { in: id }), await add({ address: B, channel: id })])
      expect(answer).toContain(`I’m not in <#${id}>`);
    expect(await all()).toEqual([]);
    world.invite(id);
    expect(await add({ address: B }, { in: id })).toContain('Watching');
  });

  it('adds nothing to a private thread for a manager who is not known to be in it', async () => {
    const id = world.makeChannel();
    world.invite(id);
    await world.makeManager(seed.noa);
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: id });
    const imported = textOf(await world.bring(`address,channel\n${A},\n${B},<#${id}>`, { as: seed.noa }));
    expect(await add({ address: A }, { as: seed.noa })).toContain(`I can’t check whether you can see <#${id}>`);
    expect(imported).toContain(`**Lines 2, 3**: I can’t check whether you can see <#${id}>`);
    expect(await all()).toEqual([]);
    expect(await add({ address: A }, { as: seed.noa, in: id })).toContain('Watching');
    expect(await add({ address: B })).toContain('Watching');
    expect((await all()).map(({ channelId }) => channelId)).toEqual([id, id]);
  });
});

describe('a forum', () => {
  it('opens a post in a forum for each address, and finds it again when the bot stopped before storing it', async () => {
    const { discord, store, pipeline } = world;
    const forum = world.makeChannel({ name: 'wallets', type: ChannelType.GuildForum });
    await add({ address: A, channel: forum, label: 'Treasury' });
    const { id, channelId } = (await all())[0]!;
    const posts = () => discord.state.guilds[0]!.channels.filter(({ parentId }) => parentId === forum);
    expect(posts()).toMatchObject([{ id: channelId, type: 11, name: 'Treasury · 0xcc95…6430' }]);
    const opening = discord.messages(channelId)[0]!.message;
    expect(opening).toMatchObject({ id: channelId, content: expect.stringContaining(A) });

    await pipeline.receive(payment({ to: lower(A) }));
    await pipeline.idle();
    expect(
      pipeline
        .alerts(channelId)
        .map(({ text }) => text)
        .join(),
    ).toContain('Watching Treasury');
    expect(await add({ address: A, channel: forum })).toContain(`<#${channelId}> already watches`);
    await store.subscriptions.remove(harbor.id, id);
    await add({ address: A, channel: forum });
    expect((await all()).map((one) => one.channelId)).toEqual([channelId]);
    await add({ address: LIKE_A, channel: forum });
    expect(new Set((await all()).map((one) => one.channelId)).size).toBe(2);
    expect(posts()).toHaveLength(2);
    await add({ address: B, channel: harbor.alerts });
    expect(await world.read('subscription edit', { subscription: B, channel: forum })).toContain('Changed');
    expect(posts()).toHaveLength(3);
  });

  it('says that a forum requires a tag that the bot does not have', async () => {
    const forum = world.makeChannel({ name: 'tagged', type: ChannelType.GuildForum });
    const message = 'A tag is required to create a forum post in this channel';
    world.discord.fault({ fault: { kind: 'error', status: 400, code: 40_067, message }, channelId: forum, times: 1 });
    expect(await add({ address: A, channel: forum })).toContain(`<#${forum}> requires a tag for each post`);
    expect(await all()).toEqual([]);
  });

  it('refuses a forum where the bot may not open posts', async () => {
    const forum = world.makeChannel({ name: 'closed', type: ChannelType.GuildForum });
    world.discord.act({ do: 'channel.forbid', channelId: forum, permissions: ['SendMessagesInThreads'] });
    expect(await add({ address: A, channel: forum })).toMatch(/missing \*\*Send Messages in Threads/);
    expect(await all()).toEqual([]);
  });
});

describe('/subscription remove', () => {
  const [DROP, KEEP] = ['subscription:drop', 'subscription:keep'];
  const remove = (subscription: string, who = {}) => world.read('subscription remove', { subscription }, who);
  it('asks before it removes a subscription, removes it on the button, and records it', async () => {
    const { id } = await world.subscribe({ label: 'Treasury' });
    const asked = await world.use('subscription remove', { subscription: String(id) });
    expect(textOf(asked)).toContain('Remove Treasury?');
    const kept = await world.press(await world.use('subscription remove', { subscription: `#${id}` }), KEEP);
    expect(textOf(kept)).toContain('Nothing changed');
    expect(await all()).toHaveLength(1);
    const done = await world.press(asked, DROP);
    expect(textOf(done)).toContain('Removed');
    expect(buttonsOf(done)).toEqual([]);
    expect(await all()).toEqual([]);
    const { entries } = await world.store.audit.page(harbor.id, 0, 1);
    const detail = { id, address: A, channel: harbor.alerts };
    expect(entries).toMatchObject([{ userId: seed.ada, action: 'subscription.remove', detail }]);
    expect(await remove(String(id))).toMatch(/no such subscription.*\/subscription list/);
  });

  it('asks again when the subscription was moved to another channel since', async () => {
    const { id } = await world.subscribe();
    const asked = await world.use('subscription remove', { subscription: A });
    await world.store.subscriptions.change(harbor.id, id, { channelId: harbor.whales });
    const again = await world.press(asked, DROP);
    expect(textOf(again)).toContain(`<#${harbor.whales}> will no longer get alerts`);
    expect(await all()).toHaveLength(1);
    expect(textOf(await world.press(again, DROP))).toContain('Removed');
    expect(await all()).toEqual([]);
  });

  it('finds a subscription by address or label, and asks which one if several match', async () => {
    await world.subscribe({ label: 'Treasury' });
    expect(await remove('treasury')).toContain('Remove Treasury?');
    await world.subscribe({ channelId: harbor.announcements, address: lower(B), label: '2024' });
    expect(await remove('2024')).toContain('Remove 2024?');
    await world.subscribe({ channelId: harbor.whales });
    expect(await remove(A)).toMatch(/Several.*#\d+ Treasury in <#.*#\d+ Treasury in <#/);
    const balance = `https://explorer.example/token/${TOKEN}?a=${A}`;
    expect(await remove(balance)).toMatch(/several addresses\. Paste/);
  });

  it('refuses IDs of other servers’ subscriptions', async () => {
    const { id } = await world.subscribe();
    expect(await remove(String(id), { in: orchid.lobby })).toMatch(/no such subscription/);
    const mine = await world.subscribe({ guildId: orchid.id, channelId: orchid.alerts });
    const asked = await world.use('subscription remove', { subscription: String(mine.id) }, { in: orchid.lobby });
    expect(buttonsOf(asked)[0]).toBe(`${DROP}:${mine.id}:${orchid.alerts}`);
    await world.press(asked, DROP, { in: orchid.lobby });
    expect(await all()).toHaveLength(1);
  });
});

describe('/subscription edit', () => {
  const edit = (options: Record<string, string>) => world.read('subscription edit', options);
  it('changes the given options and keeps the others', async () => {
    await world.subscribe({ label: 'Old', minimum: '5', direction: 'incoming' });
    const changed = { label: 'New', channel: harbor.whales, mention: harbor.watchers };
    expect(await edit({ subscription: A, ...changed, minimum: 'none' })).toContain('Changed New');
    expect(await all()).toMatchObject([
      { label: 'New', minimum: null, direction: 'incoming', channelId: harbor.whales, mention: harbor.watchers },
    ]);
    await edit({ subscription: A, mention: harbor.id });
    expect(await all()).toMatchObject([{ mention: null }]);
  });

  it('refuses contradictory options, and a second subscription to an address in a channel', async () => {
    const subscription = String((await world.subscribe({ minimum: '5' })).id);
    expect(await edit({ subscription, kind: 'nft' })).toMatch(/no amount/);
    const other = await world.subscribe({ channelId: harbor.whales });
    const answer = await edit({ subscription, channel: harbor.whales });
    expect(answer).toContain(`already watches this address (#${other.id})`);
  });
});

describe('/subscription test', () => {
  const sample = (id: number) => world.read('subscription test', { subscription: String(id) });
  it('posts an alert that is marked as a sample and pings nobody', async () => {
    const { id } = await world.subscribe({ channelId: harbor.whales, mention: harbor.watchers, label: 'Treasury' });
    expect(await sample(id)).toContain('Sample sent');
    const { message } = world.discord.messages(harbor.whales)[0]!;
    expect(shownIn(message)[0]!.title).toMatch(/^🧪 SAMPLE · 📥 Treasury \+1,234\.5/);
    expect(JSON.stringify(message)).toContain(A);
    expect(message.mention_roles).toEqual([]);
  });

  it('asks Discord for no further sample or forum post for two minutes after twenty refusals in a server', async () => {
    // The refusals of other tests, and then those of this one, are over.
    const forgetRefusals = () => world.clock.advance(2 * 60_000);
    forgetRefusals();
    onTestFinished(forgetRefusals);
    const { id } = await world.subscribe({ channelId: harbor.general });
    const forum = world.makeChannel({ name: 'wallets', type: ChannelType.GuildForum });
    const refusal = { kind: 'error', status: 403, code: 50_013, message: 'Missing Permissions' } as const;
    const samples = world.discord.fault({ fault: refusal, method: 'POST', channelId: harbor.general, times: 21 });
    const posts = world.discord.fault({ fault: refusal, method: 'POST', channelId: forum, times: 1 });
    for (let n = 0; n < 20; n++) await sample(id);
    expect(samples.hits).toBe(20);
    const tooMany = 'Discord rejected many of my requests in this server';
    expect(await sample(id)).toContain(tooMany);
    expect(await add({ address: B, channel: forum })).toContain(tooMany);
    expect([samples.hits, posts.hits]).toEqual([20, 0]);
    await world.subscribe({ guildId: orchid.id, channelId: orchid.lobby });
    expect(await world.read('subscription test', { subscription: A }, { in: orchid.lobby })).toContain('Sample sent');
    world.clock.advance(2 * 60_000 - 1);
    expect(await sample(id)).toContain(tooMany);
    world.clock.advance(1);
    expect(await sample(id)).toMatch(/can’t post in/);
    expect(samples.hits).toBe(21);
  });

  it('explains why Discord refuses a sample', async () => {
    const sampleIn = async (channelId: string) => sample((await world.subscribe({ channelId })).id);
    expect(await sampleIn(harbor.council)).toMatch(/can’t post in/);
    world.discord.act({ do: 'channel.update', channelId: harbor.audit, archived: true, locked: true });
    expect(await sampleIn(harbor.audit)).toMatch(/is a locked thread/);
    world.discord.act({ do: 'channel.update', channelId: harbor.audit, archived: false, locked: false });
    expect(await sampleIn(world.makeChannel())).toMatch(/private thread, mention me there once/);
    expect(await sampleIn('1100000000000099999')).toMatch(/channel no longer exists/);
  });
});
