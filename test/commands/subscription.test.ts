import { ChannelType } from 'discord.js';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { shownIn } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { payment } from '../pipeline/harness.ts';
import { A, B, buttonsOf, isPrivate, LIKE_A, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const add = (options: Record<string, string>, who = {}) => world.use('subscription add', options, who);
const all = () => world.store.subscriptions.list(harbor.id);

describe('/subscription add', () => {
  it('watches every transfer here, and shows what remains to be done', async () => {
    const answer = await add({ address: A.toLowerCase(), label: 'Treasury' });
    expect(answer).toSatisfy(isPrivate);
    expect(textOf(answer)).toContain(`[\`${A}\`](https://explorer.example/address/${A})`);
    expect(textOf(answer)).toContain('Watching Treasury');
    expect(textOf(answer)).toContain(`<#${harbor.alerts}>: every transfer except zero amounts and self-transfers`);
    expect(textOf(answer)).toContain('Add the address to the webhook that posts here, at the notification service.');
    expect(await all()).toMatchObject([
      {
        address: A.toLowerCase(),
        channelId: harbor.alerts,
        label: 'Treasury',
        direction: 'any',
        kind: 'any',
        minimum: null,
        token: null,
        mention: null,
        createdBy: seed.ada,
        lastEventAt: null,
      },
    ]);
  });

  it('accepts every filter as an option of /subscription add', async () => {
    const answer = await add({
      address: A,
      channel: harbor.whales,
      direction: 'incoming',
      kind: 'erc20',
      minimum: '250.5',
      token: TOKEN,
      mention: harbor.watchers,
    });
    expect(textOf(answer)).toContain(`<#${harbor.whales}>: incoming ERC-20 transfers.\n- at least \`250.5\`\n- token`);
    expect(textOf(answer)).toContain(TOKEN);
    expect(textOf(answer)).toContain(`pings <@&${harbor.watchers}>`);
    expect(textOf(answer)).toContain('shown but not pinged');
    expect(await all()).toMatchObject([
      {
        channelId: harbor.whales,
        direction: 'incoming',
        kind: 'erc20',
        minimum: '250.5',
        token: TOKEN.toLowerCase(),
        mention: harbor.watchers,
      },
    ]);
  });

  it('warns of an address that could be taken for another one that is watched here', async () => {
    await add({ address: A, label: 'Treasury' });
    const warned = textOf(await add({ address: LIKE_A, label: 'Treasury 2' }));
    expect(warned).toMatch(new RegExp(`Look-alike: this is not Treasury[\\s\\S]*${LIKE_A}[\\s\\S]*${A}`));
    expect(textOf(await add({ address: LIKE_A }, { in: orchid.lobby }))).not.toContain('Look-alike');
  });

  it('posts to the server’s alert channel if one is set', async () => {
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.treasury });
    expect(textOf(await add({ address: A }))).toContain(`<#${harbor.treasury}>`);
    expect(await all()).toMatchObject([{ channelId: harbor.treasury }]);
  });

  it('refuses to use a default channel that is gone', async () => {
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: '1100000000000099999' });
    expect(textOf(await add({ address: A }))).toMatch(/default channel of `\/setup server`.*Choose another one/);
    expect(await all()).toEqual([]);
    expect(textOf(await add({ address: A, channel: harbor.whales }))).toContain('Watching');
  });

  it('accepts threads and announcement channels', async () => {
    await add({ address: A, channel: harbor.audit });
    await add({ address: A, channel: harbor.announcements });
    expect((await all()).map(({ channelId }) => channelId).sort()).toEqual([harbor.announcements, harbor.audit].sort());
  });

  const wrong: [string, Record<string, string>, RegExp][] = [
    ['no address', { address: 'hello' }, /`0x` followed by 40 hexadecimal digits.*Paste the full address/],
    ['a wrong checksum', { address: A.replace('cc95E', 'Cc95E') }, /EIP-55/],
    ['a transaction', { address: `0x${'1a'.repeat(32)}` }, /transaction hash.*copy.*40 hexadecimal digits/],
    [
      'an address of another chain',
      { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
      /another kind of chain.*40 hexadecimal digits.*copy/,
    ],
    ['the zero address', { address: `0x${'0'.repeat(40)}` }, /zero address.*nearly everything/],
    ['the native sentinel', { address: `0x${'e'.repeat(40)}` }, /stands for the native coin.*nearly everything/],
    ['a wrong token', { address: A, token: '0x12' }, /That token isn’t valid.*40 hexadecimal/],
    ['native with a token', { address: A, kind: 'native', token: TOKEN }, /nothing would ever match/],
    ['NFTs with a minimum', { address: A, kind: 'nft', minimum: '2' }, /NFTs have no amount/],
    ['a label that looks like a link', { address: A, label: 'free-mint.xyz' }, /looks like a link/],
    ['an invisible label', { address: A, label: '\u200b\u200b' }, /no visible characters/],
    ['a channel where the bot may not look', { address: A, channel: harbor.council }, /missing \*\*View Channel/],
  ];
  it.each(wrong)('refuses a new subscription with %s in one helpful sentence', async (_name, options, sentence) => {
    const answer = await add(options);
    expect(textOf(answer)).toMatch(sentence);
    expect(answer).toSatisfy(isPrivate);
    expect(await all()).toEqual([]);
  });

  it('refuses a channel where the bot may not send, also the current one', async () => {
    expect(textOf(await add({ address: A, channel: orchid.rules }, { in: orchid.lobby }))).toMatch(/Send Messages/);
    expect(textOf(await add({ address: A }, { in: orchid.rules }))).toMatch(/Send Messages/);
    expect(await world.store.subscriptions.list(orchid.id)).toEqual([]);
  });

  it('refuses a channel that the person cannot see', async () => {
    await world.makeManager(seed.noa);
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.treasury });
    const answers = [
      await add({ address: A, channel: harbor.treasury }, { as: seed.noa }),
      await add({ address: A }, { as: seed.noa }),
      await world.bring(`address,channel\n${A},`, { as: seed.noa }),
    ];
    for (const answer of answers) expect(textOf(answer)).toMatch(/can’t see that channel yourself/);
  });

  it('shows the subscription that already exists', async () => {
    const { id } = await world.subscribe();
    expect(textOf(await add({ address: A }))).toContain(`(#${id})`);
    expect(textOf(await add({ address: A, channel: harbor.whales }))).toContain('Watching');
    expect(await all()).toHaveLength(2);
  });

  it('shows the limit of subscriptions', async () => {
    world.configure({ maxSubscriptions: 1 });
    await world.subscribe();
    expect(textOf(await add({ address: B }))).toMatch(/reached its limit of 1 subscription\./);
  });

  it('states how many channels may watch one address', async () => {
    world.configure({ maxChannelsPerAddress: 1 });
    await world.subscribe();
    expect(textOf(await add({ address: A, channel: harbor.whales }))).toMatch(/already watched in 1 channel/);
    expect(textOf(await add({ address: B, channel: harbor.whales }))).toContain('Watching');
    expect((await all()).map(({ address }) => address)).toEqual([lower(A), lower(B)]);
  });

  it('asks to be added to a private thread', async () => {
    const id = world.makeChannel();
    const before = await all();
    const answers = [
      await world.use('subscription add', { address: B }, { in: id }),
      await world.use('subscription add', { address: B, channel: id }),
    ];
    for (const answer of answers) expect(textOf(answer)).toContain(`I’m not in <#${id}>`);
    expect(await all()).toEqual(before);
    world.discord.act({ do: 'message.send', channelId: id, userId: seed.ada, content: `<@${seed.bot}> come in` });
    expect(await world.read('subscription add', { address: B }, { in: id })).toContain('Watching');
  });

  it('adds nothing to a private thread for a manager who is not known to be in it', async () => {
    const id = world.makeChannel();
    world.discord.act({ do: 'message.send', channelId: id, userId: seed.ada, content: `<@${seed.bot}> come in` });
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: id, managerRole: harbor.watchers });
    world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [harbor.watchers] });
    const outside = textOf(await add({ address: A }, { as: seed.noa }));
    const imported = textOf(await world.bring(`address,channel\n${A},\n${B},<#${id}>`, { as: seed.noa }));
    expect(outside).toContain(`I can’t check whether you can see <#${id}>`);
    expect(imported).toContain(`**Lines 2–3**: I can’t check whether you can see <#${id}>`);
    expect(await all()).toEqual([]);
    expect(textOf(await add({ address: A }, { as: seed.noa, in: id }))).toContain('Watching');
    expect(textOf(await add({ address: B }))).toContain('Watching');
    expect((await all()).map(({ channelId }) => channelId)).toEqual([id, id]);
  });
});

