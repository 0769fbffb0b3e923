import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { until } from '../until.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { A, buttonsOf, isPrivate, RECEIVER_URL, secretsKey, seed, startWorld, textOf } from './world.ts';

const { orchid } = seed;
const HERE = { in: orchid.lobby };
const ORCHIDS = { guildId: orchid.id, channelId: orchid.alerts };
const KEYS = { projectId: '64b7f2a1c3d4e5f6a7b8c9d0', apiKey: 'orchids-key', apiSecret: 'orchids-secret' };
const OPERATORS = ['public-key', 'very-secret'];
let list: Given;
const upstream = await forFile(startUpstream(() => list));
const world = await forFile(
  startWorld({
    environment: { NOTIFICATION_URL: upstream.url, QUOTA_BURST: '2', QUOTA_RATE: '1' },
  }),
);
beforeEach(() => {
  // By then, the cached responses of the service have expired.
  world.clock.advance(60_000);
  list = { body: [] };
  upstream.requests.length = 0;
});
afterEach(async () => {
  await world.reset();
  await world.services.projects.remove(orchid.id);
  // Not in an answer, not in the log; the path token only where it is meant to be read.
  const said = JSON.stringify([world.logged, world.discord.history()]);
  for (const secret of [KEYS.apiKey, KEYS.apiSecret, ...OPERATORS]) expect(said).not.toContain(secret);
  expect(JSON.stringify(world.logged)).not.toContain('/hooks/');
});

const store = async (keys: Partial<typeof KEYS> & { signingSecrets?: string } = {}, who: object = HERE) =>
  world.fill(await world.use('setup project', {}, who), { ...KEYS, ...keys }, who);
const urlIn = (text: string) => /https:\/\/bell\.example\/hooks\/[\w-]{20,}/.exec(text)?.[0];
const tokens = async () => (await world.store.projects.tokens()).map(({ token }) => token);
const stored = () => world.store.projects.ofGuild(orchid.id);

