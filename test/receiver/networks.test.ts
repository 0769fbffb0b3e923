import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { operatorScope } from '../../src/domain/inbox.ts';
import { signatureOf } from '../../src/domain/project.ts';
import { networksEnvironment } from '../networks-file.ts';
import { startReceiver } from './harness.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const [FUSE, BASE] = ['token-of-the-fuse-network', 'token-of-the-base-network'];
const BODY = '{"txHash":"0x1"}';

const networks = networksEnvironment([
  { name: 'fuse', chainId: 122, receiverToken: FUSE, sources: ['127.0.0.1'] },
  {
    name: 'base',
    chainId: 8453,
    receiverToken: BASE,
    sources: ['203.0.113.7'],
    notification: { signingSecret: SECRET },
  },
]);

it('lets the URL decide the network, its sources and its signature', async () => {
  const receiver = await startReceiver({ environment: { ...networks, RECEIVER_SOURCE_CHECK: 'enforce' } });
  const timestamp = String(Date.UTC(2026, 0, 1) / 1000);
  const signature = signatureOf(SECRET, { id: 'one', timestamp, body: BODY }).toString('base64');
  const signed = { 'webhook-id': 'one', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  expect(await receiver.post(`/hooks/${FUSE}`, BODY)).toMatchObject({ status: 200 });
  expect(await receiver.post(`/hooks/${BASE}`, BODY, { headers: signed })).toMatchObject({ status: 403 });
  expect(await receiver.refused()).toEqual(['source 127.0.0.1 unlisted']);

  const everywhere = await startReceiver({ environment: networks });
  expect(await everywhere.post(`/hooks/${BASE}`, BODY)).toMatchObject({ status: 401 });
  expect(await everywhere.post(`/hooks/${BASE}`, BODY, { headers: signed })).toMatchObject({ status: 200 });
  expect(await everywhere.post(`/hooks/${FUSE}`, BODY)).toMatchObject({ status: 200 });
  expect(await everywhere.stored()).toEqual(
    expect.arrayContaining([
      [0, BODY],
      [operatorScope(8453), BODY],
    ]),
  );
  const text = await everywhere.metrics();
  expect(text).toContain('ledgerbell_interface_unavailable_seconds{interface="explorer",network="base"} 0');
  expect(text).toContain('ledgerbell_interface_errors_total{interface="explorer",reason="timeout",network="fuse"} 0');
});