describe('a forum', () => {
  it('opens a post in a forum for each address, and finds it again when the bot stopped before storing it', async () => {
    const { discord, store } = world;
    const forum = world.makeChannel({ name: 'wallets', type: ChannelType.GuildForum });
    await world.use('subscription add', { address: A, channel: forum, label: 'Treasury' });
    const [first] = await all();
    const posts = () => discord.state.guilds[0]!.channels.filter(({ parentId }) => parentId === forum);
    expect(posts()).toMatchObject([{ id: first!.channelId, type: 11, name: 'Treasury · 0xcc95…6430' }]);
    const opening = discord.messages(first!.channelId)[0]!.message;
    expect(opening).toMatchObject({ id: first!.channelId, content: expect.stringContaining(A) });

    const { pipeline } = world;
    await pipeline.receive(payment({ to: lower(A) }));
    await pipeline.idle();
    expect(pipeline.alerts(first!.channelId)).toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('Watching Treasury') }),
    );
    const again = await world.use('subscription add', { address: A, channel: forum });
    expect(textOf(again)).toContain(`<#${first!.channelId}> already watches`);
    await store.subscriptions.remove(harbor.id, first!.id);
    await world.use('subscription add', { address: A, channel: forum });
    expect((await all()).map(({ channelId }) => channelId)).toEqual([first!.channelId]);
    // A look-alike has the same ends, and a post of its own.
    await world.use('subscription add', { address: LIKE_A, channel: forum });
    expect(new Set((await all()).map(({ channelId }) => channelId)).size).toBe(2);
    expect(posts()).toHaveLength(2);
    const elsewhere = await world.use('subscription add', { address: B, channel: harbor.alerts });
    expect(textOf(elsewhere)).toContain('Watching');
    const moved = await world.use('subscription edit', { subscription: B, channel: forum });
    expect(textOf(moved)).toContain('Changed');
    expect(posts()).toHaveLength(3);
  });

  it('says that a forum requires a tag that the bot does not have', async () => {
    const { discord } = world;
    const forum = world.makeChannel({ name: 'tagged', type: ChannelType.GuildForum });
    const message = 'A tag is required to create a forum post in this channel';
    discord.fault({ fault: { kind: 'error', status: 400, code: 40_067, message }, channelId: forum, times: 1 });
    const refused = await world.use('subscription add', { address: A, channel: forum });
    expect(textOf(refused)).toContain(`<#${forum}> requires a tag for each post`);
    expect(await all()).toEqual([]);
  });

  it('refuses a forum where the bot may not open posts', async () => {
    const { discord } = world;
    const forum = world.makeChannel({ name: 'closed', type: ChannelType.GuildForum });
    discord.act({ do: 'channel.forbid', channelId: forum, permissions: ['SendMessagesInThreads'] });
    const refused = await world.use('subscription add', { address: A, channel: forum });
    expect(textOf(refused)).toMatch(/missing \*\*Send Messages in Threads/);
    expect(await all()).toEqual([]);
  });
});

