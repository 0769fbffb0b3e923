import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { startUpstream } from '../upstream/server.ts';
import { storeTransfers } from './stored.ts';
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
const NOT_ENOUGH = /This needs \*\*Manage Server\*\*/;
let world: CommandWorld;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let id: string;
const WEBHOOK = 'f'.repeat(24);
const RECORD = { contractAddress: A, name: 'Token', symbol: 'T', type: 'ERC-20', decimals: '18', totalSupply: '1' };
const answer = ({ method, url }: { method: string; url: string }) => {
  if (url.includes('module=token')) return { body: { status: '1', message: 'OK', result: RECORD } };
  if (method === 'POST') return { status: 201, body: { acknowledged: true, deletedCount: 1 } };
  return { body: [{ _id: WEBHOOK, webhookUrl: 'https://bell.example', eventType: 'ALL', provider: 'Acme' }] };
};
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  upstream = stack.adopt(await startUpstream(answer), (it) => it.close());
  const { url } = upstream;
  world = stack.adopt(
    await startWorld({
      environment: { NOTIFICATION_URL: url, EXPLORER_API_URL: url, DISCOVERY_URL: url },
    }),
    (it) => it.close(),
  );
  await world.use('setup server', { manager: harbor.watchers });
  id = String((await world.subscribe({ label: 'Treasury' })).id);
  const named = { address: lower(TOKEN), name: 'Coin', createdBy: seed.ada, at: 0 };
  await world.store.labels.set(harbor.id, named, 10);
  await storeTransfers(world.store, world.clock.now(), [{ kind: 'erc20', token: named.address, tokenSymbol: 'T' }]);
});
beforeEach(() => {
  stripToRole();
});
afterAll(() => stack.disposeAsync());

/** Noa has Manage Server, until the test ends. */
const promote = () =>
  world.discord.act({
    do: 'member.update',
    guildId: harbor.id,
    userId: seed.noa,
    roleIds: [harbor.manager, harbor.watchers],
  });
/** Noa keeps the manager role only. */
const stripToRole = () =>
  world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [harbor.watchers] });
/** Noa is no longer a manager, until the test ends. */
const demote = () => world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [] });

const WATCH = 'Watch addresses in this message';
const FILE = { filename: 'more.csv', text: `address,channel\n${TOKEN},#alerts` };

/** Who, and what they may: `all` only, `manage` too, or also what the manager role is not enough for: `admin`. */
const PEOPLE = [
  { name: 'a member', who: { as: seed.mia }, may: ['all'] },
  { name: 'the manager role', who: { as: seed.noa }, may: ['all', 'manage'] },
  { name: 'Manage Server', who: { as: seed.max }, may: ['all', 'manage', 'admin'] },
  { name: 'the owner', who: { as: seed.ada }, may: ['all', 'manage', 'admin'] },
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
  ['setup forget', 'admin', () => ({})],
  ['setup audit', 'manage', () => ({})],
  ['status', 'manage', () => ({})],
  ['activity', 'all', () => ({ address: A })],
  ['label set', 'manage', () => ({ address: B, name: 'Payroll' })],
  ['label remove', 'manage', () => ({ address: A })],
  ['label list', 'manage', () => ({})],
  ['why', 'manage', () => ({ transaction: `0x${'a'.repeat(64)}` })],
];

