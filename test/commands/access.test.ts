import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { forFile } from '../for-file.ts';
import { networksEnvironment } from '../networks-file.ts';
import { startUpstream } from '../upstream/server.ts';
import { defined, type Option } from './defined.ts';
import { storeTransfers } from './stored.ts';
import { A, B, buttonsOf, isPrivate, lower, menuOf, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const REFUSED = /You need the \*\*Manage Server\*\* permission/;
const NOT_ENOUGH = /This needs \*\*Manage Server\*\*\. The manager role is not enough\./;
const WEBHOOK = 'f'.repeat(24);
const RECORD = { contractAddress: A, name: 'Token', symbol: 'T', type: 'ERC-20', decimals: '18', totalSupply: '1' };
const answer = ({ method, url }: { method: string; url: string }) => {
  if (url.includes('module=token')) return { body: { status: '1', message: 'OK', result: RECORD } };
  if (method === 'POST') return { status: 201, body: { acknowledged: true, deletedCount: 1 } };
  return { body: [{ _id: WEBHOOK, webhookUrl: 'https://bell.example', eventType: 'ALL', provider: 'Acme' }] };
};
const upstream = await forFile(startUpstream(answer));
const { url } = upstream;
const notification = { url, projectId: 'p1', apiKey: 'public-key', apiSecret: 'very-secret' };
const world = await forFile(
  startWorld({
    // So that there is the option for the network.
    environment: networksEnvironment([
      { name: 'fuse', chainId: 122, explorerApiUrl: url, discoveryUrl: url, notification },
      { name: 'base', chainId: 8453 },
    ]),
  }),
);
await world.use('setup server', { manager: harbor.watchers });
const id = String((await world.subscribe({ label: 'Treasury' })).id);
const named = { address: lower(TOKEN), name: 'Coin', createdBy: seed.ada, at: 0 };
await world.store.labels.set(harbor.id, named, 10);
await storeTransfers(world.store, world.clock.now(), [{ kind: 'erc20', token: named.address, tokenSymbol: 'T' }]);
beforeEach(() => void stripToRole());

/** Changes Noa's rights until the test ends; by default she has only the manager role. */
const giveNoa = (...roleIds: string[]) =>
  world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds });
const stripToRole = () => giveNoa(harbor.watchers);
const promote = () => giveNoa(harbor.manager, harbor.watchers);
const demote = () => giveNoa();

const stored = async () => [
  await world.store.projects.ofGuild(harbor.id),
  await world.store.projects.tokens(),
  await world.store.projects.webhookNames(harbor.id, 0),
  await world.store.guilds.settings(harbor.id),
  await world.store.labels.list(harbor.id),
  await world.store.subscriptions.list(harbor.id),
  await world.store.subscriptions.list(orchid.id),
];

const WATCH = 'Watch addresses in this message';
const FILE = { filename: 'more.csv', text: `address,channel\n${TOKEN},#alerts` };

const noa = { as: seed.noa };
/** Who, and what they may: `all` only, `manage` too, or also what the manager role is not enough for: `admin`. */
const PEOPLE = [
  { name: 'a member', who: { as: seed.mia }, may: ['all'] },
  { name: 'the manager role', who: noa, may: ['all', 'manage'] },
  { name: 'Manage Server', who: { as: seed.max }, may: ['all', 'manage', 'admin'] },
  { name: 'the owner', who: { as: seed.ada }, may: ['all', 'manage', 'admin'] },
  { name: 'the manager role of another server', who: { as: seed.noa, in: orchid.lobby }, may: ['all'] },
];

const GIVEN: Record<string, OptionInput> = {
  address: A,
  addresses: A,
  category: 'apis',
  duration: 'off',
  file: FILE,
  name: 'Payroll',
  transaction: `0x${'a'.repeat(64)}`,
};
const BY_TYPE: Record<number, OptionInput> = { 4: 1, 5: true, 6: seed.ada, 7: harbor.alerts, 8: harbor.watchers };
const given = ({ name, type }: Option): [string, OptionInput] => [
  name,
  name === 'subscription' ? id : (GIVEN[name] ?? BY_TYPE[type] ?? 'x'),
];
const allOf = (options: readonly Option[]) => Object.fromEntries(options.filter(({ required }) => required).map(given));

/** Commands for which the manager role is not enough. */
const FOR_ADMINS = ['setup forget'];
const USES = [...defined].map(([name, { access, options }]) => {
  const needs: string = FOR_ADMINS.includes(name) ? 'admin' : access;
  return { name, needs, options };
});
const CHOICES = USES.flatMap(({ name, needs, options }) =>
  options.flatMap((option) => (option.autocomplete ? [{ name, needs, option: option.name, options }] : [])),
);

