import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { createDiscovery } from '../../src/upstream/discovery.ts';
import { createExplorer } from '../../src/upstream/explorer.ts';
import { startUpstream } from '../upstream/server.ts';
import { remember } from './ledger.ts';
import {
  A,
  B,
  type CommandWorld,
  isPrivate,
  lower,
  menuOf,
  type Shown,
  seed,
  startWorld,
  TOKEN,
  textOf,
} from './world.ts';

const { harbor, orchid } = seed;
const REFUSED = /You need the \*\*Manage Server\*\* permission/;
let world: CommandWorld;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let id: string;
const WEBHOOK = 'f'.repeat(24);
const RECORD = { contractAddress: A, name: 'Token', symbol: 'T', type: 'ERC-20', decimals: '18', totalSupply: '1' };
const answer = ({ method, url }: { method: string; url: string }) => {
  if (url.includes('module=token')) return { body: { status: '1', message: 'OK', result: RECORD } };
  if (method === 'POST') return { status: 201, body: { acknowledged: true, deletedCount: 1 } };
  return { body: [{ _id: WEBHOOK, webhookUrl: 'https://bell.example', eventType: 'ALL' }] };
};
beforeAll(async () => {
  upstream = await startUpstream(answer);
  world = await startWorld({
    service: upstream.url,
    services: {
      discovery: createDiscovery({ url: upstream.url, now: () => 0 }),
      explorer: createExplorer({ url: upstream.url, addressParam: 'a', apiKey: undefined, now: () => 0 }),
    },
  });
  await world.use('setup server', { manager: harbor.watchers });
  id = String((await world.subscribe({ label: 'Treasury' })).id);
  const named = { address: lower(TOKEN), name: 'Coin', createdBy: seed.ada, at: 0 };
  await world.store.labels.set(harbor.id, named, 10);
  remember(world.file, world.clock.now, [{ kind: 'erc20', token: named.address, tokenSymbol: 'T' }]);
});
beforeEach(() => {
  world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [harbor.watchers] });
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

/** Noa is no manager any more, until the test ends. */
const demote = () => world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [] });

const WATCH = 'Watch addresses in this message';
const FILE = { filename: 'more.csv', text: `address,channel\n${TOKEN},#alerts` };

/** Who, and what they may: `all` only, or `manage` too. */
const people = [
  { name: 'a member', who: { as: seed.mia }, may: ['all'] },
  { name: 'the manager role', who: { as: seed.noa }, may: ['all', 'manage'] },
  { name: 'Manage Server', who: { as: seed.max }, may: ['all', 'manage'] },
  { name: 'the owner', who: { as: seed.ada }, may: ['all', 'manage'] },
  { name: 'the manager role of another server', who: { as: seed.noa, in: orchid.lobby }, may: ['all'] },
];

const uses: [string, string, (subscription: string) => Record<string, OptionInput>][] = [
  ['token', 'all', () => ({ address: A })],
  ['provider search', 'all', () => ({ category: 'apis' })],
  ['provider categories', 'all', () => ({})],
  ['help', 'all', () => ({})],
  ['subscription list', 'all', () => ({})],
  ['subscription add', 'manage', () => ({ address: 'x' })],
  ['subscription edit', 'manage', (subscription) => ({ subscription })],
  ['subscription remove', 'manage', (subscription) => ({ subscription })],
  ['subscription pause', 'manage', (subscription) => ({ subscription })],
  ['subscription resume', 'manage', (subscription) => ({ subscription })],
  ['subscription mute', 'manage', (subscription) => ({ subscription, duration: 'off' })],
  ['subscription test', 'manage', (subscription) => ({ subscription })],
  ['subscription import', 'manage', () => ({ file: FILE })],
  ['subscription export', 'manage', () => ({})],
  ['webhook list', 'manage', () => ({})],
  ['webhook remove', 'manage', () => ({ webhook: 'w', addresses: A })],
  ['setup server', 'manage', () => ({})],
  ['setup check', 'manage', () => ({})],
  ['setup project', 'manage', () => ({})],
  ['setup forget', 'manage', () => ({})],
  ['status', 'manage', () => ({})],
  ['activity', 'all', () => ({ address: A })],
  ['label set', 'manage', () => ({ address: B, name: 'Payroll' })],
  ['label remove', 'manage', () => ({ address: A })],
  ['label list', 'manage', () => ({})],
  ['why', 'manage', () => ({ transaction: `0x${'a'.repeat(64)}` })],
];