describe('/setup project', () => {
  it('checks a project’s keys, stores them sealed, and shows the server’s own receiver URL in private', async () => {
    const opened = await world.use('setup project', {}, HERE);
    expect(opened.modal).toMatchObject({ title: 'Your notification project' });
    const saved = await world.fill(opened, KEYS, HERE);
    expect(saved).toSatisfy(isPrivate);
    expect(upstream.requests.slice(0, 1)).toMatchObject([
      { url: `/webhooks/${KEYS.projectId}?apiKey=${KEYS.apiKey}`, headers: { 'api-secret': KEYS.apiSecret } },
    ]);
    const url = urlIn(textOf(saved))!;
    expect(await tokens()).toEqual([url.split('/').at(-1)]);
    expect(Buffer.from((await stored())!.sealed).toString('latin1')).not.toContain(KEYS.apiSecret);
    list = { body: [{ _id: 'f'.repeat(24), webhookUrl: url, eventType: 'ALL' }] };
    expect(await world.read('webhook list', {}, HERE)).toMatch(/✅ `ALL` → this bot/);
    expect(upstream.requests.at(-1)!.url).toContain(KEYS.projectId);
    // The operator's server still sees the operator's project, and nothing of this one.
    expect(await world.read('webhook list')).not.toContain(url);
  });

  it('keeps a project’s keys out of the log even if Discord refuses the reply', async () => {
    const gone = { kind: 'error', status: 404, code: 10015, message: 'Unknown Webhook' } as const;
    const opened = await world.use('setup project', {}, HERE);
    world.discord.fault({ fault: gone, path: '/webhooks/**', times: 1 });
    const unanswered = () => world.logged.filter(({ msg }) => msg === 'cannot respond to interaction');
    const form = { kind: 'modal', interactionId: opened.id, values: KEYS, userId: seed.ada } as const;
    world.discord.begin({ ...form, channelId: orchid.lobby });
    await until('the log says “cannot respond to interaction”', () => unanswered().length > 0);
    expect(unanswered()).toMatchObject([{ err: { code: 10015 } }]);
    expect(await tokens()).toHaveLength(1);
  });

  it('opens a refused form again with its ID, but without its keys', async () => {
    const refused = await store({ projectId: 'not an ID' });
    const again = JSON.stringify((await world.openFrom(refused, 'again')).modal);
    expect(again).toContain('"value":"not an ID"');
    expect(again).not.toContain(KEYS.apiKey);
  });

  it('replaces a project’s keys without changing the receiver URL', async () => {
    const first = urlIn(textOf(await store()));
    const again = await world.use('setup project', {}, HERE);
    expect(JSON.stringify(again.modal)).toContain(KEYS.projectId);
    const replaced = textOf(await world.fill(again, { ...KEYS, projectId: 'another' }, HERE));
    expect(replaced).toContain('Project replaced');
    expect(urlIn(replaced)).toBe(first);
  });

  it('shows in /status and /setup check what a server’s own URL stored and refused, only to that server', async () => {
    const path = new URL(urlIn(textOf(await store()))!).pathname;
    const post = async () => {
      const answer = await request(world.pipeline.app.receiver + path, { method: 'POST', body: 'x'.repeat(1_000_000) });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect([await post(), await post(), await post(), await post()]).toEqual([200, 200, 503, 503]);
    for (const command of ['status', 'setup check']) {
      const text = await world.read(command, {}, HERE);
      expect(text).toMatch(/Receiver URL(: |\n)1\.9 of 256 MB stored today. Deliveries waiting: \d/);
      expect(text).toMatch(/rejected deliveries \(2 since the bot started, .*more than 1 per second/);
      expect(await world.read(command)).not.toMatch(/rejected deliveries|1\.9 of 256/);
    }
  });

  it('keeps signing secrets when the keys change, replaces them, and removes them with `off`', async () => {
    const [one, two] = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`) as [string, string];
    const { isSigned, ownSigningSecrets } = world.services.projects;
    const secrets = async () => (isSigned((await stored())!.scope) ? ownSigningSecrets(orchid.id) : null);
    const save = async (keys: Parameters<typeof store>[0]) => textOf(await store(keys));
    expect(await save({})).not.toContain('signed');
    expect(await secrets()).toBeNull();
    expect(await save({ signingSecrets: one })).toContain('Only signed deliveries are accepted');
    expect(await secrets()).toEqual([one]);
    await save({ apiKey: 'changed' });
    expect(await secrets()).toEqual([one]);
    await save({ signingSecrets: `${one}, ${two}` });
    expect(await secrets()).toEqual([one, two]);
    expect(await save({ signingSecrets: 'whsec_tooshort' })).toMatch(
      /A signing secret is `whsec_`.*Nothing was stored/,
    );
    expect(Buffer.from((await stored())!.sealed).toString('latin1')).not.toContain(one);
    await save({ projectId: 'another' });
    expect(await secrets()).toBeNull();
    await save({ signingSecrets: two });
    await save({ signingSecrets: 'off' });
    expect(await secrets()).toBeNull();
    expect(JSON.stringify(world.logged)).not.toContain('whsec_');
  });

  it.each<[string, Partial<typeof KEYS>, Given, RegExp]>([
    ['403', {}, { status: 403, body: { path: `/?apiKey=${KEYS.apiKey}` } }, /rejected this project.*\(403\)/],
    ['400', {}, { status: 400, body: {} }, /rejected this project ID/],
    ['429', {}, { status: 429, body: {} }, /rate-limiting requests/],
    ['500', {}, { status: 500, body: {} }, /error 500.*If this continues, the bot’s operator.*`NOTIFICATION_URL`/s],
    ['a page', {}, { body: '<html>', type: 'text/html' }, /unreadable response/],
    ['an id that is a path', { projectId: '../p' }, { body: [] }, /only letters, digits/],
    ['a key with blanks', { apiKey: 'a b' }, { body: [] }, /An API key contains letters/],
    ['a secret over two lines', { apiSecret: 'a\nb' }, { body: [] }, /An API secret contains letters/],
  ])('stores no project and explains what to do: %s', async (_, keys, given, sentence) => {
    list = given;
    const text = textOf(await store(keys));
    expect(text).toMatch(sentence);
    expect(text).toContain('Nothing was stored.');
    expect(await stored()).toBeNull();
    expect(await tokens()).toEqual([]);
  });

  it('reports that projects and webhooks are off, and who can turn them on, without the service', async () => {
    await world.restart({ environment: { NOTIFICATION_URL: '' } });
    const answer = await world.use('setup project', {}, HERE);
    expect(answer.modal).toBeNull();
    expect(textOf(answer)).toMatch(/`NOTIFICATION_URL`/);
    expect(await world.read('webhook list')).toMatch(/ is off.*`NOTIFICATION_URL`/);
    expect(await world.choices('webhook remove', 'webhook')).toEqual([]);
  });

  it('reports a project whose keys can no longer be opened, and stores it again', async () => {
    const url = urlIn(textOf(await store()))!;
    await world.restart({ environment: { SECRETS_KEY: secretsKey(8) } });
    expect(await world.read('webhook list', {}, HERE)).toMatch(/keys can no longer be decrypted.*Events still arrive/);
    expect(await world.read('setup check', {}, HERE)).toMatch(/❌.*keys can no longer be decrypted/);
    expect(await world.choices('webhook remove', 'webhook', {}, HERE)).toEqual([]);
    expect(urlIn(textOf(await store()))).toBe(url);
    expect(await world.read('webhook list', {}, HERE)).toContain('0 webhooks');
  });
});

describe('the receiver URL', () => {
  const panel = async () => world.press(await world.use('webhook list', {}, HERE), 'setup:receiver', HERE);
  const press = async (action: string) => world.press(await panel(), `setup:${action}`, HERE);

  it('changes the receiver URL without a gap: both are valid until the old one is revoked', async () => {
    const old = urlIn(textOf(await store()))!;
    const rotated = await press('rotate');
    const text = textOf(rotated);
    const fresh = urlIn(text)!;
    expect(fresh).not.toBe(old);
    expect(text).toContain(old);
    const urls = world.services.receiver.urls((await stored())!.scope);
    expect(urls).toEqual({ current: fresh, retiring: old, fixed: false });
    list = { body: [{ webhookUrl: old, eventType: 'ALL' }] };
    expect(await world.read('webhook list', {}, HERE)).toContain('→ this bot');
    expect(buttonsOf(rotated)).not.toContain('setup:rotate');
    // The other button is now in the first one's place: a double press must not end the old URL.
    const asked = await world.press(rotated, 'setup:revoke', HERE);
    expect(textOf(asked)).toContain(old);
    expect(await tokens()).toHaveLength(2);
    expect(textOf(await world.press(asked, 'setup:kept', HERE))).toContain(old);
    const revoked = await world.press(await press('revoke'), 'setup:revoked', HERE);
    expect(textOf(revoked)).not.toContain(old);
    expect(await tokens()).toEqual([fresh.split('/').at(-1)]);
  });

  it('revokes only the receiver URL in the question, not one that became the old one since', async () => {
    await store();
    await press('rotate');
    const asked = await press('revoke');
    await world.press(await press('revoke'), 'setup:revoked', HERE);
    const inUse = urlIn(textOf(await panel()))!;
    await press('rotate');
    const before = await tokens();
    const again = await world.press(asked, 'setup:revoked', HERE);
    expect(await tokens()).toEqual(before);
    expect(urlIn(textOf(again))).toBe(inUse);
    await world.press(again, 'setup:revoked', HERE);
    expect(await tokens()).toEqual(before.filter((token) => !inUse.endsWith(token)));
  });

  it('shows the operator’s receiver URL in private, and offers no change when the environment sets it', async () => {
    const shown = await world.press(await world.use('webhook list'), 'setup:receiver');
    expect(shown).toSatisfy(isPrivate);
    expect(textOf(shown)).toContain(RECEIVER_URL);
    expect(textOf(shown)).toContain('`RECEIVER_TOKEN`');
    expect(buttonsOf(shown)).toEqual(['webhook:create']);
  });

  it('changes the operator’s receiver URL when the database keeps it', async () => {
    const own = await startWorld({ environment: { NOTIFICATION_URL: upstream.url, RECEIVER_TOKEN: '' } });
    const shown = await own.press(await own.use('setup check'), 'setup:receiver');
    const old = urlIn(textOf(shown))!;
    const rotated = textOf(await own.press(shown, 'setup:rotate'));
    expect(rotated).toContain(old);
    expect(urlIn(rotated)).not.toBe(old);
    expect((await own.store.projects.tokens()).map(({ scope, retiring }) => [scope, retiring])).toEqual([
      [0, true],
      [0, false],
    ]);
    await own.close();
  });

  it('ignores old buttons of the receiver URL', async () => {
    const pressed = async (action: string, who: { in?: string } = HERE) =>
      textOf(await world.press(await world.post(`setup:${action}`, who.in), `setup:${action}`, who));
    for (const action of ['revoke', 'revoked']) expect(await pressed(action, {})).toMatch(/no old URL to revoke/);
    expect(await pressed('rotate', {})).toMatch(/set by `RECEIVER_TOKEN`/);
    await store();
    await press('rotate');
    const before = await tokens();
    expect(await pressed('rotate')).toMatch(/older URL is still valid/);
    expect(await tokens()).toEqual(before);
  });

  it('removes only the project in the question, with its receiver URL, and keeps the subscriptions', async () => {
    await store();
    await world.subscribe(ORCHIDS);
    const asked = await press('remove');
    expect(textOf(asked)).toContain(KEYS.projectId);
    expect(textOf(await world.press(await press('remove'), 'setup:kept', HERE))).toContain('/hooks/');
    await store({ projectId: 'another' });
    const replaced = await world.press(asked, 'setup:removed', HERE);
    expect(textOf(replaced)).toMatch(/Remove this server’s project\?\n`another`/);
    expect(await tokens()).toHaveLength(1);
    // The same project, stored again: its new URL is not the one in the question either.
    await world.services.projects.remove(orchid.id);
    await store({ projectId: 'another' });
    const again = await world.press(replaced, 'setup:removed', HERE);
    expect(await tokens()).toHaveLength(1);
    const removed = textOf(await world.press(again, 'setup:removed', HERE));
    expect(removed).toMatch(/Project removed[\s\S]*The bot’s own project serves them now/);
    expect(await tokens()).toEqual([]);
    expect(await world.store.subscriptions.list(orchid.id)).toHaveLength(1);
  });
});

it('ignores servers of other projects when it decides which addresses a webhook needs', async () => {
  await store();
  await world.subscribe(ORCHIDS);
  await world.subscribe();
  const options = { webhook: 'f'.repeat(24), addresses: A };
  expect(await world.read('webhook remove', options, HERE)).toContain('To be removed');
  const asked = await world.read('webhook remove', options);
  expect(asked).toContain('To be removed');
  expect(asked).not.toContain('another server');
  // The other server's webhook, seen by one who knows the same project.
  const webhookUrl = world.services.receiver.urls((await stored())!.scope).current;
  list = { body: [{ _id: options.webhook, webhookUrl, eventType: 'ALL' }] };
  const theirs = await world.read('webhook remove', options);
  expect(theirs).toContain('Stays, because another server');
  expect(theirs).not.toContain('No more alerts for');
});
