import { expect, it } from 'vitest';
import { HARBOR, limitedSurroundings, OTHER } from './harness.ts';

const here = limitedSurroundings({ watches: false });
const { call } = here;

const WEBHOOK_URL = 'http://127.0.0.1:9/hook';
const create = async (project = HARBOR) => {
  const webhook = { projectId: project.id, webhookUrl: WEBHOOK_URL, eventType: 'ALL' };
  const { body } = await call('POST', '/webhook', webhook, project);
  return (body as { webhookId: string }).webhookId;
};
const addressesOf = async (webhookId: string) => {
  const { body } = await call('GET', `/webhook/addresses/${webhookId}`);
  return (body as { address: string }[]).map(({ address }) => address);
};
const FORBIDDEN = { status: 403, body: { statusCode: 403, errorMessage: 'Forbidden resource', error: 'Forbidden' } };

it('creates, lists, edits and deletes a webhook', async () => {
  const webhook = { projectId: 'harbor', webhookUrl: WEBHOOK_URL, eventType: 'NATIVE' };
  const created = await call('POST', '/webhook', webhook);
  expect(created.status).toBe(201);
  const { webhookId } = created.body as { webhookId: string };
  expect(webhookId).toMatch(/^[0-9a-f]{24}$/);
  expect((await call('GET', '/webhooks/harbor')).body).toEqual([webhook]);

  const edited = await call('PUT', '/webhook', { webhookId, webhookUrl: 'http://127.0.0.1:9/new' });
  expect(edited.status).toBe(200);
  expect(await call('GET', `/webhook/${webhookId}`)).toEqual({
    status: 200,
    body: expect.objectContaining({ webhookId, webhookUrl: 'http://127.0.0.1:9/new', eventType: 'NATIVE' }),
  });

  expect((await call('DELETE', `/webhook/${webhookId}`)).status).toBe(200);
  expect((await call('GET', '/webhooks/harbor')).body).toEqual([]);
});

it('adds, lists and removes addresses in any case, and removing again changes nothing', async () => {
  const webhookId = await create();
  const { Alice, Bob } = here.chain.wallets;
  const added = await call('POST', '/webhook/add-addresses', { webhookId, addresses: [Alice.toLowerCase(), Bob] });
  expect(added).toMatchObject({ status: 201, body: { message: expect.any(String) } });
  await call('POST', '/webhook/add-addresses', { webhookId, addresses: [Alice] });
  const listed = await call('GET', `/webhook/addresses/${webhookId}`);
  expect(listed.body).toEqual([
    { _id: expect.stringMatching(/^[0-9a-f]{24}$/), webhookId, address: Alice },
    { _id: expect.any(String), webhookId, address: Bob },
  ]);

  const removal = { webhookId, addresses: [`0x${Alice.slice(2).toUpperCase()}`] };
  const removed = await call('POST', '/webhook/delete-addresses', removal);
  expect(removed).toMatchObject({ status: 201, body: { message: expect.any(String), deletedCount: 1 } });
  const again = await call('POST', '/webhook/delete-addresses', removal);
  expect(again).toMatchObject({ status: 201, body: { deletedCount: 0 } });
  expect((await call('GET', `/webhook/addresses/${webhookId}`)).body).toHaveLength(1);
});

it('changes only the edited webhook, and lists only a project’s own', async () => {
  const [one, two] = [await create(), await create()];
  const { Alice, Bob } = here.chain.wallets;
  const scope = (webhookId: string, addresses: string[], change = 'add') =>
    call('POST', `/webhook/${change}-addresses`, { webhookId, addresses });
  for (const id of [one, two]) await scope(id, [Alice, Bob]);
  await scope(one, [Alice], 'delete');
  expect([await addressesOf(one), await addressesOf(two)]).toEqual([[Bob], [Alice, Bob]]);
  await call('PUT', '/webhook', { webhookId: one, eventType: 'ERC20' });
  expect((await call('GET', `/webhook/${two}`)).body).toMatchObject({ eventType: 'ALL' });
  await call('DELETE', `/webhook/${one}`);
  expect(await addressesOf(two)).toEqual([Alice, Bob]);

  const webhookId = await create(OTHER);
  const ids = async (project = HARBOR) => {
    const { body } = await call('GET', `/webhooks/${project.id}?full=1`, undefined, project);
    return (body as { _id: string }[]).map(({ _id }) => _id);
  };
  expect(await ids(OTHER)).toEqual([webhookId]);
  expect(await ids()).toEqual([two]);
});