/** Options with choices, and who gets them. */
const choosing = [
  ['activity', 'address', 'all'],
  ['label remove', 'address', 'manage'],
  ['label set', 'address', 'manage'],
  ['provider search', 'category', 'all'],
  ['setup server', 'timezone', 'manage'],
  ['subscription add', 'token', 'manage'],
  ['subscription edit', 'subscription', 'manage'],
  ['subscription edit', 'token', 'manage'],
  ['subscription mute', 'subscription', 'manage'],
  ['subscription mute', 'token', 'manage'],
  ['subscription pause', 'subscription', 'manage'],
  ['subscription remove', 'subscription', 'manage'],
  ['subscription resume', 'subscription', 'manage'],
  ['subscription test', 'subscription', 'manage'],
  ['token', 'address', 'all'],
  ['webhook remove', 'webhook', 'manage'],
] as const;
/** Choices that are not one server's own. */
const HERE_TOO: readonly string[] = ['provider search'];

it('the matrix names every option with choices', () => {
  type Definition = { name: string; autocomplete?: boolean; options?: Definition[] };
  const walk = ({ name, autocomplete, options = [] }: Definition): string[] =>
    autocomplete ? [name] : options.flatMap(walk).map((path) => `${name} ${path}`);
  const all = commands.flatMap(({ data }) => walk(data.toJSON() as Definition));
  expect(all.sort()).toEqual(choosing.map(([command, option]) => `${command} ${option}`).sort());
});

it('the matrix names every command', () => {
  const all = commands.flatMap((command) => {
    if ('kind' in command) return [];
    const { name, options = [] } = command.data.toJSON();
    const subs = options.filter(({ type }) => type === 1).map((option) => `${name} ${option.name}`);
    return subs.length > 0 ? subs : [name];
  });
  expect(uses.map(([name]) => name).sort()).toEqual(all.sort());
});

describe.each(people)('$name', ({ who, may }) => {
  it.each(uses)('/%s', async (name, needs, options) => {
    const before = await world.store.subscriptions.list(harbor.id);
    const answer = await world.use(name, options(id), who);
    // Nor has it failed, as it would be noted.
    if (may.includes(needs))
      return expect(textOf(answer)).not.toMatch(new RegExp(`${REFUSED.source}|went wrong on my side`));
    expect(textOf(answer)).toMatch(REFUSED);
    expect(isPrivate(answer)).toBe(true);
    expect(await world.store.subscriptions.list(harbor.id)).toEqual(before);
  });

  it('the menu of a message', async () => {
    const channelId = who.in ?? harbor.alerts;
    const content = `Look at ${TOKEN}`;
    const message = world.discord.act({ do: 'message.send', channelId, userId: seed.ada, content });
    const answer = await world.useOn(message.id!, WATCH, who);
    if (!may.includes('manage')) return expect(textOf(answer)).toMatch(REFUSED);
    expect(menuOf(answer).options).toHaveLength(1);
  });

  it.each(choosing)('choices of /%s %s', async (name, option, needs) => {
    const offered = await world.choices(name, option, {}, who);
    expect(offered.length > 0).toBe(may.includes(needs) && (who.in === undefined || HERE_TOO.includes(name)));
  });
});