describe.each(PEOPLE)('commands used by $name', ({ who, may }) => {
  it.each(USES)('lets exactly the allowed people use /$name', async ({ name, needs, options }) => {
    const before = await stored();
    const answer = await world.use(name, allOf(options), who);
    // An allowed command must not fail either: the last of these texts is that of an unexpected error.
    const failed = new RegExp(`${REFUSED.source}|${NOT_ENOUGH.source}|went wrong on my side`);
    // Commands that are open to everybody change nothing.
    if (needs === 'all' || !may.includes(needs)) expect(await stored()).toEqual(before);
    if (may.includes(needs)) return expect(textOf(answer)).not.toMatch(failed);
    expect(textOf(answer)).toMatch(needs === 'admin' && may.includes('manage') ? NOT_ENOUGH : REFUSED);
    expect(answer).toSatisfy(isPrivate);
  });

  it('lets exactly the allowed people use the command in a message’s menu', async () => {
    const channelId = who.in ?? harbor.alerts;
    const content = `Look at ${TOKEN}`;
    const message = world.discord.act({ do: 'message.send', channelId, userId: seed.ada, content });
    const answer = await world.useOn(message.id!, WATCH, who);
    if (!may.includes('manage')) return expect(textOf(answer)).toMatch(REFUSED);
    expect(menuOf(answer).options).toHaveLength(1);
  });

  it.each(CHOICES)('offers choices of /$name $option to exactly the allowed people', async (choice) => {
    const others = choice.options.filter(({ name }) => name !== choice.option);
    const offeredTo = (person: object) => world.choices(choice.name, choice.option, allOf(others), person);
    const offered = await offeredTo(who);
    if (!may.includes(choice.needs)) expect(offered).toEqual([]);
    else if (who.in === undefined) expect(offered).not.toEqual([]);
    else expect(offered).toEqual(await offeredTo({ ...who, as: seed.ada }));
  });
});

/** The buttons or menus that only people who manage the bot may use, as their custom IDs begin. */
const partsFor = (kind: 'buttons' | 'menus'): string[] =>
  commands.flatMap((command) => {
    const parts = Object.entries(command[kind] ?? {});
    return parts.flatMap(([action, { access }]) => (access === 'all' ? [] : [`${command.data.name}:${action}`]));
  });

describe('buttons', () => {
  const keys = { projectId: 'own', apiKey: 'own-key', apiSecret: 'own-secret' };
  beforeEach(() => world.services.projects.save(harbor.id, keys));
  afterEach(() => world.services.projects.remove(harbor.id));
  const posts = () => upstream.requests.filter(({ method }) => method === 'POST').length;

  it.each(partsFor('buttons'))('refuses the button %s to people who no longer manage the bot', async (customId) => {
    const shown = await world.post(customId);
    const before = textOf(shown);
    const kept = [await stored(), posts()];
    demote();
    const pressed = await world.press(shown, customId, noa);
    expect(textOf(pressed)).toMatch(REFUSED);
    // The message with the button stays as it was.
    if (pressed.reply!.id === shown.reply!.id) expect(textOf(pressed)).toContain(before);
    expect([await stored(), posts()]).toEqual(kept);
  });

  it.each([
    ['webhook list', ['receiver'], 'rotate'],
    ['webhook list', ['receiver', 'rotate'], 'revoke'],
    ['webhook list', ['receiver', 'rotate', 'revoke'], 'revoked'],
    ['setup forget', [], 'erase'],
  ])('requires Manage Server, not just the manager role, under /%s after %j for %s', async (name, path, action) => {
    promote();
    let shown = await world.use(name, {}, noa);
    for (const pressed of path) shown = await world.press(shown, `setup:${pressed}`, noa);
    const project = await stored();
    stripToRole();
    expect(textOf(await world.press(shown, `setup:${action}`, noa))).toMatch(NOT_ENOUGH);
    expect(await stored()).toEqual(project);
  });

  it('leaves nothing open to everybody but these', () => {
    const open = commands.flatMap((command) => {
      const parts = { buttons: {}, menus: {}, forms: {}, ...command };
      const own: [string, { access: string }][] = [parts.buttons, parts.menus, parts.forms].flatMap(Object.entries);
      return own.flatMap(([action, { access }]) => (access === 'all' ? [`${command.data.name}:${action}`] : []));
    });
    const typed = USES.flatMap(({ name, needs }) => (needs === 'all' ? [`/${name}`] : []));
    expect([...typed, ...open].sort()).toEqual([
      '/activity',
      '/help',
      '/provider categories',
      '/provider search',
      '/subscription list',
      '/token',
      'activity:csv',
      'activity:show',
      'provider:page',
      'subscription:list',
      'why:page',
      'why:part',
      'why:pick',
      'why:show',
    ]);
  });
});