describe('/subscription remove', () => {
  it('asks before it removes a subscription, removes it on the button, and records it', async () => {
    const { id } = await world.subscribe({ label: 'Treasury' });
    const asked = await world.use('subscription remove', { subscription: String(id) });
    expect(textOf(asked)).toContain('Remove Treasury?');
    expect(await all()).toHaveLength(1);
    const done = await world.press(asked, 'subscription:drop');
    expect(textOf(done)).toContain('Removed');
    expect(buttonsOf(done)).toEqual([]);
    expect(await all()).toEqual([]);
    const { entries } = await world.store.audit.page(harbor.id, 0, 1);
    const detail = { id, address: A, channel: harbor.alerts };
    expect(entries).toMatchObject([{ userId: seed.ada, action: 'subscription.remove', detail }]);
    const again = await world.use('subscription remove', { subscription: String(id) });
    expect(textOf(again)).toMatch(/no such subscription.*\/subscription list/);
  });

  it('asks again when the subscription was moved to another channel since', async () => {
    const { id } = await world.subscribe();
    const asked = await world.use('subscription remove', { subscription: String(id) });
    await world.store.subscriptions.change(harbor.id, id, { channelId: harbor.whales });
    const again = await world.press(asked, 'subscription:drop');
    expect(textOf(again)).toContain(`<#${harbor.whales}> will no longer get alerts`);
    expect(await all()).toHaveLength(1);
    expect(textOf(await world.press(again, 'subscription:drop'))).toContain('Removed');
    expect(await all()).toEqual([]);
  });

  it('keeps a subscription when its removal is declined', async () => {
    const { id } = await world.subscribe();
    const kept = await world.press(
      await world.use('subscription remove', { subscription: `#${id}` }),
      'subscription:keep',
    );
    expect(textOf(kept)).toContain('Nothing changed');
    expect(await all()).toHaveLength(1);
  });

  it('finds a subscription by address or label, and asks which one if several match', async () => {
    await world.subscribe({ label: 'Treasury' });
    expect(await world.read('subscription remove', { subscription: 'treasury' })).toContain('Remove Treasury?');
    await world.subscribe({ channelId: harbor.announcements, address: lower(B), label: '2024' });
    expect(await world.read('subscription remove', { subscription: '2024' })).toContain('Remove 2024?');
    await world.subscribe({ channelId: harbor.whales });
    expect(await world.read('subscription remove', { subscription: A })).toMatch(
      /Several.*#\d+ Treasury in <#.*#\d+ Treasury in <#/,
    );
    const balance = `https://explorer.example/token/${TOKEN}?a=${A}`;
    expect(await world.read('subscription remove', { subscription: balance })).toMatch(/several addresses\. Paste/);
  });

  it('refuses IDs of other servers’ subscriptions', async () => {
    const { id } = await world.subscribe();
    const answer = await world.use('subscription remove', { subscription: String(id) }, { in: orchid.lobby });
    expect(textOf(answer)).toMatch(/no such subscription/);
    await world.subscribe({ guildId: orchid.id, channelId: orchid.alerts });
    const [mine] = await world.store.subscriptions.list(orchid.id);
    const asked = await world.use('subscription remove', { subscription: String(mine!.id) }, { in: orchid.lobby });
    expect(buttonsOf(asked)[0]).toBe(`subscription:drop:${mine!.id}:${orchid.alerts}`);
    await world.press(asked, 'subscription:drop', { in: orchid.lobby });
    expect(await all()).toHaveLength(1);
  });
});

