import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { createSender } from '../../src/discord/sender.ts';
import { standIn } from '../discord-stand-in/bot.ts';
import { listen } from '../listen.ts';

it('reports each request of a search for a message, so that the rate limit counts all of them', async () => {
  const discord = await standIn({ seed: 'default', limits: 'none' });
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl });
  for (let n = 0; n < 101; n++) await sender.create(seed.harbor.alerts, { content: `line ${n}` }, `nonce-${n}`);
  const before = discord.requests().at(-1)!.number;
  let counted = 0;
  const found = await sender.find(seed.harbor.alerts, 'nowhere', Date.now() - 60_000, () => counted++);
  expect(found).toEqual({ status: 'absent' });
  expect(counted).toBeGreaterThan(1);
  expect(discord.requests(before)).toHaveLength(counted);
});

it('sees from the last message whether a message may be in a history that it cannot read', async () => {
  const discord = await standIn({ seed: 'default', limits: 'none' });
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl });
  const { alerts } = seed.harbor;
  const found = async (since: number) => (await sender.find(alerts, 'nowhere', since, () => undefined)).status;
  discord.act({ do: 'channel.forbid', channelId: alerts, permissions: ['ReadMessageHistory'] });
  expect(await found(Date.now())).toBe('absent');
  await sender.create(alerts, { content: 'a message' }, 'nonce-1');
  expect(await found(Date.now())).toBe('unknown');
  expect(await found(Date.now() + 120_000)).toBe('absent');
});

it('leaves a message unconfirmed, and keeps its token, when the last message of a hidden history cannot be read', async () => {
  const answers = [
    [403, '{"code":50001,"message":"words"}'],
    [401, '{"code":0,"message":"words"}'],
    [200, '{"id":"10"}'],
  ] as [number, string][];
  const sender = await serving((response) => {
    const [status, body] = answers.shift()!;
    response.writeHead(status, JSON_TYPE).end(body);
  });
  expect(await sender.find('1', 'ABCDEFGHIJ', Date.UTC(2026, 0), () => undefined)).toEqual({ status: 'unauthorized' });
  expect(await sender.create('1', { content: 'again' }, 'nonce-1')).toEqual({ status: 'sent', messageId: '10' });
});

it('stops sending when another process sends', async () => {
  const discord = await standIn({ seed: 'default', limits: 'none' });
  let mine = true;
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl, lock: { isHeld: () => mine } });
  const sent = await sender.create(seed.harbor.alerts, { content: 'mine' }, 'nonce-1');
  mine = false;
  const messageId = sent.status === 'sent' ? sent.messageId! : '';
  expect(await sender.create(seed.harbor.alerts, { content: 'not mine' }, 'nonce-2')).toMatchObject({
    status: 'unconfirmed',
  });
  expect(await sender.edit(seed.harbor.alerts, messageId, { content: 'x' })).toMatchObject({ status: 'unconfirmed' });
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

it('does not report a message as absent that may be beyond the pages which a search reads', async () => {
  let pages = 0;
  const sender = await serving((response) => {
    const first = BigInt(Date.UTC(2026, 1)) << 22n;
    const ids = Array.from({ length: 100 }, (_, n) => ({ id: String(first + BigInt(100 * pages + n)) }));
    pages++;
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(ids));
  });
  expect(await sender.find('1', 'ABCDEFGHIJ', Date.UTC(2026, 0), () => undefined)).toEqual({ status: 'unknown' });
  expect(pages).toBe(11);
});

it.each([
  ['cannot be read', 'unknown', 403, '{"code":50001,"message":"words"}'],
  ['is not a list', 'unknown', 200, '{"id":"10"}'],
  ['looks empty, as one that may not be read', 'unknown', 200, '[]'],
  ['cannot be fetched now', 'unconfirmed', 503, '{}'],
])('searches for a message in a history that %s', async (_name, status, code, answer) => {
  const sender = await answering(code, JSON_TYPE, answer);
  expect(await sender.find('1', 'ABCDEFGHIJ', Date.UTC(2026, 0), () => undefined)).toMatchObject({ status });
});

/** A sender whose requests all get this response. `hangs`: the response never ends, and the sender waits for 0.3 s. */
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
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return createSender({ token: 'token', apiUrl: `http://127.0.0.1:${port}/api`, timeoutMs });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = { 'content-type': 'text/html' };
const HTML = '<html>Hello</html>';
const errorBody = (code: number) => JSON.stringify({ code, message: 'words' });
const limitBody = (limit: object) => JSON.stringify({ message: 'words', ...limit });
const later = (wait: string, headers: object = JSON_TYPE) => ({ ...headers, 'retry-after': wait });
const LIMITED = { status: 'rate-limited', global: false, local: false };

