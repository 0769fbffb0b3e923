import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../src/domain/project.ts';
import { forFile } from '../for-file.ts';
import { OTHER_TOKEN, openReceiver, startReceiver, TOKEN } from './harness.ts';

const NOW = Date.UTC(2026, 0, 1);
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [OLD, NEW, FOREIGN] = [newSecret(), newSecret(), newSecret()];
const BODY = '{"txHash":"0x1", "spaces":  1}';
const URL = `/hooks/${TOKEN}`;

function signed(body: string | Buffer, { secrets = [NEW], id = 'msg_1', at = NOW, more = {} } = {}) {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = secrets.map((secret) => `v1,${signatureOf(secret, { id, timestamp, body }).toString('base64')}`);
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' '), ...more },
  };
}

const start = (secrets = [NEW]) => startReceiver({ environment: { NOTIFICATION_SIGNING_SECRET: secrets.join(',') } });

const shared = await forFile(openReceiver({ environment: { NOTIFICATION_SIGNING_SECRET: NEW } }));

describe('a URL with a signing secret', () => {
  it.each(['webhook', 'svix'])(
    'accepts a delivery that is signed over its exact bytes, and stores its identity from the headers (%s-id)',
    async (prefix) => {
      const receiver = await start();
      const more = { 'ledgerbell-chain-id': '100', 'ledgerbell-place': 'log:5' };
      const entries = Object.entries(signed(BODY, { more }).headers).map(([name, value]) => [
        name.replace('webhook', prefix),
        value,
      ]);
      const response = await receiver.post(URL, BODY, { headers: Object.fromEntries(entries) });
      expect(response).toEqual({ status: 200, text: '{"ok":true}' });
      expect(await receiver.store.inbox.next(9)).toMatchObject([
        { body: BODY, identity: { id: 'msg_1', chainId: '100', place: 'log:5' } },
      ]);
    },
  );

  const bytes = Buffer.from([0xff, 0x00, 0xfe]);
  it.each([
    ['over bytes that are not text', bytes, signed(bytes)],
    ['five minutes ago', BODY, signed(BODY, { at: NOW - 300_000 })],
    ['after another one', BODY, signed(BODY, { secrets: [FOREIGN, NEW] })],
  ])('accepts a right signature %s', async (_which, body, given) => {
    expect(await shared.post(URL, body, given)).toMatchObject({ status: 200 });
  });

  const headers = signed(BODY).headers;
  const { 'webhook-id': _id, ...withoutId } = headers;
  const { 'webhook-timestamp': _timestamp, ...withoutTime } = headers;
  it.each([
    ['no signature', {}, 'missing'],
    ['no id', withoutId, 'missing'],
    ['no time', withoutTime, 'missing'],
    ['a time that is no number', { ...headers, 'webhook-timestamp': 'soon' }, 'missing'],
    ['another secret’s signature', signed(BODY, { secrets: [FOREIGN] }).headers, 'wrong'],
    ['the signature of another body', signed('{}').headers, 'wrong'],
    ['the signature of another id', { ...headers, 'webhook-id': 'msg_2' }, 'wrong'],
    ['a signature of another version', { ...headers, 'webhook-signature': 'v2,AAAA' }, 'wrong'],
    ['a signature that is not base64', { ...headers, 'webhook-signature': 'v1,%%%' }, 'wrong'],
    ['a signature of more than 5 minutes ago', signed(BODY, { at: NOW - 301_000 }).headers, 'stale'],
    ['a signature of more than 5 minutes ahead', signed(BODY, { at: NOW + 301_000 }).headers, 'stale'],
  ])('returns 401 to %s, counts it and stores nothing', async (_name, given, fault) => {
    const { length: refused } = await shared.refused();
    const stored = await shared.stored();
    expect(await shared.post(URL, BODY, { headers: given })).toEqual({ status: 401, text: '{"ok":false}' });
    expect((await shared.refused()).slice(refused)).toEqual(['signature']);
    expect(shared.services.lastBadSignature(0)).toEqual({ fault, at: NOW, count: refused + 1 });
    expect(await shared.stored()).toEqual(stored);
  });

  it('accepts either of two secrets, and a delivery that is signed with both, during a rotation', async () => {
    const receiver = await start([NEW, OLD]);
    for (const secrets of [[OLD], [NEW], [FOREIGN, NEW]]) {
      expect(await receiver.post(URL, BODY, signed(BODY, { secrets }))).toMatchObject({ status: 200 });
    }
  });

  it('refuses every delivery while none of its secrets can be read', async () => {
    const lost = { token: OTHER_TOKEN, signingSecrets: [NEW], isLost: true };
    const receiver = await startReceiver({ projects: [lost] });
    expect(await receiver.post(`/hooks/${OTHER_TOKEN}`, BODY, signed(BODY))).toMatchObject({ status: 401 });
  });
});

it('accepts unsigned deliveries at a URL without a secret, and ignores identity headers', async () => {
  const receiver = await startReceiver({ projects: [{ token: OTHER_TOKEN, signingSecrets: [NEW] }] });
  expect(await receiver.post(URL, BODY)).toMatchObject({ status: 200 });
  expect(await receiver.post(URL, BODY, signed(BODY, { secrets: [FOREIGN] }))).toMatchObject({ status: 200 });
  expect(await receiver.store.inbox.next(9)).toMatchObject([{ identity: null }, { identity: null }]);
});
