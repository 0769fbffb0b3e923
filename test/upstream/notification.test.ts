import { beforeEach, describe, expect, it } from 'vitest';
import { createNotification } from '../../src/upstream/notification.ts';
import { forFile } from '../for-file.ts';
import { type Given, HTML, startUpstream } from './server.ts';

const KEYS = { projectId: 'p/1', apiKey: 'public key', apiSecret: 'very-secret' };
const upstream = await forFile(startUpstream(() => null));
beforeEach(() => {
  upstream.requests.length = 0;
});
const client = (timeoutMs = 60_000) => createNotification({ url: `${upstream.url}/v0`, ...KEYS, timeoutMs });

const FORBIDDEN: Given = {
  status: 403,
  body: {
    statusCode: 403,
    errorMessage: { statusCode: 403, message: 'Forbidden resource', error: 'Forbidden' },
    path: '/v0/webhooks/p?apiKey=public%20key',
  },
};

describe('webhooks', () => {
  it('sends both keys where the service expects them, and asks Ledgerbell’s own one for more than is specified', async () => {
    upstream.set(() => ({ body: [] }));
    expect(await client().webhooks()).toEqual({ status: 'ok', webhooks: [] });
    const headers = { 'api-secret': KEYS.apiSecret, prefer: 'return=representation' };
    const url = '/v0/webhooks/p%2F1?apiKey=public+key';
    expect(upstream.requests).toMatchObject([{ method: 'GET', url, headers }]);
  });

  it('reads the documented list of webhooks, the live one with IDs, and odd rows', async () => {
    upstream.set(() => ({
      body: [
        { projectId: 'p', webhookUrl: 'https://a.example/x', eventType: 'ALL' },
        { _id: '64b7f2a1c3d4e5f6a7b8c9d0', projectId: 'p', webhookUrl: 'https://b.example', eventType: 'NEW' },
        { webhookId: 'w1', webhookUrl: null, eventType: 7 },
        { id: 'w2', url: 'https://c.example' },
        'nonsense',
      ],
    }));
    expect(await client().webhooks()).toEqual({
      status: 'ok',
      webhooks: [
        { id: null, url: 'https://a.example/x', eventType: 'ALL' },
        { id: '64b7f2a1c3d4e5f6a7b8c9d0', url: 'https://b.example', eventType: 'NEW' },
        { id: 'w1', url: null, eventType: '7' },
        { id: 'w2', url: 'https://c.example', eventType: null },
      ],
    });
  });

  it('reads no more webhooks than a project has, however many the response contains', async () => {
    upstream.set(() => ({ body: Array.from({ length: 2_000 }, (_, n) => ({ _id: `w${n}` })) }));
    const answer = await client().webhooks();
    expect(answer).toHaveProperty('webhooks.length', 1_000);
  });

  const failures: [string, Given, object][] = [
    ['403', FORBIDDEN, { status: 'forbidden' }],
    ['400', { status: 400, body: {} }, { status: 'rejected' }],
    ['422', { status: 422, body: {} }, { status: 'rejected' }],
    ['408', { status: 408, body: {} }, { status: 'timeout' }],
    ['429', { status: 429, body: {} }, { status: 'limited' }],
    ['500', { status: 500, body: {} }, { status: 'broken', code: 500 }],
    ['a proxy’s page', HTML, { status: 'broken', code: 502 }],
    ['a page with 200', { body: '<html>', type: 'text/html' }, { status: 'unreadable' }],
    ['an object with 200', { body: { statusCode: 200 } }, { status: 'unreadable' }],
  ];
  it.each(failures)('returns a failure without any part of the request for %s', async (_name, given, expected) => {
    upstream.set(() => given);
    expect(await client().webhooks()).toEqual(expected);
  });

  it('gives up after its time limit, or that of one request, when the service does not respond', async () => {
    upstream.set(() => null);
    expect(await client(50).webhooks()).toEqual({ status: 'timeout' });
    expect(await client(60_000).webhooks(50)).toEqual({ status: 'timeout' });
  });
});

describe('removing addresses', () => {
  it('posts the documented body to remove addresses', async () => {
    upstream.set(() => ({ status: 201, body: { message: 'Addresses deleted' } }));
    const removed = { status: 'ok', message: 'Addresses deleted', deletedCount: null };
    expect(await client().removeAddresses('w1', ['0xA', '0xB'])).toEqual(removed);
    expect(upstream.requests.at(-1)).toMatchObject({
      method: 'POST',
      url: '/v0/webhook/delete-addresses?apiKey=public+key',
      body: { webhookId: 'w1', addresses: ['0xA', '0xB'] },
    });
  });

  it('reads the live response to a removal, also when nothing matched', async () => {
    upstream.set(() => ({ status: 201, body: { acknowledged: true, deletedCount: 0 } }));
    expect(await client().removeAddresses('w1', ['0xA'])).toMatchObject({ status: 'ok', deletedCount: 0 });
  });

  it('counts neither "not acknowledged" nor a page as a successful removal', async () => {
    upstream.set(() => ({ status: 201, body: { acknowledged: false, deletedCount: 0 } }));
    expect(await client().removeAddresses('w1', ['0xA'])).toEqual({ status: 'unreadable' });
    upstream.set(() => ({ status: 200, body: '<html>', type: 'text/html' }));
    expect(await client().removeAddresses('w1', ['0xA'])).toEqual({ status: 'unreadable' });
  });
});

describe('a webhook’s addresses', () => {
  const [A, B] = ['0xcc95E80DA76bd41507b99d9b977Dc3062bcf6430', '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE'];
  const lower = [A, B].map((address) => address.toLowerCase());
  const row = (address: string) => ({ _id: 'x', webhookId: 'w', address });

  it.each([
    ['rows', [row(A), row(lower[1]!), { address: null }, 'nonsense']],
    ['plain texts', [A, B]],
    ['a frame', { result: [row(A), row(B)] }],
  ])('reads a webhook’s addresses from %s', async (_name, body) => {
    upstream.set(() => ({ body }));
    expect(await client().addresses('w/1', 60_000)).toEqual({ status: 'ok', addresses: lower });
    expect(upstream.requests.at(-1)!.url).toBe('/v0/webhook/addresses/w%2F1?apiKey=public+key');
  });
});
