import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { operatorScope } from '../../src/domain/inbox.ts';
import { forFile } from '../for-file.ts';
import { networksEnvironment } from '../networks-file.ts';
import { payment } from '../pipeline/harness.ts';
import { startUpstream } from '../upstream/server.ts';
import { storeToken, storeTransfers } from './stored.ts';
import { startWebhookService } from './webhook-service.ts';
import { A, B, buttonsOf, lower, menuOf, type Shown, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const BASE = 8453;
const GNOSIS = 100;
let knowing = '/base';
const urlOf = (name: string) => `https://bell.example/hooks/receiver-token-of-${name}`;
const network = (name: 'fuse' | 'base' | 'gnosis', chainId: number, more: object = {}) => ({
  name,
  title: name.toUpperCase(),
  chainId,
  receiverToken: `receiver-token-of-${name}`,
  explorerUrl: `https://${name}.example`,
  notification: { url: services[name].url, projectId: 'p1', apiKey: 'public-key', apiSecret: 'very-secret' },
  ...more,
});

const start = () => forFile(startWebhookService());
const services = { fuse: await start(), base: await start(), gnosis: await start() };
const record = { contractAddress: TOKEN, name: 'Token', symbol: 'T', type: 'ERC-20', totalSupply: '1' };
const explorer = await forFile(
  startUpstream(({ url }) =>
    url.startsWith(knowing)
      ? { body: { status: '1', message: 'OK', result: record } }
      : { body: { status: '0', message: 'Token not found', result: null } },
  ),
);
const environment = networksEnvironment([
  network('fuse', 122, { explorerApiUrl: `${explorer.url}/fuse` }),
  network('base', BASE, { explorerApiUrl: `${explorer.url}/base` }),
  network('gnosis', GNOSIS),
]);
const world = await forFile(startWorld({ environment }));
beforeEach(async () => {
  await world.reset();
  knowing = '/base';
  for (const [name, service] of Object.entries(services)) {
    service.reset();
    service.hook(`hook-${name}`, urlOf(name));
  }
  for (const id of [0, BASE, GNOSIS]) await world.store.projects.chooseWebhook(harbor.id, id, null);
  world.clock.advance(60_000);
});
const held = () => Object.values(services).map(({ hooks }) => hooks.map(({ addresses }) => [...addresses]));
const webhookButtons = (shown: Shown) => buttonsOf(shown).filter((id) => id.startsWith('webhook:'));

describe('/subscription with several networks', () => {
  it('watches an address on every network, fills each webhook, and has a line about each', async () => {
    const added = await world.use('subscription add', { address: A });
    expect(textOf(added)).toContain('✅ FUSE · ✅ BASE · ✅ GNOSIS');
    expect(textOf(added)).toContain('on every network');
    expect(held()).toEqual([[[lower(A)]], [[lower(A)]], [[lower(A)]]]);
    expect(await world.store.subscriptions.list(harbor.id)).toMatchObject([{ network: null }]);
  });

  it('watches an address on one network beside all others, and finds both in that one’s list', async () => {
    await world.use('subscription add', { address: A });
    await world.use('subscription add', { address: B, network: 'Base' });
    expect(held()).toEqual([[[lower(A)]], [[lower(A), lower(B)]], [[lower(A)]]]);
    const wrong = await world.read('subscription add', { address: B, network: 'gnosys' });
    expect(wrong).toMatch(/no such network.*fuse, base, gnosis.*Did you mean `gnosis`/);
    expect(await world.read('subscription list', { network: 'gnosis' })).not.toContain(B);
    const onBase = await world.read('subscription list', { network: 'base' });
    expect(onBase).toMatch(/on every network[\s\S]*only on BASE/);
    const edited = await world.read('subscription edit', { subscription: B, network: 'any' });
    expect(edited).toContain('on every network');
    const choices = await world.choices('subscription edit', 'network', { network: '' });
    expect(choices.map(({ value }) => value)).toEqual(['any', 'fuse', 'base', 'gnosis']);
    expect(choices[1]!.name).toBe('FUSE');
  });

  it('links an address to the explorer of the only network on which it is watched', async () => {
    const link = `(https://base.example/address/${B})`;
    expect(await world.read('subscription add', { address: B, network: 'base' })).toContain(link);
    const subscription = { subscription: B };
    for (const [name, options] of [
      ['edit', subscription],
      ['pause', subscription],
      ['resume', subscription],
      ['mute', { ...subscription, duration: '1h' }],
      ['list', {}],
    ] as const)
      expect.soft(await world.read(`subscription ${name}`, options), name).toContain(link);
    const asked = await world.use('subscription remove', subscription);
    expect(textOf(asked)).toContain(link);
    expect(textOf(await world.press(asked, 'subscription:drop'))).toContain(link);
  });

  it('names what one network lacks, harms no other, and fills all of them with one button', async () => {
    services.base.unknown.add('POST /webhook/add-addresses');
    services.gnosis.hooks.length = 0;
    const added = await world.use('subscription add', { address: A });
    expect(textOf(added)).toMatch(/✅ FUSE\n⚠️ BASE: .*rejected[\s\S]*⚠️ GNOSIS: No webhook posts here yet/);
    expect(webhookButtons(added)).toEqual([expect.stringMatching(/^webhook:fill:\d+:@8453$/), 'webhook:create:@100']);
    await world.press(added, 'webhook:create');
    expect(held()[2]).toEqual([[lower(A)]]);
    services.base.unknown.clear();
    services.gnosis.hooks[0]!.addresses.clear();
    world.clock.advance(60_000);
    const listed = await world.use('subscription list');
    expect(textOf(listed)).toContain('⚠️ In no webhook on BASE, GNOSIS');
    const filled = textOf(await world.press(listed, 'webhook:everywhere'));
    expect(filled).toMatch(/\*\*FUSE\*\*: ✅[\s\S]*\*\*BASE\*\*: ✅[\s\S]*\*\*GNOSIS\*\*: ✅/);
    expect(held()).toEqual([[[lower(A)]], [[lower(A)]], [[lower(A)]]]);
  });
});

it('offers the webhook and the receiver URL of every network under /setup check', async () => {
  for (const { hooks } of Object.values(services)) hooks.length = 0;
  await world.use('subscription add', { address: A });
  const shown = buttonsOf(await world.use('setup check'));
  const ends = ['', ':@8453', ':@100'];
  expect(shown).toEqual(['webhook:create', 'setup:receiver'].flatMap((id) => ends.map((end) => `${id}${end}`)));
});

describe('lists of addresses with several networks', () => {
  const { bring } = world;
  const all = async () =>
    (await world.store.subscriptions.list(harbor.id)).map(({ address, network: id }) => [address, id]);

  it('takes a symbol, in the options and in the form, for the token of the subscription’s network', async () => {
    const [here, there] = [`0x${'5'.repeat(40)}`, `0x${'6'.repeat(40)}`];
    await storeToken(world.store, here, 'COIN', true);
    await storeToken(world.store, there, 'COIN', true, BASE);
    expect(await world.read('subscription add', { address: A, network: 'base', token: 'COIN' })).toContain(there);
    const panel = await world.use('subscription edit', { subscription: A });
    const asked = await world.fillFrom(panel, 'subscription:filters', { token: 'coin' });
    expect(textOf(asked)).not.toMatch(/several/i);
    const anywhere = { subscription: A, network: 'any', token: 'COIN' };
    expect(await world.read('subscription edit', anywhere)).toContain(here);
  });

  it('warns of a token that its network’s explorer does not know, and of none while a network has no explorer', async () => {
    const add = async (options: Record<string, string>) =>
      world.read('subscription add', { token: `0x${'8'.repeat(40)}`, ...options });
    expect(await add({ address: A, network: 'base' })).not.toContain('has no token');
    expect(await add({ address: B, network: 'fuse' })).toMatch(/has no token at .*0x8888/);
    knowing = '/nowhere';
    expect(await add({ address: TOKEN })).not.toContain('has no token');
  });

  it('exports the network of each subscription, and reads it back', async () => {
    await world.subscribe({ address: lower(A) });
    await world.subscribe({ address: lower(A), network: BASE, minimum: '5' });
    const exported = await world.use('subscription export');
    const file = await (await fetch(exported.reply!.message.attachments[0]!.url)).text();
    expect(file.split('\r\n').map((row) => row.split(',').at(-1))).toEqual(['network', 'any', 'base', '']);
    expect(textOf(await bring(file))).toContain('2 lines are already up to date');
    const moved = await bring(file.replace(/base(?=\r\n$)/, 'GNOSIS'));
    expect(textOf(moved)).toMatch(/1 subscription to add[\s\S]*\(GNOSIS\)/);
    await world.press(moved, 'subscription:import');
    expect(await all()).toEqual([null, BASE, GNOSIS].map((id) => [lower(A), id]));
    expect(textOf(await bring(file.replace(/base(?=\r\n$)/, 'bases')))).toContain('Did you mean `base`');
  });

  it.each([
    ['the chains of Safe', `address,name,chainId\n${A},Ops,8453\n${A},Ops,100\n${B},Cold,1\n`, [BASE, GNOSIS]],
    ['short names', `address,label\nbase:${A},Ops\ngno:${A},Ops\neth:${B},Cold\n`, [BASE, GNOSIS]],
    ['CAIP-2 ids', `address,chain\n${A},eip155:8453\neip155:100:${A},\n${B},eip155:1\n`, [BASE, GNOSIS]],
    ['none', `address,label\n${A},Ops\n`, [null]],
  ])('takes the networks of a list with %s, and leaves out other chains', async (_, file, networks) => {
    await world.press(await bring(file), 'subscription:import');
    expect(await all()).toEqual(networks.map((id) => [lower(A), id]));
  });
});

describe('/setup check and /status with several networks', () => {
  it('names what the webhooks of each network lack, with one button for all', async () => {
    await world.subscribe({ address: lower(A) });
    await world.subscribe({ address: lower(B), network: BASE });
    services.fuse.hooks[0]!.addresses.add(lower(A));
    const checked = await world.use('setup check');
    expect(textOf(checked)).toMatch(/\*\*FUSE\*\*: [^\n]*every watched address/i);
    expect(textOf(checked)).toMatch(/\*\*BASE\*\*: [^*]*0xcc95[^*]*0x1ea1/);
    expect(textOf(checked)).toMatch(/\*\*GNOSIS\*\*: [^*]*0xcc95/);
    expect(webhookButtons(checked)).toEqual(['webhook:everywhere:all']);
    await world.press(checked, 'webhook:everywhere');
    expect(held()).toEqual([[[lower(A)]], [[lower(A), lower(B)]], [[lower(A)]]]);
  });

  it('says which network’s service is away, and what came for another chain', async () => {
    world.services.networks[1]!.interfaces = {
      check: async () => undefined,
      outages: () => new Map([['explorer', { since: world.clock.now(), failure: { status: 'unreachable' } }]]),
    };
    const stray = { id: 'stray', chainId: '8453', place: 'log:1' };
    await world.pipeline.receive(payment(), 0, stray);
    await world.pipeline.turnUntilSettled();
    const checked = await world.read('setup check');
    expect(checked).toMatch(/\*\*BASE\*\*: [^*]*can’t be reached[^*]*`explorerApiUrl`/);
    expect(checked).toContain('**FUSE**: 1 delivery to this receiver URL was from Base and is set aside');
    const status = await world.read('status');
    expect(status).toMatch(/✅ FUSE · GNOSIS\n⚠️ \*\*BASE\*\*: /);
  });
});

describe('one network of several', () => {
  it('lists, names and empties the webhooks of the network that is named', async () => {
    services.base.hook('hook-base', 'https://elsewhere.example', [A]);
    const listed = await world.use('webhook list', { network: 'base' });
    expect(textOf(listed)).toMatch(/^BASE\n/);
    const { custom_id: customId } = menuOf(listed);
    expect(customId).toBe(`webhook:name:@${BASE}`);
    const { id: messageId, channelId } = listed.reply!;
    const menu = { kind: 'select', customId, values: ['hook-base'] as string[] } as const;
    const opened = await world.discord.use({ ...menu, messageId, channelId, userId: seed.ada });
    await world.fill(await opened.until(({ modal }) => modal !== null), { name: 'Main' });
    expect(await world.store.projects.webhookNames(harbor.id, 0)).toEqual(new Map());
    expect(await world.store.projects.webhookNames(harbor.id, BASE)).toEqual(new Map([['hook-base', 'Main']]));
    await world.use('subscription add', { address: A });
    const offered = (name: string) => world.choices('webhook remove', 'webhook', { webhook: 'hook', network: name });
    expect(await offered('base')).toMatchObject([{ value: 'hook-base' }, { value: 'hook-base' }]);
    expect(await offered('bas')).toEqual([]);
    expect(world.logged.filter(({ msg }) => msg === 'autocomplete failed')).toEqual([]);
    const refused = await world.read('webhook remove', { webhook: 'no id!', addresses: A, network: 'gnosis' });
    expect(refused).toContain('**GNOSIS**: ');
    const asked = await world.use('webhook remove', { webhook: 'hook-base', addresses: A, network: 'base' });
    // It still gets the other networks' alerts.
    expect(textOf(asked)).not.toContain('no more alerts');
    await world.press(asked, 'webhook:confirm');
    expect(held().map(([first]) => first)).toEqual([[lower(A)], [], [lower(A)]]);
  });

  it('stores a project of its own for a network, with its own receiver URL', async () => {
    const here = { in: orchid.lobby };
    const opened = await world.use('setup project', { network: 'base' }, here);
    const saved = await world.fill(opened, { projectId: 'own', apiKey: 'key', apiSecret: 'secret' }, here);
    expect(textOf(saved)).toMatch(/^BASE\n/);
    const projects = [0, BASE].map((id) => world.store.projects.ofGuild(orchid.id, id));
    expect(await Promise.all(projects)).toMatchObject([null, { projectId: 'own', network: BASE }]);
    expect(services.base.requests.some(({ url }) => url.startsWith('/webhooks/own'))).toBe(true);
    await world.press(await world.press(saved, 'setup:remove'), 'setup:removed');
    expect(await world.store.projects.ofGuild(orchid.id, BASE)).toBeNull();
    expect(await world.read('setup audit', {}, here)).toMatch(/`own`[^\n]*BASE/);
  });

  it('looks a token up on the chosen network, or on each network in turn', async () => {
    const found = await world.use('token', { address: TOKEN });
    expect(textOf(found)).toMatch(/^BASE\n[\s\S]*base\.example/);
    knowing = '/nowhere';
    world.clock.advance(86_400_000);
    expect(await world.read('token', { address: TOKEN })).toMatch(/\*\*FUSE\*\*: .*\n\*\*BASE\*\*: /);
    expect(await world.read('token', { address: TOKEN, network: 'gnosis' })).toContain('off');
  });

  it('asks three of four explorers for a token, and names the network that it did not ask', async () => {
    const titles = ['fuse', 'base', 'gnosis', 'celo'];
    const four = await startWorld({
      environment: networksEnvironment(
        titles.map((name, n) => ({ name, title: name, chainId: n + 1, explorerApiUrl: `${explorer.url}/${name}` })),
      ),
    });
    onTestFinished(four.close);
    knowing = '/celo';
    const before = explorer.requests.length;
    const refused = textOf(await four.use('token', { address: TOKEN }));
    expect(explorer.requests.slice(before).map(({ url }) => url.split('/')[1])).toEqual(['fuse', 'base', 'gnosis']);
    expect(refused).toContain('Not asked: celo');
    expect(textOf(await four.use('token', { address: TOKEN, network: 'celo' }))).toMatch(/^celo\n/);
  });

  it('explains and sums up equal transfers of two networks apart', async () => {
    const txHash = `0x${'ab'.repeat(32)}`;
    const now = world.clock.now();
    await world.subscribe({ address: lower(A) });
    const of = (scope: number) => ({ scope, txHash, from: lower(A), to: lower(B) });
    await storeTransfers(world.store, now, [of(0), of(operatorScope(BASE))]);
    expect(await world.read('why', { transaction: txHash })).toMatch(/FUSE\n[\s\S]*BASE\n/);
  });
});
