import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seed, startDiscord } from '../../sandbox/discord/index.ts';
import { createSender } from '../../src/discord/sender.ts';

it('reports each request of a search for a message, so that all of them are paced', async () => {
  const discord = await startDiscord({ seed: 'default', limits: 'none' });
  onTestFinished(() => discord.close());
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl });
  for (let n = 0; n < 101; n++) await sender.create(seed.harbor.alerts, { content: `line ${n}` }, `nonce-${n}`);
  const before = discord.requests().at(-1)!.number;
  let counted = 0;
  const found = await sender.find(seed.harbor.alerts, 'nowhere', Date.now() - 60_000, () => counted++);
  expect(found).toEqual({ status: 'absent' });
  expect(counted).toBeGreaterThan(1);
  expect(discord.requests(before)).toHaveLength(counted);
});

it('stops sending when another process sends', async () => {
  const discord = await startDiscord({ seed: 'default', limits: 'none' });
  onTestFinished(() => discord.close());
  let mine = true;
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl, maySend: () => mine });
  const sent = await sender.create(seed.harbor.alerts, { content: 'mine' }, 'nonce-1');
  mine = false;
  const messageId = sent.status === 'sent' ? sent.messageId! : '';
  expect(await sender.create(seed.harbor.alerts, { content: 'not mine' }, 'nonce-2')).toMatchObject({
    status: 'unsure',
  });
  expect(await sender.edit(seed.harbor.alerts, messageId, { content: 'x' })).toMatchObject({ status: 'unsure' });
  expect(discord.messages(seed.harbor.alerts).map(({ message }) => message.content)).toEqual(['mine']);
});

it('does not mistake a reply to the message for the message itself in a search', async () => {
  const message = { id: '10', embeds: [{ footer: { text: 'ref ABCDEFGHIJ-1' } }] };
  const reply = { id: '20', content: 'What is this?', referenced_message: message };
  const forwarded = { id: '30', message_snapshots: [{ message }] };
  const find = async (...list: object[]) =>
    (await answering(200, JSON_TYPE, JSON.stringify(list))).find('1', 'ABCDEFGHIJ', 0, () => undefined);
  expect(await find(forwarded, reply, message)).toEqual({ status: 'found', messageId: '10' });
  expect(await find(forwarded, reply)).toEqual({ status: 'absent' });
});

/** The status and the body of each answer, and what comes of the look. */
it.each<[string, string, ...string[]]>([
  ['cannot be read', 'unknown', '403 {"code":50001,"message":"words"}'],
  ['is no list', 'unknown', '200 {"id":"10"}'],
  ['is not given', 'unsure', '503 {}'],
  ['is shown as empty, and so is its channel', 'absent', '200 []', '200 {"last_message_id":null}'],
  ['is shown as empty, and was before that', 'absent', '200 []', '200 {"last_message_id":"5"}'],
  ['is shown as empty, but is not', 'unknown', '200 []', '200 {"last_message_id":"9999999999999999999"}'],
  ['is shown as empty, as far as anybody reports', 'unknown', '200 []', '200 {}'],
  ['is empty in a hidden channel', 'unknown', '200 []', '403 {"code":50001,"message":"words"}'],
  ['is empty in a channel that is not reported', 'unsure', '200 []', '503 {}'],
  ['is empty in a channel that is gone', 'gone', '200 []', '404 {"code":10003,"message":"words"}'],
])('searches for a message in a history that %s', async (_name, status, ...answers) => {
  const sender = await serving((response) => {
    const answer = answers.shift()!;
    response.writeHead(Number(answer.slice(0, 3)), JSON_TYPE).end(answer.slice(4));
  });
  expect(await sender.find('1', 'ABCDEFGHIJ', Date.UTC(2026, 0), () => undefined)).toMatchObject({ status });
  expect(answers).toEqual([]);
});

/** A server that gives this answer to everything; `hangs` once the head and some of the body are sent. */
function answering(status: number, headers: Record<string, string>, body: string, hangs = false) {
  const answer = (response: ServerResponse) => {
    response.writeHead(status, headers);
    if (hangs) response.write(body);
    else response.end(body);
  };
  return serving(answer, hangs ? 300 : undefined);
}

