import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startChain } from '../../sandbox/chain/index.ts';
import { createWebhook } from '../../sandbox/webhook.ts';
import { startServices } from '../../services/start.ts';
import { checksumAddress } from '../../src/domain/address.ts';
import { forFile } from '../for-file.ts';
import { linksOf, lower, RECEIVER_URL, startWorld, textOf } from './world.ts';

/** The commands against the services that come with the bot, over a local chain. */
const PROJECT = { id: 'harbor', key: 'public-key', secret: 'very-secret' };
const dir = await mkdtemp(join(tmpdir(), 'ledgerbell-services-'));
afterAll(() => rm(dir, { recursive: true }));
const chain = await forFile(startChain());
const services = await forFile(
  startServices({
    rpcUrl: chain.rpcUrl,
    dir,
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    cataloged: [chain.tokens.dollar.address],
  }),
);
const webhook = await createWebhook(services.notificationUrl, PROJECT, RECEIVER_URL);
const world = await forFile(
  startWorld({
    environment: {
      NOTIFICATION_URL: services.notificationUrl,
      NOTIFICATION_PROJECT_ID: PROJECT.id,
      NOTIFICATION_API_KEY: PROJECT.key,
      NOTIFICATION_API_SECRET: PROJECT.secret,
      EXPLORER_API_URL: services.explorerApiUrl,
      DISCOVERY_URL: services.discoveryUrl,
    },
  }),
);

it('shows a token of the chain for /token', async () => {
  const { address } = chain.tokens.dollar;
  const text = await world.read('token', { address });
  expect(text).toContain(address);
  expect(text).toMatch(/Type\n`ERC-20`\nDecimals\n6\nCataloged\nyes\nTotal supply\n[\d,.]+ HUSD\nraw `/);
  const wallet = await world.use('token', { address: chain.wallets.Treasury });
  expect(textOf(wallet)).toContain('has no token');
});

it('finds, filters and pages providers for /provider', async () => {
  const categories = await world.read('provider categories');
  expect(categories).toContain('12 categories');
  const all = await world.read('provider search', { category: 'apis' });
  const [, name] = /### 1\. `([^`]+)`/.exec(all)!;
  const one = await world.use('provider search', { category: 'apis', provider: name! });
  expect(textOf(one)).toContain('1 provider · page 1 of 1');
  for (const { url } of linksOf(one).slice(1)) expect(url).toMatch(/^https:/);
  const directory = linksOf(one)[0]!.url;
  expect((await fetch(directory)).status).toBe(200);
});

it('lists webhooks and removes addresses for /webhook', async () => {
  const { Treasury, Payroll, Alice } = chain.wallets;
  await webhook.add([Treasury, Payroll]);
  expect(await world.read('webhook list')).toMatch(new RegExp(`✅ .*this bot\\n.*${webhook.id}`));
  const asked = await world.use('webhook remove', { webhook: webhook.id, addresses: `${Treasury} ${Alice}` });
  expect(textOf(asked)).not.toContain('no webhook with this ID');
  const done = await world.press(asked, 'webhook:confirm');
  expect(textOf(done)).toMatch(/Removed/);
  const left = (await webhook.addresses()).map((one) => checksumAddress(lower(one)));
  expect(left).toEqual([Payroll]);
});