describe('responses', () => {
  it.each<[string, number, Record<string, string>, string, object]>([
    ['is an HTML page', 200, PAGE, HTML, { status: 'unconfirmed', reason: 'HTTP 200 without JSON' }],
    ['is JSON but no object', 200, JSON_TYPE, '5', { status: 'unconfirmed' }],
    ['is a server error', 500, JSON_TYPE, errorBody(0), { status: 'unconfirmed', reason: 'HTTP 500' }],
    ['refuses the token', 401, JSON_TYPE, errorBody(0), { status: 'unauthorized' }],
    ['is an HTML page labeled as JSON', 200, JSON_TYPE, HTML, { status: 'unconfirmed' }],
    ['is empty', 204, {}, '', { status: 'unconfirmed' }],
    ['is a redirect', 301, { ...PAGE, location: 'http://127.0.0.1:1/api' }, HTML, { status: 'breaker' }],
    ['errs, with Retry-After', 503, later('90', PAGE), HTML, { status: 'unconfirmed', retryAfterMs: 90_000 }],
    ['is a page with Retry-After', 429, later('90', PAGE), HTML, { status: 'breaker', retryAfterMs: 90_000 }],
    ['has a date as Retry-After', 429, later('Fri, 31 Dec 1999 23:59:59 GMT'), errorBody(0), { status: 'breaker' }],
    [
      'is a global limit, as only its body says',
      429,
      later('1.5'),
      limitBody({ retry_after: 1.5, global: true }),
      { ...LIMITED, global: true, retryAfterMs: 1_500 },
    ],
    [
      'is a limit with a code, and with a longer wait in its body',
      429,
      later('1'),
      limitBody({ code: 20_028, retry_after: 1_163, global: false }),
      { ...LIMITED, retryAfterMs: 1_163_020 },
    ],
    [
      'is a limit without a code, and with a longer wait in its body',
      429,
      later('3'),
      limitBody({ code: 0, retry_after: 2_500, global: false }),
      { ...LIMITED, retryAfterMs: 3_020 },
    ],
    ['is a limit with an empty body', 429, { 'retry-after': '2' }, '', { status: 'rate-limited', global: false }],
    ['is a limit with an empty body and no Retry-After', 429, {}, '', { status: 'breaker' }],
    ['is a limit of no time', 429, { 'retry-after': '0' }, '', { status: 'breaker' }],
    ['is a limit as plain text', 429, { 'retry-after': '2' }, 'error code: 1015', { status: 'breaker' }],
    ['is JSON without a content type', 403, {}, errorBody(50_013), { status: 'forbidden', code: 50_013 }],
    ['has an unknown code', 403, JSON_TYPE, errorBody(50_005), { status: 'breaker', reason: '403 (50005)' }],
    ['has no code', 403, JSON_TYPE, '{}', { status: 'breaker', reason: '403 (no code)' }],
    ['has no code', 400, JSON_TYPE, '{}', { status: 'breaker', reason: '400 (no code)' }],
    ['reports an unknown message', 404, JSON_TYPE, errorBody(10_008), { status: 'sent', messageId: null }],
    ['reports an unknown channel', 404, JSON_TYPE, errorBody(10_003), { status: 'gone', code: 10_003 }],
    ['reports an unknown server', 404, JSON_TYPE, errorBody(10_004), { status: 'gone', code: 10_004 }],
    ['reports an unknown route', 404, JSON_TYPE, errorBody(0), { status: 'breaker' }],
    ['refuses all requests for a while', 400, JSON_TYPE, errorBody(40_004), { status: 'breaker' }],
    ['refuses requests of this kind for a while', 400, JSON_TYPE, errorBody(40_006), { status: 'breaker' }],
    ['reports that the request is too large', 413, PAGE, HTML, { status: 'refused' }],
    ['refuses the message’s content', 403, JSON_TYPE, errorBody(240_000), { status: 'refused' }],
    ['refuses files in this server', 403, JSON_TYPE, errorBody(400_001), { status: 'refused' }],
    ['refuses this server', 403, JSON_TYPE, errorBody(50_095), { status: 'forbidden', code: 50_095 }],
    ['reports too many active threads', 400, JSON_TYPE, errorBody(160_007), { status: 'forbidden', code: 160_007 }],
    ['refuses a forum channel', 400, JSON_TYPE, errorBody(40_058), { status: 'forbidden', code: 40_058 }],
    ['reports an archived thread', 400, JSON_TYPE, errorBody(50_083), { status: 'forbidden', code: 50_083 }],
    ['refuses a channel without text', 400, JSON_TYPE, errorBody(50_008), { status: 'forbidden', code: 50_008 }],
  ])('reads the outcome of a response that %s (%i)', async (_name, status, headers, body, outcome) => {
    const sender = await answering(status, headers, body);
    expect(await sender.create('1', { content: 'line' }, 'nonce')).toMatchObject(outcome);
    expect(await sender.create('1', { content: 'line' }, 'nonce', 'a,csv')).toMatchObject(outcome);
  });

  it('pauses no other messages when an edit is refused for good', async () => {
    const archived = await answering(400, JSON_TYPE, errorBody(50_083));
    expect(await archived.edit('1', '2', { content: 'line' })).toMatchObject({ status: 'refused' });
    const without = await answering(404, JSON_TYPE, errorBody(0));
    expect(await without.edit('1', '2', { content: 'line' })).toMatchObject({ status: 'refused' });
    const another = await answering(403, JSON_TYPE, errorBody(50_005));
    expect(await another.edit('1', '2', { content: 'line' })).toEqual({ status: 'sent', messageId: null });
  });

  it('gives up on a response that never ends when its request times out', async () => {
    const sender = await answering(200, JSON_TYPE, '{"id":', true);
    expect(await sender.create('1', { content: 'line' }, 'nonce')).toEqual({
      status: 'unconfirmed',
      reason: 'no response in time',
    });
  });
});