it('refuses missing, wrong and mixed keys in the same way', async () => {
  expect((await fetch(`${here.services.notificationUrl}/webhooks/harbor`)).status).toBe(403);
  for (const keys of [
    { ...HARBOR, key: 'wrong' },
    { ...HARBOR, secret: 'wrong' },
    { ...HARBOR, secret: OTHER.secret },
  ]) {
    expect(await call('GET', '/webhooks/harbor', undefined, keys)).toEqual(FORBIDDEN);
  }
});

it('refuses another project and unknown webhooks in the same way', async () => {
  const webhookId = await create();
  const addresses = [here.chain.wallets.Alice];
  for (const answer of [
    await call('GET', '/webhooks/harbor', undefined, OTHER),
    await call('POST', '/webhook', { projectId: 'harbor', webhookUrl: WEBHOOK_URL, eventType: 'ALL' }, OTHER),
    await call('PUT', '/webhook', { webhookId, eventType: 'ERC20' }, OTHER),
    await call('GET', `/webhook/${webhookId}`, undefined, OTHER),
    await call('DELETE', `/webhook/${webhookId}`, undefined, OTHER),
    await call('GET', `/webhook/addresses/${webhookId}`, undefined, OTHER),
    await call('POST', '/webhook/add-addresses', { webhookId, addresses }, OTHER),
    await call('POST', '/webhook/delete-addresses', { webhookId, addresses }, OTHER),
    await call('POST', '/webhook/delete-addresses', { webhookId: 'unknown', addresses }),
  ]) {
    expect(answer).toEqual(FORBIDDEN);
  }
});

it.each([
  ['an invalid address', { addresses: ['0x12'] }, /addresses\.0 is not an address/],
  ['an empty list', { addresses: [] }, /at least one/],
  ['an address without a list', { addresses: '0x12' }, /array of addresses/],
  ['one address too many', { addresses: Array(10_001).fill(`0x${'1'.repeat(40)}`) }, /at most 10,000 addresses/],
  [
    '10,000 invalid addresses',
    { addresses: Array(10_000).fill('nobody') },
    /^addresses\.0 is .{100,1000}; and 9990 more$/,
  ],
  ['the zero address', { addresses: [`0x${'0'.repeat(40)}`] }, /cannot be watched/],
  ['the address that stands for coins', { addresses: [`0x${'e'.repeat(40)}`] }, /cannot be watched/],
])('returns 400 with the reason to %s', async (_what, change, message) => {
  const webhookId = await create();
  const { status, body } = await call('POST', '/webhook/add-addresses', { webhookId, ...change });
  expect(status).toBe(400);
  expect(body).toEqual({ statusCode: 400, error: 'Bad Request', errorMessage: expect.stringMatching(message) });
});

it.each([
  ['javascript:alert(1)', 'ALL', /http or https/],
  ['http://a b/', 'ALL', /^webhookUrl must be an http or https URL$/],
  ['http://harbor:%zz@127.0.0.1:9/', 'ALL', /user and password in URL encoding/],
  ['http://127.0.0.1:9/', 'EVERYTHING', /one of ALL, NATIVE, ERC20, ERC721/],
])('refuses a webhook with the URL %s and the event type %s', async (url, eventType, message) => {
  const answer = await call('POST', '/webhook', { projectId: 'harbor', webhookUrl: url, eventType });
  expect(answer).toMatchObject({ status: 400, body: { errorMessage: expect.stringMatching(message) } });
});

