import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { A, B, buttonsOf, isPrivate, lower, RECEIVER_URL, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const ID = '64b7f2a1c3d4e5f6a7b8c9d0';
const SECRETS = ['very-secret', 'public-key'];
let removal: Given;
let list: Given;
const upstream = await forFile(startUpstream(({ method }) => (method === 'GET' ? list : removal)));
const world = await forFile(startWorld({ environment: { NOTIFICATION_URL: upstream.url } }));
beforeEach(() => {
  // By then, the cached responses of the service have expired.
  world.clock.advance(60_000);
  upstream.requests.length = 0;
  list = {
    body: [
      { _id: ID, projectId: 'p1', webhookUrl: RECEIVER_URL, eventType: 'ALL' },
      { _id: '0'.repeat(24), projectId: 'p1', webhookUrl: 'https://other.example/hook/secret', eventType: 'ERC20' },
    ],
  };
  removal = { status: 201, body: { acknowledged: true, deletedCount: 2 } };
});
afterEach(async () => {
  await world.reset();
  for (const secret of SECRETS) {
    expect(JSON.stringify(world.logged)).not.toContain(secret);
    expect(JSON.stringify(world.discord.history())).not.toContain(secret);
  }
});
const remove = (addresses: string, webhook = ID, who = {}) => world.use('webhook remove', { webhook, addresses }, who);
const deletions = () => upstream.requests.filter(({ method }) => method === 'POST');

describe('/webhook list', () => {
  it('lists webhooks with types, IDs and which ones point here, without other receivers’ URLs', async () => {
    const answer = await world.use('webhook list');
    const text = textOf(answer);
    expect(answer).toSatisfy(isPrivate);
    expect(text).toContain('2 webhooks');
    expect(text).toMatch(new RegExp(`✅ \`ALL\` → this bot\n-# ID \`${ID}`));
    expect(text).toMatch(/▫️ `ERC20` → `other.example`/);
    expect(text).not.toContain('hook/secret');
  });

  it('lists webhooks without IDs, and reports when none points here', async () => {
    list = { body: [{ projectId: 'p1', webhookUrl: 'https://other.example', eventType: 'ALL' }] };
    const text = await world.read('webhook list');
    expect(text).toMatch(/No webhook posts here.*the button below[\s\S]*doesn’t show its ID/);
  });

  it('counts the webhooks that do not fit in the list', async () => {
    const one = (_: unknown, index: number) => ({ _id: String(index).padStart(24, '0'), webhookUrl: RECEIVER_URL });
    list = { body: Array.from({ length: 100 }, one) };
    const text = await world.read('webhook list');
    const left = Number(/\n… \+(\d+)/.exec(text)![1]);
    expect(text.match(/→ this bot\n-# ID/g)).toHaveLength(100 - left);
  });

  it('shows webhooks’ IDs in full, whatever their form', async () => {
    const id = '550e8400-e29b-41d4-a716-446655440000';
    list = { body: [{ webhookId: id, webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    expect(await world.read('webhook list')).toContain(`ID \`${id}\``);
    expect(textOf(await remove(A, id))).toContain(`from webhook \`${id}\`?`);
  });

  const wrong: [string, Given, RegExp][] = [
    ['403', { status: 403, body: { statusCode: 403, path: '/?apiKey=public-key' } }, /wrong key or secret/],
    ['400', { status: 400, body: {} }, /rejected this request/],
    ['408', { status: 408, body: {} }, /did not respond in time\. Try again in a minute\.$/],
    ['500', { status: 500, body: {} }, /failed with error 500/],
    ['301', { status: 301, body: {} }, /error 301\..*If this continues, the bot’s operator.*`NOTIFICATION_URL`/s],
    ['404', { status: 404, body: {} }, /rejected this request.*`NOTIFICATION_URL`/s],
    ['a page', { body: '<html>', type: 'text/html' }, /unreadable response/],
  ];
  it.each(wrong)(
    'explains in the list what went wrong when the service responds with %s',
    async (_, given, sentence) => {
      list = given;
      expect(await world.read('webhook list')).toMatch(sentence);
    },
  );
});

describe('names of webhooks', () => {
  const name = async (text: string) => {
    const listed = await world.use('webhook list');
    const { id: messageId, channelId } = listed.reply!;
    const menu = { kind: 'select' as const, customId: 'webhook:name', values: [ID] };
    const opened = await world.discord.use({ ...menu, messageId, channelId, userId: seed.ada });
    return world.fill(await opened.until(({ modal }) => modal !== null), { name: text });
  };

  it('names webhooks in a form, and uses the names in the list, in choices and in /webhook remove', async () => {
    const offered = (webhook: string) => world.choices('webhook remove', 'webhook', { webhook });
    expect(textOf(await name('Main *hook*'))).toContain('This server now shows it as `Main *hook*`');
    expect(await world.read('webhook list')).toMatch(/\*\*`Main \*hook\*`\*\*\n✅ `ALL`/);
    expect(await offered('main')).toEqual([{ name: `Main *hook* · ${ID} · ALL, posts here`, value: ID }]);
    expect(textOf(await remove(A))).toContain(`from webhook \`Main *hook*\` (\`${ID}\`)?`);
    expect(await world.store.projects.webhookNames(orchid.id, 0)).toEqual(new Map());
    await name('خزانة');
    expect(await offered('خزانة')).toEqual([{ name: `\u2068خزانة\u2069 · ${ID} · ALL, posts here`, value: ID }]);
    expect(textOf(await name('https://evil.example'))).toMatch(/You entered `https:\/\/evil.example`.*can’t be a link/);
    expect(textOf(await name(''))).toContain('shown by its ID again');
    expect(await world.store.projects.webhookNames(harbor.id, 0)).toEqual(new Map());
  });
});

it('offers known webhooks for removal, and none when the service fails', async () => {
  expect(await world.choices('webhook remove', 'webhook')).toMatchObject([
    { name: `${ID} · ALL, posts here`, value: ID },
    { value: '0'.repeat(24) },
  ]);
  list = { status: 500, body: {} };
  expect(await world.choices('webhook remove', 'webhook')).toEqual([]);
});

describe('/webhook remove', () => {
  it('previews a removal, removes on the button, reports the exact result and records it', async () => {
    const asked = await remove(`${A},\n<${lower(B)}>; ${A}、0x12`);
    const text = textOf(asked);
    expect(asked).toSatisfy(isPrivate);
    expect(text).toMatch(new RegExp(`^Remove 2 addresses from webhook \`${ID}\`\\?[^]*\`${A}\`\n\`${B}\``));
    expect(text).toMatch(/Skipped: 1 entry that is not a valid address\*\*\n`0x12`: .*40 hexadecimal/);
    expect(deletions()).toEqual([]);
    const done = await world.press(asked, 'webhook:confirm');
    expect(deletions()).toMatchObject([{ body: { webhookId: ID, addresses: [A, B] } }]);
    expect(textOf(done)).toContain('Removed 2 addresses.');
    const { entries } = await world.store.audit.page(harbor.id, 0, 1);
    const detail = { webhook: ID, addresses: [lower(A), lower(B)], outcome: { status: 'ok', deletedCount: 2 } };
    expect(entries).toMatchObject([{ userId: seed.ada, action: 'webhook.remove', detail }]);
    expect(buttonsOf(done)).toEqual([expect.stringMatching(/^webhook:restore:/)]);
  });

  it('accepts a removal’s confirmation after a restart, but only once and from the same person', async () => {
    const asked = await remove(A);
    const idIn = (question: typeof asked) => Number(buttonsOf(question)[0]!.split(':').at(-1));
    const first = idIn(asked);
    await world.restart();
    await world.press(asked, 'webhook:confirm');
    expect(deletions()).toHaveLength(1);
    // A copy of the button on another message of another manager: the id alone carries no authority.
    const take = (id: number, userId: string = seed.ada, guildId: string = harbor.id) =>
      world.store.confirmations.take({ guildId, userId, action: 'webhook.remove', notBefore: 0, id });
    expect(await take(first)).toBeNull();
    const second = idIn(await remove(A));
    expect(await take(second, seed.max)).toBeNull();
    expect(await take(second, seed.ada, orchid.id)).toBeNull();
    expect(await take(second)).toMatchObject({ webhook: ID });
  });

  it('removes no address from a webhook on Cancel, or after a quarter of an hour', async () => {
    expect(textOf(await world.press(await remove(A), 'webhook:cancel'))).toContain('Nothing changed');
    const asked = await remove(A);
    world.clock.advance(15 * 60_000 + 1);
    expect(textOf(await world.press(asked, 'webhook:confirm'))).toMatch(/it expired/);
    expect(deletions()).toEqual([]);
  });

  it('lists the subscriptions that get no more alerts, and offers to remove them too', async () => {
    await world.subscribe({ label: 'Treasury' });
    const other = await world.subscribe({ address: lower(B) });
    const asked = await remove(A);
    expect(textOf(asked)).toMatch(/No more alerts for\*\*\n\*\*Treasury\*\* in <#/);
    removal = { status: 201, body: { message: 'Addresses deleted' } };
    const done = await world.press(asked, 'webhook:confirm');
    expect(textOf(done)).toContain('The service responded: `Addresses deleted`');
    // Somebody who gave the address to another webhook.
    const later = await world.subscribe({ channelId: harbor.general });
    const forgotten = await world.press(done, 'webhook:forget');
    expect(textOf(forgotten)).toContain('Removed 1 subscription here');
    const left = (await world.store.subscriptions.list(harbor.id)).map(({ id }) => id);
    expect(left.sort()).toEqual([other.id, later.id].sort());
  });

  it('shows the manager role only how many hidden subscriptions get no more alerts, and keeps those', async () => {
    const { id: guildId, treasury } = harbor;
    await world.makeManager(seed.noa);
    const noa = { as: seed.noa };
    await world.subscribe({ label: 'Open' });
    const secret = await world.subscribe({ channelId: treasury });
    const asked = await remove(A, 'w', noa);
    expect(textOf(asked)).toMatch(
      /No more alerts for\*\*\n\*\*Open\*\* in <#.*\n1 subscription in a channel that you can’t/,
    );
    removal = { status: 201, body: { message: 'Addresses deleted' } };
    const done = await world.press(asked, 'webhook:confirm', noa);
    for (const shown of [asked, done]) expect(textOf(shown)).not.toContain(treasury);
    expect(textOf(await world.press(done, 'webhook:forget', noa))).toContain('Removed 1 subscription here');
    expect((await world.store.subscriptions.list(guildId)).map(({ id }) => id)).toEqual([secret.id]);
  });

  it('keeps addresses that another server of this bot needs, without naming it', async () => {
    const there = { guildId: orchid.id, channelId: orchid.alerts };
    await world.subscribe(there);
    const asked = await remove(`${A} ${B}`);
    expect(textOf(asked)).toMatch(/To be removed\*\*\n`0x1ea1[\s\S]*Stays, because another server/);
    expect(textOf(asked)).not.toMatch(new RegExp(`${orchid.id}|Orchid`));
    await world.subscribe({ ...there, address: lower(B) });
    expect(textOf(await world.press(asked, 'webhook:confirm'))).toContain('Nothing was removed');
    expect(deletions()).toEqual([]);
    expect(textOf(await remove(A))).toContain('Nothing to remove');
  });

  it.each([
    [1, /Removed 1 address\.\nThe other 2 were not/],
    [0, 'these addresses were not in'],
  ])('shows how many addresses the webhook did not watch: it had %i of 3', async (deletedCount, sentence) => {
    removal = { status: 201, body: { acknowledged: true, deletedCount } };
    const done = await world.press(await remove(`${A} ${B} ${TOKEN}`), 'webhook:confirm');
    expect(textOf(done)).toMatch(sentence);
  });

  it.each<[string, Given, RegExp]>([
    ['403', { status: 403, body: {} }, /Not removed[\s\S]*unknown webhook/],
    ['408', { status: 408, body: {} }, /Not removed[\s\S]*did not respond in time[\s\S]*may have worked/],
    ['500', { status: 500, body: {} }, /Not removed[\s\S]*error 500[\s\S]*may have worked/],
  ])('explains what went wrong with a removal when the service responds with %s', async (_, given, sentence) => {
    const asked = await remove(A);
    removal = given;
    expect(textOf(await world.press(asked, 'webhook:confirm'))).toMatch(sentence);
  });

  it('refuses invalid IDs and addresses, and questions an ID that the service does not list', async () => {
    expect(textOf(await remove(A, 'a/b c'))).toMatch(/letters and digits, usually 24/);
    expect(textOf(await remove('hello, world'))).toMatch(/No address found in this.*40 hexadecimal/);
    expect(textOf(await remove(A, 'f'.repeat(24)))).toContain('no webhook with this ID');
    expect(textOf(await remove(A))).not.toContain('no webhook with this ID');
  });

  it('accepts as many addresses as fit into the option', async () => {
    const many = Array.from({ length: 139 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`);
    const asked = await remove(many.join(' '));
    expect(textOf(asked)).toContain('…and 119 more');
    removal = { status: 201, body: { acknowledged: true, deletedCount: 139 } };
    expect(textOf(await world.press(asked, 'webhook:confirm'))).toContain('Removed 139 addresses.');
    expect((deletions()[0]!.body as { addresses: string[] }).addresses).toHaveLength(139);
  });
});
