import { beforeEach, describe, expect, it } from 'vitest';
import { createSender } from '../../src/discord/sender.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createDiscovery } from '../../src/upstream/discovery.ts';
import { createExplorer } from '../../src/upstream/explorer.ts';
import { createNotification } from '../../src/upstream/notification.ts';
import { forFile } from '../for-file.ts';
import { startUpstream } from './server.ts';

/** A redirect could lead keys, tokens and messages to anybody. */

const ADDRESS = '0x1111111111111111111111111111111111111111';
let status = 302;
const elsewhere = await forFile(startUpstream(() => ({ body: { id: '1', status: '1', message: 'OK', result: [] } })));
const { url, requests: asked } = await forFile(
  startUpstream((request) => ({ status, body: '', headers: { location: elsewhere.url + request.url } })),
);
beforeEach(() => {
  asked.length = 0;
});

const explorer = () => createExplorer({ url, addressParam: 'a', apiKey: 'query-key', now: Date.now });
const notification = () => createNotification({ url, projectId: 'p', apiKey: 'public-key', apiSecret: 'very-secret' });
const sender = () => createSender({ token: 'bot-token', apiUrl: url });

const requests: [string, () => Promise<unknown>][] = [
  ['a token lookup', () => explorer().token(ADDRESS)],
  ['a list of webhooks', () => notification().webhooks()],
  ['a change of addresses', () => notification().addAddresses('w', [ADDRESS])],
  ['a search for providers', () => createDiscovery({ url, ...systemClock }).categories()],
  ['a message', () => sender().create('1', { content: 'x' }, 'nonce')],
  ['a message with a file', () => sender().create('1', { content: 'x' }, 'nonce', 'a,b')],
  ['a change of a message', () => sender().edit('1', '2', { content: 'x' })],
];

describe.each([301, 302, 303, 307, 308])('a redirect with status %i', (code) => {
  it.each(requests)('sends %s to no other address when the service redirects', async (_name, request) => {
    status = code;
    await request();
    expect(asked.length).toBeGreaterThan(0);
    expect(elsewhere.requests).toEqual([]);
  });
});