describe('menus and forms', () => {
  const acting = { userId: seed.noa, channelId: harbor.alerts };
  const opened = async (interaction: object) => {
    const used = await world.discord.use({ ...interaction, ...acting } as Parameters<typeof world.discord.use>[0]);
    return used.until(({ modal }) => modal !== null);
  };
  const formFrom = async (customId: string) =>
    opened({ kind: 'button', customId, messageId: (await world.post(customId)).reply!.id });
  const nameForm = async () => {
    const { id: messageId } = (await world.use('webhook list', {}, noa)).reply!;
    return opened({ kind: 'select', customId: 'webhook:name', values: [WEBHOOK], messageId });
  };
  const KEYS = { projectId: 'stolen', apiKey: 'k', apiSecret: 's' };
  const forms: [string, Record<string, string>, () => Promise<{ id: string }>][] = [
    ['setup:project', KEYS, () => world.use('setup project', {}, noa)],
    ['webhook:name', { name: 'Mine' }, nameForm],
    ['webhook:id', { id: WEBHOOK }, () => formFrom('webhook:id:all')],
    ['subscription:filters', { minimum: '5' }, () => formFrom(`subscription:filters:${id}`)],
    ['subscription:lists', { tokens: 'native' }, () => formFrom(`subscription:lists:${id}`)],
    ['subscription:pings', { 'mention-cooldown': '7' }, () => formFrom(`subscription:pings:${id}`)],
    ['subscription:schedule', { quiet: '22:00-07:00' }, () => formFrom(`subscription:schedule:${id}`)],
  ];

  it.each(partsFor('menus'))('refuses the menu %s to people who no longer manage the bot', async (customId) => {
    const posted = await world.post(customId, harbor.alerts, WEBHOOK);
    const before = await stored();
    demote();
    const menu = { kind: 'select' as const, customId, values: [WEBHOOK], messageId: posted.reply!.id };
    const chosen = await world.discord.use({ ...menu, ...acting });
    const refused = await chosen.until((state) => REFUSED.test(textOf(state)) || state.modal !== null);
    expect(refused.modal).toBeNull();
    expect(await stored()).toEqual(before);
  });

  it.each(forms)('refuses the form %s to people who no longer manage the bot', async (name, values, open) => {
    const { id: interactionId } = await open();
    const before = [await stored(), upstream.requests.length];
    demote();
    const sent = await world.discord.use({ kind: 'modal', interactionId, values, unchecked: true, ...acting });
    const refused = await sent.until((seen) => REFUSED.test(textOf(seen)));
    expect(refused.name.slice(0, name.length)).toBe(name);
    // The message that the form would have replaced stays, and the refusal is next to it.
    const { reply, followups } = refused;
    expect({ reply: followups.length > 0 ? null : reply, followups }).toSatisfy(isPrivate);
    expect([await stored(), upstream.requests.length]).toEqual(before);
  });
});

describe('the operator’s project', () => {
  const orchids = { in: orchid.lobby };

  it('lets only the operator’s servers manage the operator’s project', async () => {
    expect(await world.read('webhook list')).toContain('1 webhook');
    const before = upstream.requests.length;
    const listed = await world.use('webhook list', {}, orchids);
    const removed = await world.read('webhook remove', { webhook: WEBHOOK, addresses: A }, orchids);
    for (const text of [textOf(listed), removed]) expect(text).toMatch(/bot’s own notification project/);
    expect([buttonsOf(listed), JSON.stringify(listed).includes('/hooks/')]).toEqual([[], false]);
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

it('makes nobody a manager by a role that everybody has', async () => {
  await world.store.guilds.changeSettings(orchid.id, { managerRole: orchid.id });
  expect(await world.read('status', {}, { as: seed.mia, in: orchid.lobby })).toMatch(REFUSED);
  await world.use('setup server', { manager: orchid.id }, { in: orchid.lobby });
  expect(await world.store.guilds.settings(orchid.id)).toMatchObject({ managerRole: null });
});

it('refuses to let the manager role appoint another role or remove itself', async () => {
  for (const manager of [harbor.watchers, harbor.id])
    expect(await world.read('setup server', { manager }, noa)).toMatch(NOT_ENOUGH);
  expect((await world.store.guilds.settings(harbor.id)).managerRole).toBe(harbor.watchers);
  expect(await world.read('setup server', { timezone: 'UTC' }, noa)).toContain('Saved');
});

it('shows the manager role the project without its receiver URL, and refuses changes', async () => {
  const panelFor = async (who: object) => world.press(await world.use('setup check', {}, who), 'setup:receiver', who);
  const shown = await panelFor({ as: seed.max });
  expect(shown).toSatisfy(isPrivate);
  expect(textOf(shown)).toContain('/hooks/');
  const hidden = await panelFor(noa);
  expect(JSON.stringify(hidden)).not.toContain('/hooks/');
  expect(textOf(hidden)).toContain('Only people with **Manage Server** can see it');
  expect(buttonsOf(hidden).filter((one) => one.startsWith('setup:'))).toEqual([]);
});

it('shows the receiver URL only after a press on its button', async () => {
  const answers = ['setup check', 'status', 'subscription list', 'help'].map((name) => world.use(name));
  const added = await world.use('subscription add', { address: B });
  expect(JSON.stringify([...(await Promise.all(answers)), added])).not.toContain('/hooks/');
});