describe('buttons ask anew: who is no manager any more changes nothing', () => {
  const noa = { as: seed.noa };
  const keys = { projectId: 'own', apiKey: 'own-key', apiSecret: 'own-secret' };
  beforeEach(() => world.services.projects.save(harbor.id, seed.ada, keys));
  afterEach(() => world.services.projects.remove(harbor.id));
  const panel = async () => world.press(await world.use('webhook list', {}, noa), 'setup:receiver', noa);
  const rotated = async () => world.press(await panel(), 'setup:rotate', noa);
  const state = async () => [await world.store.projects.ofGuild(harbor.id), await world.store.projects.tokens()];
  const buttons: [string, () => Promise<Shown>][] = [
    ['subscription:drop', () => world.use('subscription remove', { subscription: id }, noa)],
    ['subscription:import', () => world.use('subscription import', { file: FILE }, noa)],
    ['subscription:discard', () => world.use('subscription import', { file: FILE }, noa)],
    ['subscription:keep', () => world.use('subscription remove', { subscription: id }, noa)],
    ['webhook:confirm', () => world.use('webhook remove', { webhook: 'w', addresses: A }, noa)],
    ['webhook:cancel', () => world.use('webhook remove', { webhook: 'w', addresses: A }, noa)],
    [
      'webhook:forget',
      async () =>
        world.press(await world.use('webhook remove', { webhook: 'w', addresses: A }, noa), 'webhook:confirm', noa),
    ],
    ['setup:receiver', () => world.use('webhook list', {}, noa)],
    ['setup:rotate', panel],
    ['setup:remove', panel],
    ['setup:removed', async () => world.press(await panel(), 'setup:remove', noa)],
    ['setup:kept', async () => world.press(await panel(), 'setup:remove', noa)],
    ['setup:revoke', rotated],
    ['setup:revoked', async () => world.press(await rotated(), 'setup:revoke', noa)],
    ['label:drop', () => world.post(`label:drop:${A}`)],
    ['label:keep', () => world.post(`label:keep:${A}`)],
    ['label:list', () => world.post('label:list:0')],
    ['why:show', () => world.post('why:show:REFERENCE')],
    ['setup:erase', () => world.use('setup forget', {}, noa)],
    ['setup:unset', () => world.use('setup server', { channel: harbor.general }, noa)],
    ['setup:spare', () => world.use('setup forget', {}, noa)],
    ['token:watch', () => world.use('token', { address: A }, noa)],
  ];

  it.each(buttons)('%s', async (start, show) => {
    const shown = await show();
    const before = textOf(shown);
    const posts = upstream.requests.length;
    const project = await state();
    demote();
    const pressed = await world.press(shown, start, noa);
    expect(await state()).toEqual(project);
    expect(textOf(pressed)).toMatch(REFUSED);
    // The message with the button stays as it was.
    if (pressed.reply!.id === shown.reply!.id) expect(textOf(pressed)).toContain(before);
    expect(upstream.requests.slice(posts).filter(({ method }) => method === 'POST')).toEqual([]);
    expect(await world.store.subscriptions.list(harbor.id)).toHaveLength(1);
  });

  it('the menu of addresses to watch', async () => {
    const message = { channelId: harbor.alerts, userId: seed.noa, content: TOKEN };
    const { id: sent } = world.discord.act({ do: 'message.send', ...message });
    const shown = await world.useOn(sent!, WATCH, noa);
    demote();
    const chosen = await world.choose(shown, [TOKEN], noa);
    expect(textOf(chosen)).toMatch(REFUSED);
    expect(await world.store.subscriptions.list(harbor.id)).toHaveLength(1);
  });

  it('the list names every button that needs a manager', () => {
    const needing = commands.flatMap(({ data, buttons: own = {} }) =>
      Object.entries(own).flatMap(([action, { access }]) => (access === 'manage' ? [`${data.name}:${action}`] : [])),
    );
    expect(buttons.map(([start]) => start).sort()).toEqual(needing.sort());
  });

  it('nothing else is open to all than what only shows', () => {
    const open = commands.flatMap((command) => {
      const parts = { buttons: {}, menus: {}, forms: {}, ...command };
      const own: [string, { access: string }][] = [parts.buttons, parts.menus, parts.forms].flatMap(Object.entries);
      return own.flatMap(([action, { access }]) => (access === 'all' ? [`${command.data.name}:${action}`] : []));
    });
    expect(open.sort()).toEqual(['activity:csv', 'activity:show', 'provider:page', 'subscription:list']);
  });
});