describe('/subscription edit', () => {
  it('changes the given options and keeps the others', async () => {
    const { id } = await world.subscribe({ label: 'Old', minimum: '5', direction: 'incoming' });
    const answer = await world.use('subscription edit', {
      subscription: String(id),
      label: 'New',
      minimum: 'none',
      channel: harbor.whales,
      mention: harbor.watchers,
    });
    expect(textOf(answer)).toContain('Changed New');
    expect(await all()).toMatchObject([
      { label: 'New', minimum: null, direction: 'incoming', channelId: harbor.whales, mention: harbor.watchers },
    ]);
    await world.use('subscription edit', { subscription: String(id), mention: harbor.id });
    expect(await all()).toMatchObject([{ mention: null }]);
  });

  it('refuses contradictory options, and a second subscription to an address in a channel', async () => {
    const { id } = await world.subscribe({ minimum: '5' });
    expect(await world.read('subscription edit', { subscription: String(id), kind: 'nft' })).toMatch(/no amount/);
    const other = await world.subscribe({ channelId: harbor.whales });
    const answer = await world.use('subscription edit', { subscription: String(id), channel: harbor.whales });
    expect(textOf(answer)).toContain(`already watches this address (#${other.id})`);
  });
});

describe('/subscription test', () => {
  it('posts an alert that is marked as a sample and pings nobody', async () => {
    const { id } = await world.subscribe({ channelId: harbor.whales, mention: harbor.watchers, label: 'Treasury' });
    const answer = await world.use('subscription test', { subscription: String(id) });
    expect(textOf(answer)).toContain('Sample sent');
    const [message] = world.discord.messages(harbor.whales);
    expect(shownIn(message!.message)[0]!.title).toMatch(/^🧪 SAMPLE · 📥 Treasury \+1,234\.5/);
    expect(JSON.stringify(message!.message)).toContain(A);
    expect(message!.message.mention_roles).toEqual([]);
  });

  it('posts a sample once when Discord does not respond in time', async () => {
    const { id } = await world.subscribe({ channelId: harbor.general });
    const hang = { fault: { kind: 'hang' as const, done: true }, method: 'POST', channelId: harbor.general, times: 1 };
    const fault = world.discord.fault(hang);
    // Time goes on, too: discord.js waits for its own limits by these timers.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const answer = world.use('subscription test', { subscription: String(id) });
    await world.discord.until('the sample is sent and meets the fault', () => fault.hits > 0);
    vi.advanceTimersByTime(15_000);
    expect(textOf(await answer)).toContain('Sample sent');
    expect(world.discord.messages(harbor.general)).toHaveLength(1);
  });

  it('asks Discord for no further sample or forum post after twenty refusals in two minutes', async () => {
    // The refusals of other tests, and then those of this one, are over.
    const forgetRefusals = () => world.clock.advance(2 * 60_000);
    forgetRefusals();
    onTestFinished(forgetRefusals);
    const { id } = await world.subscribe({ channelId: harbor.general });
    const forum = world.makeChannel({ name: 'wallets', type: ChannelType.GuildForum });
    const refusal = { kind: 'error', status: 403, code: 50_013, message: 'Missing Permissions' } as const;
    const samples = world.discord.fault({ fault: refusal, method: 'POST', channelId: harbor.general, times: 20 });
    const posts = world.discord.fault({ fault: refusal, method: 'POST', channelId: forum, times: 1 });
    const sample = () => world.use('subscription test', { subscription: String(id) });
    for (let n = 0; n < 20; n++) await sample();
    expect(samples.hits).toBe(20);
    expect(textOf(await sample())).toContain('Discord rejected many of my requests in this server');
    const added = await world.use('subscription add', { address: B, channel: forum });
    expect(textOf(added)).toContain('Discord rejected many of my requests in this server');
    expect(posts.hits).toBe(0);
  });

  it('explains why Discord refuses a sample', async () => {
    const { id } = await world.subscribe({ channelId: harbor.council });
    expect(await world.read('subscription test', { subscription: String(id) })).toMatch(/can’t post in/);
    world.discord.act({ do: 'channel.update', channelId: harbor.audit, archived: true, locked: true });
    const closed = await world.subscribe({ channelId: harbor.audit });
    expect(await world.read('subscription test', { subscription: String(closed.id) })).toMatch(/is a locked thread/);
    world.discord.act({ do: 'channel.update', channelId: harbor.audit, archived: false, locked: false });
    const inside = await world.subscribe({ channelId: world.makeChannel() });
    expect(await world.read('subscription test', { subscription: String(inside.id) })).toMatch(
      /private thread, mention me there once/,
    );
    const gone = await world.subscribe({ channelId: '1100000000000099999' });
    expect(await world.read('subscription test', { subscription: String(gone.id) })).toMatch(
      /channel no longer exists/,
    );
  });
});