/** Options with choices, and who gets them. */
const CHOOSING = [
  ['activity', 'address', 'all'],
  ['label remove', 'address', 'manage'],
  ['label set', 'address', 'manage'],
  ['provider search', 'category', 'all'],
  ['provider search', 'provider', 'all'],
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

it('lists every option with choices in the access matrix', () => {
  type Definition = { name: string; autocomplete?: boolean; options?: Definition[] };
  const walk = ({ name, autocomplete, options = [] }: Definition): string[] =>
    autocomplete ? [name] : options.flatMap(walk).map((path) => `${name} ${path}`);
  const all = commands.flatMap(({ data }) => walk(data.toJSON() as Definition));
  expect(all.sort()).toEqual(CHOOSING.map(([command, option]) => `${command} ${option}`).sort());
});

it('lists every command in the access matrix', () => {
  const all = commands.flatMap((command) => {
    if ('kind' in command) return [];
    const { name, options = [] } = command.data.toJSON();
    const subs = options.filter(({ type }) => type === 1).map((option) => `${name} ${option.name}`);
    return subs.length > 0 ? subs : [name];
  });
  expect(uses.map(([name]) => name).sort()).toEqual(all.sort());
});

describe.each(PEOPLE)('commands used by $name', ({ who, may }) => {
  it.each(uses)('lets exactly the allowed people use /%s', async (name, needs, options) => {
    const before = await world.store.subscriptions.list(harbor.id);
    const answer = await world.use(name, options(id), who);
    // An allowed command must not fail either: the last of these texts is that of an unexpected error.
    const failed = new RegExp(`${REFUSED.source}|${NOT_ENOUGH.source}|went wrong on my side`);
    if (may.includes(needs)) return expect(textOf(answer)).not.toMatch(failed);
    expect(textOf(answer)).toMatch(needs === 'admin' && may.includes('manage') ? NOT_ENOUGH : REFUSED);
    expect(answer).toSatisfy(isPrivate);
    expect(await world.store.subscriptions.list(harbor.id)).toEqual(before);
  });

  it('lets exactly the allowed people use the command in a message’s menu', async () => {
    const channelId = who.in ?? harbor.alerts;
    const content = `Look at ${TOKEN}`;
    const message = world.discord.act({ do: 'message.send', channelId, userId: seed.ada, content });
    const answer = await world.useOn(message.id!, WATCH, who);
    if (!may.includes('manage')) return expect(textOf(answer)).toMatch(REFUSED);
    expect(menuOf(answer).options).toHaveLength(1);
  });

  it.each(CHOOSING)('offers choices of /%s %s to exactly the allowed people', async (name, option, needs) => {
    const offered = await world.choices(name, option, option === 'provider' ? { category: 'apis' } : {}, who);
    const isAllowed = may.includes(needs) && (who.in === undefined || HERE_TOO.includes(name));
    if (isAllowed) expect(offered).not.toEqual([]);
    else expect(offered).toEqual([]);
  });
});

describe('buttons', () => {
  const noa = { as: seed.noa };
  const keys = { projectId: 'own', apiKey: 'own-key', apiSecret: 'own-secret' };
  beforeEach(() => world.services.projects.save(harbor.id, keys));
  afterEach(() => world.services.projects.remove(harbor.id));
  const panel = async () => world.press(await world.use('webhook list', {}, noa), 'setup:receiver', noa);
  /** The panel of somebody with Manage Server: it also has the buttons that change the URL. */
  const fullPanel = () => {
    promote();
    return panel();
  };
  const rotated = async () => world.press(await fullPanel(), 'setup:rotate', noa);
  const forgetting = () => {
    promote();
    return world.use('setup forget', {}, noa);
  };
  const state = async () => [
    await world.store.projects.ofGuild(harbor.id),
    await world.store.projects.tokens(),
    await world.store.guilds.settings(harbor.id),
    await world.store.labels.list(harbor.id),
    await world.store.subscriptions.list(harbor.id),
  ];
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
    [
      'webhook:restore',
      async () =>
        world.press(await world.use('webhook remove', { webhook: 'w', addresses: A }, noa), 'webhook:confirm', noa),
    ],
    ['setup:receiver', () => world.use('webhook list', {}, noa)],
    ['setup:rotate', fullPanel],
    ['setup:remove', panel],
    ['setup:removed', async () => world.press(await panel(), 'setup:remove', noa)],
    ['setup:kept', async () => world.press(await panel(), 'setup:remove', noa)],
    ['setup:revoke', rotated],
    ['setup:revoked', async () => world.press(await rotated(), 'setup:revoke', noa)],
    ['label:drop', () => world.post(`label:drop:${A}`)],
    ['label:keep', () => world.post(`label:keep:${A}`)],
    ['label:list', () => world.post('label:list:0')],
    ['setup:erase', forgetting],
    ['setup:unset', () => world.use('setup server', { channel: harbor.general }, noa)],
    ['setup:spare', forgetting],
    ['token:watch', () => world.use('token', { address: A }, noa)],
    ['setup:audit', () => world.post('setup:audit:0')],
    ['subscription:save', () => world.post('subscription:save:1')],
    ['subscription:revert', () => world.post('subscription:revert:1')],
    ...['filters', 'lists', 'pings', 'schedule', 'mute', 'test', 'remove'].map(
      (action): [string, () => Promise<Shown>] => [
        `subscription:${action}`,
        () => world.post(`subscription:${action}:${id}`),
      ],
    ),
    ['webhook:fill', () => world.post('webhook:fill:all')],
    ['webhook:create', () => world.post('webhook:create')],
    ['webhook:drain', () => world.post(`webhook:drain:${A}`)],
    ['webhook:id', () => world.post('webhook:id:all')],
  ];

  it.each(buttons)('refuses the button %s to people who no longer manage the bot', async (start, show) => {
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

  const admins: [string, () => Promise<Shown>][] = [
    ['setup:rotate', fullPanel],
    ['setup:revoke', rotated],
    ['setup:revoked', async () => world.press(await rotated(), 'setup:revoke', noa)],
    ['setup:erase', forgetting],
  ];

  it.each(admins)('requires Manage Server, not just the manager role, for %s', async (start, show) => {
    const shown = await show();
    const project = await state();
    stripToRole();
    const pressed = await world.press(shown, start, noa);
    expect(textOf(pressed)).toMatch(NOT_ENOUGH);
    expect(await state()).toEqual(project);
  });

  it('refuses the menu of addresses to watch to people who no longer manage the bot', async () => {
    const message = { channelId: harbor.alerts, userId: seed.noa, content: TOKEN };
    const { id: sent } = world.discord.act({ do: 'message.send', ...message });
    const shown = await world.useOn(sent!, WATCH, noa);
    demote();
    const chosen = await world.choose(shown, [TOKEN], noa);
    expect(textOf(chosen)).toMatch(REFUSED);
    expect(await world.store.subscriptions.list(harbor.id)).toHaveLength(1);
  });

  it('lists every button that needs a manager', () => {
    const needing = commands.flatMap(({ data, buttons: own = {} }) =>
      Object.entries(own).flatMap(([action, { access }]) => (access === 'manage' ? [`${data.name}:${action}`] : [])),
    );
    expect(buttons.map(([start]) => start).sort()).toEqual(needing.sort());
  });

  it('leaves only commands that change nothing open to everybody', () => {
    const open = commands.flatMap((command) => {
      const parts = { buttons: {}, menus: {}, forms: {}, ...command };
      const own: [string, { access: string }][] = [parts.buttons, parts.menus, parts.forms].flatMap(Object.entries);
      return own.flatMap(([action, { access }]) => (access === 'all' ? [`${command.data.name}:${action}`] : []));
    });
    expect(open.sort()).toEqual([
      'activity:csv',
      'activity:show',
      'provider:page',
      'subscription:list',
      'why:pick',
      'why:show',
    ]);
  });
});

describe('menus and forms', () => {
  const noa = { userId: seed.noa, channelId: harbor.alerts };
  const state = async () => [
    await world.store.projects.ofGuild(harbor.id),
    await world.store.projects.webhookNames(harbor.id),
    await world.store.guilds.settings(harbor.id),
    await world.store.subscriptions.list(harbor.id),
    upstream.requests.length,
  ];
  const pick = async () => {
    const listed = await world.use('webhook list', {}, { as: seed.noa });
    const menu = { kind: 'select', customId: 'webhook:name', values: [WEBHOOK] as string[] } as const;
    return () => world.discord.use({ ...menu, ...noa, messageId: listed.reply!.id });
  };
  const formFrom = async (customId: string) => {
    const { reply } = await world.post(customId);
    const button = { kind: 'button', customId, messageId: reply!.id } as const;
    return (await world.discord.use({ ...button, ...noa })).until(({ modal }) => modal !== null);
  };
  const KEYS = { projectId: 'stolen', apiKey: 'k', apiSecret: 's' };
  const forms: [string, Record<string, string>, () => Promise<{ id: string }>][] = [
    ['setup:project', KEYS, () => world.use('setup project', {}, { as: seed.noa })],
    ['webhook:name', { name: 'Mine' }, async () => (await (await pick())()).until(({ modal }) => modal !== null)],
    ['webhook:id', { id: WEBHOOK }, () => formFrom('webhook:id:all')],
    ['subscription:filters', { minimum: '5' }, () => formFrom(`subscription:filters:${id}`)],
    ['subscription:lists', { tokens: 'native' }, () => formFrom(`subscription:lists:${id}`)],
    ['subscription:pings', { 'mention-cooldown': '7' }, () => formFrom(`subscription:pings:${id}`)],
    ['subscription:schedule', { quiet: '22:00-07:00' }, () => formFrom(`subscription:schedule:${id}`)],
  ];

  const menus = ['Watch addresses in this message:add', 'subscription:act', 'webhook:name', 'webhook:pick'];
  it.each(menus)('refuses the menu %s to people who no longer manage the bot', async (customId) => {
    const posted = await world.post(customId, harbor.alerts, WEBHOOK);
    demote();
    const menu = { kind: 'select' as const, customId, values: [WEBHOOK], messageId: posted.reply!.id };
    const chosen = await world.discord.use({ ...menu, ...noa });
    const refused = await chosen.until((state) => REFUSED.test(textOf(state)) || state.modal !== null);
    expect(refused.modal).toBeNull();
  });

  it.each(forms)('refuses the form %s to people who no longer manage the bot', async (name, values, open) => {
    const { id: interactionId } = await open();
    const before = await state();
    demote();
    const sent = await world.discord.use({ kind: 'modal', interactionId, values, unchecked: true, ...noa });
    const refused = await sent.until((seen) => REFUSED.test(textOf(seen)));
    expect(refused.name.slice(0, name.length)).toBe(name);
    // What a form would have replaced stays, and the refusal is next to it.
    const { reply, followups } = refused;
    expect({ reply: followups.length > 0 ? null : reply, followups }).toSatisfy(isPrivate);
    expect(await state()).toEqual(before);
  });

  it('lists every menu and every form that needs a manager', () => {
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

  it('lets only the operator’s servers manage the operator’s project', async () => {
    expect(textOf(await world.use('webhook list'))).toContain('1 webhook');
    const before = upstream.requests.length;
    expect(textOf(await world.use('webhook list', {}, orchids))).toMatch(/bot’s own notification project/);
    const remove = await world.use('webhook remove', { webhook: WEBHOOK, addresses: A }, orchids);
    expect(textOf(remove)).toMatch(/bot’s own notification project/);
    expect(await world.choices('webhook remove', 'webhook', {}, orchids)).toEqual([]);
    expect(upstream.requests.length).toBe(before);
  });

  it('ignores the project’s buttons in other servers', async () => {
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

it('gives the manager role of one server no rights in another', async () => {
  const answer = await world.use('subscription add', { address: A }, { as: seed.noa, in: orchid.lobby });
  expect(textOf(answer)).toMatch(REFUSED);
  expect(await world.store.subscriptions.list(orchid.id)).toEqual([]);
});

it('makes nobody a manager by a role that everybody has', async () => {
  await world.store.guilds.changeSettings(orchid.id, { managerRole: orchid.id });
  expect(textOf(await world.use('status', {}, { as: seed.mia, in: orchid.lobby }))).toMatch(REFUSED);
  await world.use('setup server', { manager: orchid.id }, { in: orchid.lobby });
  expect(await world.store.guilds.settings(orchid.id)).toMatchObject({ managerRole: null });
});