describe('menus and forms ask anew, too', () => {
  const noa = { userId: seed.noa, channelId: harbor.alerts };
  const state = async () => [
    await world.store.projects.ofGuild(harbor.id),
    await world.store.projects.webhookNames(harbor.id),
    upstream.requests.length,
  ];
  const pick = async () => {
    const listed = await world.use('webhook list', {}, { as: seed.noa });
    const menu = { kind: 'select', customId: 'webhook:name', values: [WEBHOOK] as string[] } as const;
    return () => world.discord.use({ ...menu, ...noa, messageId: listed.reply!.id });
  };
  const KEYS = { projectId: 'stolen', apiKey: 'k', apiSecret: 's' };
  const forms: [string, Record<string, string>, () => Promise<{ id: string }>][] = [
    ['setup:project', KEYS, () => world.use('setup project', {}, { as: seed.noa })],
    ['webhook:name', { name: 'Mine' }, async () => (await (await pick())()).until(({ modal }) => modal !== null)],
  ];

  const menus = ['Watch addresses in this message:add', 'webhook:name', 'why:pick'];
  it.each(menus)('the menu %s', async (customId) => {
    const posted = await world.post(customId, harbor.alerts, WEBHOOK);
    demote();
    const menu = { kind: 'select' as const, customId, values: [WEBHOOK], messageId: posted.reply!.id };
    const chosen = await world.discord.use({ ...menu, ...noa });
    const refused = await chosen.until((state) => REFUSED.test(textOf(state)) || state.modal !== null);
    expect(refused.modal).toBeNull();
  });

  it.each(forms)('the form %s', async (name, values, open) => {
    const { id: interactionId } = await open();
    const before = await state();
    demote();
    const sent = await world.discord.use({ kind: 'modal', interactionId, values, ...noa });
    const refused = await sent.final();
    expect(refused.name.startsWith(name)).toBe(true);
    expect(textOf(refused)).toMatch(REFUSED);
    expect(isPrivate(refused)).toBe(true);
    expect(await state()).toEqual(before);
  });

  it('the lists name every menu and every form that needs a manager', () => {
    const needing = (kind: 'menus' | 'forms') =>
      commands.flatMap((command) => {
        const own = Object.entries((kind in command && command[kind as 'menus']) || {});
        return own.flatMap(([action, { access }]) => (access === 'manage' ? [`${command.data.name}:${action}`] : []));
      });
    expect(needing('forms').sort()).toEqual(forms.map(([name]) => name).sort());
    expect(needing('menus').sort()).toEqual(menus);
  });
});

describe('the operator’s project', () => {
  const orchids = { in: orchid.lobby };

  it('is managed in the operator’s servers only, whoever asks elsewhere', async () => {
    expect(textOf(await world.use('webhook list'))).toContain('1 webhook');
    const before = upstream.requests.length;
    expect(textOf(await world.use('webhook list', {}, orchids))).toMatch(/bot’s own notification project/);
    const remove = await world.use('webhook remove', { webhook: WEBHOOK, addresses: A }, orchids);
    expect(textOf(remove)).toMatch(/bot’s own notification project/);
    expect(await world.choices('webhook remove', 'webhook', {}, orchids)).toEqual([]);
    expect(upstream.requests.length).toBe(before);
  });

  it('does not answer to buttons that another server shows', async () => {
    for (const action of ['receiver', 'rotate', 'revoke', 'revoked', 'remove', 'removed', 'kept']) {
      const tokens = await world.store.projects.tokens();
      const posted = await world.post(`setup:${action}`, orchid.lobby);
      const pressed = await world.press(posted, `setup:${action}`, orchids);
      expect(textOf(pressed)).toMatch(/no longer has a project of its own/);
      expect(JSON.stringify(pressed)).not.toContain('/hooks/');
      expect(await world.store.projects.tokens()).toEqual(tokens);
    }
  });
});

it('the manager role of one server says nothing in another', async () => {
  const answer = await world.use('subscription add', { address: A }, { as: seed.noa, in: orchid.lobby });
  expect(textOf(answer)).toMatch(REFUSED);
  expect(await world.store.subscriptions.list(orchid.id)).toEqual([]);
});

it('a role that everybody has makes nobody a manager', async () => {
  await world.store.guilds.changeSettings(orchid.id, { managerRole: orchid.id });
  expect(textOf(await world.use('status', {}, { as: seed.mia, in: orchid.lobby }))).toMatch(REFUSED);
  await world.use('setup server', { manager: orchid.id }, { in: orchid.lobby });
  expect(await world.store.guilds.settings(orchid.id)).toMatchObject({ managerRole: null });
});