it('accepts a content type without a body, and responds to an unknown path in the documented format', async () => {
  const webhookId = await create();
  const headers = { 'API-SECRET': HARBOR.secret, 'content-type': 'application/json' };
  const remove = (path: string) =>
    fetch(`${here.services.notificationUrl}${path}?apiKey=${HARBOR.key}`, { method: 'DELETE', headers });
  expect((await remove(`/webhook/${webhookId}`)).status).toBe(200);
  const unknown = await remove('/nothing');
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ statusCode: 404, error: 'Not Found' });
});

it('responds to a malformed path without the key', async () => {
  for (const path of ['%zz', 'x'.repeat(2000)]) {
    const answer = await call('GET', `/webhooks/${path}`);
    expect(answer).toMatchObject({ status: 400, body: { statusCode: 400, error: 'Bad Request' } });
    expect(JSON.stringify(answer.body)).not.toContain(HARBOR.key);
  }
});

it.each(['text/plain', 'application/x-www-form-urlencoded'])(
  'explains the right content type to a body of type %s',
  async (type) => {
    const response = await fetch(`${here.services.notificationUrl}/webhook?apiKey=${HARBOR.key}`, {
      method: 'POST',
      headers: { 'API-SECRET': HARBOR.secret, 'content-type': type },
      body: JSON.stringify({ projectId: 'harbor', webhookUrl: WEBHOOK_URL, eventType: 'ALL' }),
    });
    const errorMessage = expect.stringContaining('content-type: application/json');
    expect([response.status, await response.json()]).toEqual([
      415,
      { statusCode: 415, error: 'Unsupported Media Type', errorMessage },
    ]);
  },
);

it('lists addresses in pages', async () => {
  const { Alice, Bob, Carol } = here.chain.wallets;
  const webhookId = await here.services.watch(WEBHOOK_URL, [Alice, Bob, Carol]);
  const page = async (query: string) =>
    (await call('GET', `/webhook/addresses/${webhookId}?${query}`)).body as { _id: string; address: string }[];
  const first = await page('limit=2');
  expect(first.map(({ address }) => address)).toEqual([Alice, Bob]);
  expect((await page(`limit=2&after=${first[1]!._id}`)).map(({ address }) => address)).toEqual([Carol]);
});

it('reads addresses that begin with 0X', async () => {
  const { Treasury } = here.chain.wallets;
  const webhookId = await here.services.watch(WEBHOOK_URL, [Treasury.replace('0x', '0X')]);
  expect(await addressesOf(webhookId)).toEqual([Treasury]);
});

it('sends a test event on request', async () => {
  const webhookId = await here.services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  expect((await call('POST', '/webhook/test', { webhookId })).status).toBe(202);
  const [received] = await here.receiver.until(1);
  expect(received!.headers['ledgerbell-place']).toBe('test');
  expect(JSON.parse(received!.body)).toMatchObject({ value: '0', projectId: 'harbor' });
});

it('names a method that a path does not support, and shows no text of the schema library', async () => {
  const id = await here.services.watch('http://127.0.0.1:1/', ['0x00000000000000000000000000000000000000aa']);
  for (const [method, path] of [
    ['PATCH', '/webhook'],
    ['PUT', '/webhook/add-addresses'],
    ['PATCH', `/webhook/${id}`],
  ] as const) {
    expect(await call(method, path, {})).toMatchObject({ status: 405, body: { error: 'Method Not Allowed' } });
  }
  for (const change of [{ parallel: 0 }, { parallel: 99 }, { webhookUrl: `http://a.example/${'a'.repeat(2100)}` }]) {
    const { status, body } = await call('PUT', '/webhook', { webhookId: id, ...change });
    expect([status, (body as { errorMessage: string }).errorMessage]).toEqual([400, expect.stringMatching(/ must /)]);
  }
});
