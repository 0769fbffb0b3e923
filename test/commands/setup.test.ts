import { ChannelType } from 'discord.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { BOT_PERMISSIONS } from '../../sandbox/discord/seed.ts';
import type { RefusedSource } from '../../src/domain/inbox.ts';
import { forFile } from '../for-file.ts';
import { post } from '../store/contract/given.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { blockChannels } from './stored.ts';
import { A, type Actor, B, buttonsOf, isPrivate, lower, RECEIVER_URL, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
let list: Given;
let scope: Given;
const ID = 'f'.repeat(24);
const upstream = await forFile(startUpstream(({ url }) => (url.startsWith('/webhook/addresses/') ? scope : list)));
const world = await forFile(startWorld({ environment: { NOTIFICATION_URL: upstream.url } }));
beforeEach(async () => {
  list = { body: [] };
  scope = { status: 404, body: {} };
  await world.reset();
  for (const channelId of [harbor.general, harbor.alerts, harbor.whales])
    world.discord.act({ do: 'channel.update', channelId, overwrites: [] });
  for (const { id } of [harbor, orchid]) await world.services.eraseGuild(id);
});

const ORCHIDS = { in: orchid.lobby };
const check = (who: Actor = {}) => world.read('setup check', {}, who);

/** Sets what was last refused at this scope’s receiver URL; without a scope, at every one. */
function refuse(source: RefusedSource, scope?: number | 'any') {
  const refused = { ...source, at: world.clock.now() };
  world.replace({ lastRefused: (of) => (scope === undefined || of === scope ? refused : null) });
}

describe('/setup server', () => {
  it('saves the given settings, keeps the others, and shows all of them', async () => {
    const first = await world.use('setup server', { channel: harbor.whales, manager: harbor.watchers });
    expect(first).toSatisfy(isPrivate);
    expect(textOf(first)).toContain(`<#${harbor.whales}>`);
    const given = { style: 'full', language: 'de' };
    await world.use('setup server', { ...given, timezone: 'europe/lisbon' });
    const kept = { defaultChannel: harbor.whales, managerRole: harbor.watchers };
    const settings = { ...given, ...kept, timezone: 'Europe/Lisbon', statement: null };
    expect(await world.store.guilds.settings(harbor.id)).toEqual(settings);
    const shown = await world.read('setup server');
    for (const part of [`<#${harbor.whales}>`, `<@&${harbor.watchers}>`, 'Europe/Lisbon', 'Deutsch'])
      expect(shown).toContain(part);
    expect(await world.store.guilds.settings(orchid.id)).toMatchObject({ defaultChannel: null, managerRole: null });
    // Without a node.
    expect(shown).not.toContain('Statement');
    expect(await world.read('setup server', { statement: 'monthly' })).toMatch(/monthly.*need a node/);
  });

  it('resets the default channel, but not another one that was chosen since', async () => {
    const shown = await world.use('setup server', { channel: harbor.whales });
    const stale = await world.use('setup server');
    const defaultChannel = async () => (await world.store.guilds.settings(harbor.id)).defaultChannel;
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.general });
    expect(textOf(await world.press(stale, 'setup:unset'))).toContain(`<#${harbor.general}>`);
    expect(await defaultChannel()).toBe(harbor.general);
    await world.store.guilds.changeSettings(harbor.id, { defaultChannel: harbor.whales });
    const taken = await world.press(shown, 'setup:unset');
    expect(textOf(taken)).toMatch(/Saved\n.*\nAlerts go to\nthe channel where/);
    expect(buttonsOf(taken)).toEqual([]);
    expect(await defaultChannel()).toBeNull();
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ timezone: 'Mars' }, /entered `Mars`.*`Europe\/Lisbon`/],
    [{ timezone: 'berl' }, /Did you mean `Europe\/Berlin`\?/],
    [{ timezone: 'Berlni' }, /Did you mean `Europe\/Berlin`\?/],
    [{ language: 'xx' }, /`language` must be .*`en-US`/],
    [{ channel: harbor.council }, /View Channel/],
  ])('refuses the setting %o', async (options, sentence) => {
    expect(await world.read('setup server', options)).toMatch(sentence);
  });

  it.each([
    ['kolkata', 'asia/kolkata', 'Asia/Kolkata'],
    ['kiev', 'Europe/Kyiv', 'Europe/Kyiv'],
    ['kathmandu', 'Asia/Kathmandu', 'Asia/Kathmandu'],
    ['mendoza', 'America/Argentina/Mendoza', 'America/Argentina/Mendoza'],
    ['são paulo', 'america/são paulo', 'America/Sao_Paulo'],
    ['new york', 'America/New_York', 'America/New_York'],
  ])('offers time zones by city, and keeps them by their names of today: %s', async (city, typed, name) => {
    expect(await world.choices('setup server', 'timezone', { timezone: city })).toEqual([{ name, value: name }]);
    expect(await world.read('setup server', { timezone: typed })).toContain(name);
    expect((await world.store.guilds.settings(harbor.id)).timezone).toBe(name);
  });

  it('offers the time zones whose city begins like the typed text first', async () => {
    const [first, ...others] = await world.choices('setup server', 'timezone', { timezone: 'lis' });
    expect(first).toEqual({ name: 'Europe/Lisbon', value: 'Europe/Lisbon' });
    expect(others.map(({ value }) => value)).toContain('Asia/Tbilisi');
    expect(await world.choices('setup server', 'timezone')).toHaveLength(25);
  });
});

