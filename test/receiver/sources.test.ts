import { describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { firstLine, head, OTHER_SCOPE, OTHER_TOKEN, openReceiver, startReceiver, TOKEN } from './harness.ts';

const ONE_SOURCE = { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' };

describe('a wrong source', () => {
  it('returns 403 to a wrong source before the body is read, and counts it', async () => {
    const receiver = await startReceiver({ environment: ONE_SOURCE });
    const socket = await receiver.open();
    // The body never comes: a response proves that nobody waits for it.
    socket.write(head(100));
    expect(await firstLine(socket)).toContain('403');
    expect(await receiver.refused()).toEqual(['source 127.0.0.1 unlisted']);
  });

  it.each([
    ['report', 'the source', ['source 127.0.0.1 unlisted']],
    ['off', 'nothing', []],
  ])(
    'stores a delivery from a wrong source with RECEIVER_SOURCE_CHECK=%s, and reports %s',
    async (check, _words, reported) => {
      const receiver = await startReceiver({ environment: { ...ONE_SOURCE, RECEIVER_SOURCE_CHECK: check } });
      expect(await receiver.post(`/hooks/${TOKEN}`, 'x')).toEqual({ status: 200, text: '{"ok":true}' });
      expect([await receiver.stored(), await receiver.refused()]).toEqual([[[0, 'x']], reported]);
    },
  );
});

it('remembers the latest refused source of each URL, and of all', async () => {
  const receiver = await startReceiver({ environment: ONE_SOURCE });
  await receiver.post(`/hooks/${OTHER_TOKEN}`, 'x');
  const { lastRefused } = receiver.services;
  const refused = { reason: 'unlisted', source: '127.0.0.1' };
  expect(lastRefused(OTHER_SCOPE)).toMatchObject(refused);
  expect(lastRefused('any')).toEqual(lastRefused(OTHER_SCOPE));
  expect(lastRefused(0)).toBeNull();
});

it('logs refused deliveries once a minute for each fault and URL, with their count and ten addresses', async () => {
  const secret = { NOTIFICATION_SIGNING_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  const listed = { TRUSTED_PROXIES: '127.0.0.1', RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' };
  const receiver = await startReceiver({ environment: { ...listed, ...secret } });
  const send = (token: string, source: string, signature = {}) =>
    receiver.post(`/hooks/${token}`, 'x', { headers: { 'x-forwarded-for': source, ...signature } });
  const strangers = Array.from({ length: 12 }, (_, n) => `192.0.2.${n}`);
  for (const ms of [0, 59_999, 1]) {
    receiver.advance(ms);
    for (const source of [...strangers, '203.0.113.7']) await send(TOKEN, source);
  }
  await send(OTHER_TOKEN, '192.0.2.1');
  const wrong = { 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,' };
  await send(TOKEN, '203.0.113.7', wrong);
  const lines = receiver.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  const warned = lines.filter(({ level, msg }) => level === 40 && String(msg).startsWith('delivery'));
  expect(warned.map(({ scope, count, sources, fault }) => [scope, count, sources ?? fault])).toEqual([
    [0, 1, ['192.0.2.0']],
    [0, 1, 'missing'],
    [0, 24, strangers.slice(1, 11)],
    [0, 2, 'missing'],
    [1, 1, ['192.0.2.1']],
    [0, 1, 'wrong'],
  ]);
});

const proxied = await forFile(
  openReceiver({
    environment: {
      RECEIVER_SOURCE_CHECK: 'enforce',
      RECEIVER_SOURCES: '203.0.113.0/29',
      TRUSTED_PROXIES: '127.0.0.1,198.51.100.0/24',
    },
  }),
);
it.each<[string, forwarded: string | string[] | undefined, refused?: string]>([
  ['the only address', '203.0.113.7'],
  ['an IPv4 address in the form of IPv6', '::ffff:203.0.113.7'],
  ['the last address', '192.0.2.9, 203.0.113.7'],
  ['the last of several headers', ['192.0.2.9', '203.0.113.7']],
  ['the last address before trusted proxies', '203.0.113.7, 198.51.100.1, 127.0.0.1'],
  ['a last address that is not listed', '203.0.113.7, 192.0.2.9', '192.0.2.9 unlisted'],
  ['a last header that is not listed', ['203.0.113.7', '192.0.2.9'], '192.0.2.9 unlisted'],
  ['an unlisted address between trusted proxies', '198.51.100.2, 192.0.2.9, 198.51.100.1', '192.0.2.9 unlisted'],
  ['no sender behind the trusted proxies', '198.51.100.1, 198.51.100.2', '198.51.100.1 no-sender'],
  ['no sender in an empty header', '', '127.0.0.1 no-sender'],
  ['no sender without the header', undefined, '127.0.0.1 no-sender'],
  ['what is no address', '203.0.113.7:41324', 'unreadable'],
  ['what is no address behind a listed one', '203.0.113.7, garbage', 'unreadable'],
])('finds the source behind a proxy: %s', async (_case, forwarded, refused) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const before = (await proxied.refused()).length;
  const { status } = await proxied.post(`/hooks/${TOKEN}`, 'x', { headers });
  const reasons = (await proxied.refused()).slice(before);
  expect([status, reasons]).toEqual(refused ? [403, [`source ${refused}`]] : [200, []]);
});

it('ignores X-Forwarded-For from anybody except a trusted proxy', async () => {
  const receiver = await startReceiver({ environment: ONE_SOURCE });
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  expect(await receiver.post(`/hooks/${TOKEN}`, 'x', { headers })).toMatchObject({ status: 403 });
});