async function serving(answer: (response: ServerResponse) => void, timeoutMs = 120_000) {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return createSender({ token: 'token', apiUrl: `http://127.0.0.1:${port}/api`, timeoutMs });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = { 'content-type': 'text/html' };
const HTML = '<html>Hello</html>';
const word = (code: number) => JSON.stringify({ code, message: 'words' });

describe('responses', () => {
  it.each<[string, number, Record<string, string>, string, object]>([
    ['is a page instead of a message', 200, PAGE, HTML, { status: 'unsure' }],
    ['is a page that calls itself JSON', 200, JSON_TYPE, HTML, { status: 'unsure' }],
    ['is empty', 204, {}, '', { status: 'unsure' }],
    ['leads elsewhere', 301, { ...PAGE, location: 'http://127.0.0.1:1/api' }, HTML, { status: 'breaker' }],
    [
      'asks to wait, in trouble',
      503,
      { ...PAGE, 'retry-after': '90' },
      HTML,
      { status: 'unsure', retryAfterMs: 90_000 },
    ],
    [
      'asks to wait, as a page',
      429,
      { ...PAGE, 'retry-after': '90' },
      HTML,
      { status: 'breaker', retryAfterMs: 90_000 },
    ],
    [
      'asks to wait till a date',
      429,
      { ...JSON_TYPE, 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' },
      word(0),
      { status: 'breaker' },
    ],
    [
      'limits everything, in its words alone',
      429,
      { ...JSON_TYPE, 'retry-after': '1.5' },
      JSON.stringify({ message: 'words', retry_after: 1.5, global: true }),
      { status: 'rate-limited', global: true, local: false, retryAfterMs: 1_500 },
    ],
    [
      'asks to wait for longer than its head says',
      429,
      { ...JSON_TYPE, 'retry-after': '1' },
      JSON.stringify({ code: 20_028, message: 'words', retry_after: 1_163, global: false }),
      { status: 'rate-limited', global: false, local: false, retryAfterMs: 1_163_020 },
    ],
    [
      'asks to wait for no longer than its head says',
      429,
      { ...JSON_TYPE, 'retry-after': '3' },
      JSON.stringify({ code: 0, message: 'words', retry_after: 2_500, global: false }),
      { status: 'rate-limited', global: false, local: false, retryAfterMs: 3_020 },
    ],
    ['asks to wait without a word', 429, { 'retry-after': '2' }, '', { status: 'rate-limited', global: false }],
    ['is full without any word', 429, {}, '', { status: 'breaker' }],
    ['asks to wait in few words', 429, { 'retry-after': '2' }, 'error code: 1015', { status: 'breaker' }],
    ['does not call itself JSON', 403, {}, word(50_013), { status: 'forbidden', code: 50_013 }],
    ['speaks of somebody else’s message', 403, JSON_TYPE, word(50_005), { status: 'breaker' }],
    ['had this message before', 404, JSON_TYPE, word(10_008), { status: 'sent', messageId: null }],
    ['is of a channel that is gone', 404, JSON_TYPE, word(10_003), { status: 'gone', code: 10_003 }],
    ['is of a server that is gone', 404, JSON_TYPE, word(10_004), { status: 'gone', code: 10_004 }],
    ['knows no such page', 404, JSON_TYPE, word(0), { status: 'breaker' }],
    ['takes nothing for a while', 400, JSON_TYPE, word(40_004), { status: 'breaker' }],
    ['takes nothing of this kind for a while', 400, JSON_TYPE, word(40_006), { status: 'breaker' }],
    ['cannot take so much', 413, PAGE, HTML, { status: 'refused' }],
    ['does not want these words', 403, JSON_TYPE, word(240_000), { status: 'refused' }],
    ['takes no files in this server', 403, JSON_TYPE, word(400_001), { status: 'refused' }],
    ['does not reach this server from here', 403, JSON_TYPE, word(50_095), { status: 'forbidden', code: 50_095 }],
    ['has no room for one more open thread', 400, JSON_TYPE, word(160_007), { status: 'forbidden', code: 160_007 }],
    ['names a forum', 400, JSON_TYPE, word(40_058), { status: 'forbidden', code: 40_058 }],
    ['is of an archived thread', 400, JSON_TYPE, word(50_083), { status: 'forbidden', code: 50_083 }],
    ['is of a forum', 400, JSON_TYPE, word(50_008), { status: 'forbidden', code: 50_008 }],
  ])('reads the outcome of a response that %s (%i)', async (_name, status, headers, body, outcome) => {
    const sender = await answering(status, headers, body);
    expect(await sender.create('1', { content: 'line' }, 'nonce')).toMatchObject(outcome);
    expect(await sender.create('1', { content: 'line' }, 'nonce', 'a,csv')).toMatchObject(outcome);
  });

  it('delays nothing else when a change is refused for good', async () => {
    const archived = await answering(400, JSON_TYPE, word(50_083));
    expect(await archived.edit('1', '2', { content: 'line' })).toMatchObject({ status: 'refused' });
    const without = await answering(404, JSON_TYPE, word(0));
    expect(await without.edit('1', '2', { content: 'line' })).toMatchObject({ status: 'refused' });
    const another = await answering(403, JSON_TYPE, word(50_005));
    expect(await another.edit('1', '2', { content: 'line' })).toEqual({ status: 'sent', messageId: null });
  });

  it('aborts a response that never ends together with its request', async () => {
    const sender = await answering(200, JSON_TYPE, '{"id":', true);
    expect(await sender.create('1', { content: 'line' }, 'nonce')).toEqual({
      status: 'unsure',
      reason: 'no response in time',
    });
  });
});