describe('/setup check', () => {
  it('lists each fault with its fix before what is fine', async () => {
    const roleId = world.discord.act({ do: 'role.create', guildId: harbor.id, name: 'Old' }).id!;
    await world.subscribe({ channelId: harbor.council, mention: roleId });
    await world.subscribe({ channelId: '1100000000000099999', mention: '1100000000000088888', label: 'Treasury' });
    await world.subscribe({ channelId: harbor.general });
    const deny = [{ id: seed.bot, type: 1 as const, allow: '0', deny: String(0x8000n | 0x10000n) }];
    world.discord.act({ do: 'channel.update', channelId: harbor.general, overwrites: deny });
    await blockChannels(world.store, harbor.id, { '1100000000000066666': 'unreachable' });
    refuse({ reason: 'unlisted', source: '203.0.113.9' }, 'any');
    world.replace({ probeReceiver: async () => ({ status: 'away' }) });
    const text = await check();
    expect(text).toMatch(/^8 things to fix\n/);
    for (const sentence of [
      `❌ <#${harbor.council}>: I’m missing \\*\\*View Channel`,
      `❌ <#${harbor.general}>: I’m missing \\*\\*Attach Files\\*\\*, \\*\\*Read Message History`,
      '❌ <#1100000000000099999> no longer exists.*\n-# #\\d+ Treasury\n',
      '❌ \\*\\*Treasury\\*\\* mentions a role that no longer exists',
      `❌ <@&${roleId}> is shown but not pinged`,
      '❌ The receiver doesn’t respond at `https://bell.example`.*PUBLIC_URL',
      '❌ .*`203.0.113.9` sent a delivery.*RECEIVER_SOURCES',
      'no webhook posts here.*the button below',
    ])
      expect(text).toMatch(new RegExp(sentence));
    // No webhook can bring one.
    expect(text).not.toContain('No event for');
    expect(text.match(/^[❌⏳✅]/gmu)!.join('')).toMatch(/^❌+⏳*✅*$/u);
  });

  it('reports a locked thread, and a channel that Discord refused', async () => {
    const { act, state } = world.discord;
    await world.subscribe({ channelId: harbor.audit });
    await world.subscribe({ channelId: harbor.whales });
    // The other one was deleted, and no subscription names it now.
    await blockChannels(world.store, harbor.id, { [harbor.whales]: 'parked', '1100000000000077777': 'unreachable' });
    for (const archived of [true, false]) {
      act({ do: 'channel.update', channelId: harbor.audit, archived, locked: true });
      const text = await check();
      expect(text).toMatch(new RegExp(`❌ <#${harbor.audit}> is a locked thread`));
      expect(text).not.toContain('77777');
      expect(text).toMatch(new RegExp(`❌ <#${harbor.whales}>: Discord rejected my messages.*7 days`));
    }
    const add = () => world.read('subscription add', { address: B, channel: harbor.audit });
    expect(await add()).toContain(`<#${harbor.audit}> is a locked thread`);
    // A bot that may manage threads can post in a locked one.
    const { roles } = state.guilds.find(({ id }) => id === harbor.id)!;
    const roleId = roles.find(({ name }) => name === 'Ledgerbell')!.id;
    act({ do: 'role.update', roleId, permissions: [...BOT_PERMISSIONS, 'ManageThreads'] });
    expect(await add()).toContain('Watching');
    expect(await check()).not.toContain('is a locked thread');
    act({ do: 'role.update', roleId, permissions: [...BOT_PERMISSIONS] });
    act({ do: 'channel.update', channelId: harbor.audit, locked: false });
  });

  it('asks to be added to a private thread that the bot was never in or was removed from', async () => {
    const { discord } = world;
    const thread = { name: 'inner circle', type: ChannelType.PrivateThread, parentId: harbor.alerts };
    const id = discord.act({ do: 'channel.create', guildId: harbor.id, ...thread }).id!;
    await world.subscribe({ channelId: id });
    const shut = new RegExp(`❌ I can’t see <#${id}>\\. If it’s a private thread, mention me there once\\.`);
    expect(await check()).toMatch(shut);
    world.invite(id);
    const from = discord.requests().at(-1)!.number;
    for (let use = 0; use < 3; use++) expect(await check()).toContain('✅ I can post in the channel that gets alerts.');
    expect(discord.requests(from).filter(({ path }) => path.endsWith(`/channels/${id}`))).toHaveLength(1);
    await blockChannels(world.store, harbor.id, { [id]: 'parked' });
    world.clock.advance(2 * 60_000);
    discord.act({ do: 'thread.expel', channelId: id });
    const parked = await check();
    expect(parked).toMatch(shut);
    expect(parked).not.toContain('Discord rejected my messages');
    world.invite(id);
    expect(await check()).not.toMatch(shut);
    // The bot gets no events about it after that.
    discord.act({ do: 'thread.expel', channelId: id });
    discord.act({ do: 'channel.delete', channelId: id });
    world.clock.advance(2 * 60_000);
    expect(await check()).toContain(`❌ <#${id}> no longer exists`);
  });

  it.each([
    [['ALL', 'ERC20'], true],
    [['ERC20', 'ERC20'], true],
    [['ERC20', null], true],
    [['NATIVE', 'ERC20', 'ERC721'], false],
  ])('lists the addresses whose transfers come twice through the webhooks %j: %j', async (types, isTwice) => {
    await world.subscribe();
    list = { body: types.map((eventType, n) => ({ _id: `${n}`.repeat(24), webhookUrl: RECEIVER_URL, eventType })) };
    scope = { body: [A] };
    const text = await check();
    const twice = /❌ 1 watched address is in several webhooks.*counts as several \(×2\).*\n.*0x/;
    const once = /^(?!.*several webhooks).*✅ Every watched address is in a webhook/s;
    expect(text).toMatch(isTwice ? twice : once);
  });

  it('compares watched addresses with the webhooks’ addresses if the service shows them', async () => {
    await world.subscribe();
    await world.subscribe({ address: lower(B), label: 'Vault' });
    list = { body: [{ _id: ID, webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    expect(await check()).not.toContain('is in a webhook');
    scope = { body: [{ _id: 'x', webhookId: ID, address: A }] };
    const [lacking, silent] = (await check()).split('⏳');
    expect(lacking).toMatch(new RegExp(`❌ 1 watched address is not in any webhook[^]*:\n\\*\\*Vault\\*\\* \\[\`${B}`));
    expect(lacking).not.toContain(A);
    expect(silent).toMatch(/No event for 1 address since it was added\. It’s in a webhook/);
    expect(silent).not.toContain(B);
    scope = { body: [] };
    expect(await check()).not.toContain('No event for');
    scope = { body: [A, B] };
    const complete = await world.use('setup check');
    expect(textOf(complete)).toMatch(
      /⏳ No event for 2 addresses since they were added\. They’re in webhooks[\s\S]*\n\*\*Vault\*\* \[`0x[\s\S]*✅ Every watched address is in a webhook/,
    );
    expect(textOf(complete)).not.toContain('The last event');
    expect(buttonsOf(complete)).toEqual(['setup:receiver']);
    const [one] = await world.store.subscriptions.list(harbor.id);
    await world.recordActivity(one!.id, { lastEventAt: 60_000 });
    expect(await check()).toMatch(/⏳ No event for 1 address[\s\S]*✅ The last event arrived <t:60:R>\./);
    await world.subscribe({ channelId: harbor.whales, address: one!.address });
    expect(await check()).toContain('⏳ No event for 1 address');
  });

  it('reports a failing service, a webhook at the old URL, and a deleted default channel and manager role', async () => {
    const gone = { defaultChannel: harbor.council, managerRole: '1100000000000088888' };
    await world.store.guilds.changeSettings(harbor.id, gone);
    await world.subscribe();
    list = { status: 503, body: {} };
    await blockChannels(world.store, harbor.id, { [harbor.alerts]: 'unreachable' });
    const failing = await check();
    for (const part of [
      '❌ The notification service failed with error 503.',
      '❌ I can’t post in the default channel of `/setup server`.',
      `❌ <#${harbor.alerts}>: Discord reports that it no longer exists. Its alerts are kept for 30 days`,
    ])
      expect(failing).toContain(part);
    expect(failing).toMatch(/❌ The manager role .*no longer exists/);
    const retiring = `${RECEIVER_URL}-before`;
    const urls = () => ({ current: RECEIVER_URL, retiring, fixed: false });
    world.replace({ receiver: { ...world.services.receiver, urls } });
    list = { body: [{ _id: ID, webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    expect(await check()).not.toContain('old receiver URL');
    list = { body: [{ _id: ID, webhookUrl: `${retiring}/`, eventType: 'ALL' }] };
    expect(await check()).toMatch(/❌ .*old receiver URL/);
  });

  it.each([
    [{ status: 'dns' }, 'has no address \\(DNS\\)'],
    [{ status: 'refused' }, 'is refused'],
    [{ status: 'timeout' }, 'responds in time'],
    [{ status: 'untrusted' }, 'is not trusted.*full chain'],
    [{ status: 'expired' }, 'has expired'],
    [{ status: 'wrong-name' }, 'is for another name'],
    [{ status: 'no-tls' }, 'support TLS'],
    [{ status: 'away' }, 'doesn’t respond'],
    [{ status: 'other', code: 502 }, 'Something else responds .*HTTP 502'],
  ] as const)('explains why the public URL cannot be reached: %j', async (found, words) => {
    world.replace({ probeReceiver: async () => found });
    expect(await check()).toMatch(new RegExp(`❌ (?=.*https://bell.example).*${words}`));
  });

  it.each([
    [{ reason: 'no-sender', source: '10.0.0.5' }, /❌ .*trusted proxy `10\.0\.0\.5`.*`X-Forwarded-For`/],
    [{ reason: 'unreadable', source: null }, /❌ .*`X-Forwarded-For` that is not a list/],
    [{ reason: 'unlisted', source: '203.0.113.9' }, /❌ .*`203\.0\.113\.9`.*RECEIVER_SOURCES.*TRUSTED_PROXIES/],
  ] as const)('explains why the last delivery was refused: %j', async (refused, sentence) => {
    refuse(refused);
    expect(await check()).toMatch(sentence);
  });

  it('shows which interfaces are unavailable, why and since when, after probing them again', async () => {
    const since = world.clock.now() - 600_000;
    const outages = new Map([
      ['explorer', { since, failure: { status: 'timeout' } }],
      ['discovery', { since, failure: { status: 'broken', code: 502 } }],
      ['notification', { since, failure: { status: 'unreachable' } }],
    ] as const);
    let checks = 0;
    world.replace({ interfaces: { outages: () => outages, check: async () => void checks++ } });
    const text = await check(ORCHIDS);
    expect(checks).toBe(1);
    for (const sentence of [
      /❌ The explorer did not respond in time\.[^❌]*alerts warn that their token could not be checked/,
      /❌ The provider directory failed with error 502\.[^❌]*`\/provider`/,
      /❌ The notification service can’t be reached right now\.[^❌]*events may be delayed/,
    ])
      expect(text).toMatch(sentence);
    expect(text.split(`<t:${Math.floor(since / 1_000)}:R>`)).toHaveLength(4);
  });

  it('reports a failure of the notification service once when it is known to be unavailable', async () => {
    const outage = { since: world.clock.now(), failure: { status: 'broken', code: 503 } } as const;
    world.replace({ interfaces: { outages: () => new Map([['notification', outage]]), check: async () => {} } });
    list = { status: 503, body: 'x' };
    const text = await check();
    expect(text.split('The notification service failed with error 503.')).toHaveLength(2);
  });

  it('says up to which block everything is complete, and what is not', async () => {
    const unchecked = [1, 11, 21, 31].map((after) => ({ after, upTo: after + 3, reason: 'pruned' as const, at: 0 }));
    const trouble = { since: 0, reason: 'away' as const };
    const known = { network: 'harbor', title: '', block: 7, blockAt: 60_000, hasTraces: false };
    world.replace({ completeness: () => [{ ...known, trouble, unchecked }] });
    for (const text of [await check(), await world.read('status')]) {
      expect(text).toMatch(/Complete up to block 7 \(<t:60:R>\), except.*\n.*The node does not respond/);
      expect(text).toMatch(/Not completely checked: blocks 32 to 34\.[\s\S]*1 more\n.*The node has no traces/);
    }
    const begins = { ...known, block: null, blockAt: null, trouble: null, unchecked: [] };
    world.replace({ completeness: () => [begins] });
    expect(await check()).toContain('nothing is checked yet');
  });

  it('shows the rejected sender at the operator’s receiver, to every server if none is the operator’s', async () => {
    refuse({ reason: 'unlisted', source: '203.0.113.9' }, 0);
    const reported = async (command: string) => world.read(command, {}, ORCHIDS);
    for (const command of ['setup check', 'status']) expect(await reported(command)).not.toContain('203.0.113.9');
    world.replace({ projects: { ...world.services.projects, hasOperators: false } });
    for (const command of ['setup check', 'status']) expect(await reported(command)).toContain('`203.0.113.9`');
  });

  it('shows the manager role nothing about channels that it does not see', async () => {
    await world.makeManager(seed.noa);
    const secret = { channelId: harbor.treasury, address: lower(B) };
    await world.subscribe({ ...secret, label: 'Secret', mention: '1100000000000088888' });
    await blockChannels(world.store, harbor.id, { [harbor.treasury]: 'parked' });
    list = { body: [{ webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    for (const part of ['❌ **Secret**', `❌ <#${harbor.treasury}>`, B]) expect(await check()).toContain(part);
    const alone = await check({ as: seed.noa });
    expect(alone).toMatch(/⏳ 1 subscription in a channel that you can’t see/);
    await world.subscribe({ label: 'Open' });
    const beside = await check({ as: seed.noa });
    expect(beside).toContain(A);
    for (const text of [alone, beside])
      expect(text).not.toMatch(new RegExp(`Secret|${harbor.treasury}|${B}|Nothing is`));
  });

  it('reports that everything is fine when it is', async () => {
    const { id } = await world.subscribe();
    await world.recordActivity(id, { lastEventAt: 60_000 });
    list = { body: [{ webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    const text = await check();
    expect(text).toContain('Everything looks good');
    expect(text).toContain('✅ The last event arrived <t:60:R>.');
    expect(text).toContain('-# No explorer is set up, so a token counts as known only if you name its contract');
    expect(text).not.toMatch(/❌|⏳/u);
  });

  it.each([
    ['missing', /a delivery without a signature was rejected.*`NOTIFICATION_SIGNING_SECRET`/],
    ['wrong', /a delivery with a wrong signature was rejected.*`NOTIFICATION_SIGNING_SECRET`/],
    ['stale', /rejected because its signature was more than 5 minutes off/],
  ] as const)('reports deliveries whose signature was %s, with how many and what to do', async (fault, sentence) => {
    world.replace({ lastBadSignature: (scope) => (scope === 0 ? { fault, at: world.clock.now(), count: 3 } : null) });
    const text = await check();
    expect(text).toMatch(sentence);
    expect(text).toContain('3 deliveries have been rejected for their signatures since the bot started.');
    expect(await check(ORCHIDS)).not.toMatch(/signature/);
  });

  it('shows the operator’s project nowhere else, and each project only to its own server', async () => {
    refuse({ reason: 'unlisted', source: '203.0.113.9' });
    const answer = await world.use('setup check', {}, ORCHIDS);
    expect(textOf(answer)).toMatch(/Nothing is watched yet[\s\S]*Events arrive through the bot’s own project/);
    expect(buttonsOf(answer)).toEqual([]);
    expect(JSON.stringify(answer)).not.toMatch(/receiver-token|203\.0\.113\.9/);
    const own = await world.services.projects.save(orchid.id, { projectId: 'own', apiKey: 'k', apiSecret: 's' });
    refuse({ reason: 'unlisted', source: '203.0.113.7' }, own);
    expect(await check(ORCHIDS)).toMatch(/`203.0.113.7` sent a delivery to your/);
  });
});

it('shows the manager role in /setup check and /status nothing about delays in a channel that it does not see', async () => {
  await world.makeManager(seed.noa);
  await post(world.store, [6], { guildId: harbor.id, channelId: harbor.treasury, now: 1 });
  world.replace({ sendingPauses: () => [{ channelId: harbor.treasury, reason: 'rate', until: 90_000 }] });
  const delayed = `<#${harbor.treasury}>: Discord’s rate limit`;
  for (const name of ['setup check', 'status']) {
    expect(await world.read(name)).toContain(delayed);
    expect(await world.read(name, {}, { as: seed.noa })).not.toContain(delayed);
  }
});

it.each(['setup check', 'status'])(
  'shows in /%s how many messages Discord rejected, and when one of the channels that wait together is tried',
  async (name) => {
    await world.subscribe();
    const pause = { since: 0, probeAt: 90_000, refusals: 12 };
    world.replace({ guildPause: (guildId) => (guildId === harbor.id ? pause : null) });
    expect(await world.read(name)).toMatch(/Discord rejected 12 of my messages.*I stopped posting.*<t:90:R>/);
    expect(await world.read(name, {}, { in: orchid.lobby })).not.toContain('together');
  },
);
