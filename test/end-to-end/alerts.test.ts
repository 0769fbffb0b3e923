import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chain, type Mined, startChain, type TransferRequest } from '../../sandbox/chain/index.ts';
import { seed } from '../../sandbox/discord/index.ts';
import { MINUTE, systemClock } from '../../src/domain/clock.ts';
import { PATH_TOKEN } from '../app.ts';
import { linksOf, textOf } from '../commands/people.ts';
import { MESSAGES } from '../pipeline/harness.ts';
import { PROJECT, startWholeWorld, type WholeWorld } from './world.ts';

/** By then the service has retried twice: a busy machine may take longer to start the bot than until the first retry. */
const RETRY_MS = 2 * MINUTE;

let world: WholeWorld;
let chain: Chain;
let webhook: Awaited<ReturnType<WholeWorld['addWebhook']>>;
let ahead = 0;
beforeAll(async () => {
  chain = await startChain();
  const { tokens, wallets } = chain;
  const options = {
    clock: { ...systemClock, now: () => Date.now() + ahead },
    rpcUrl: chain.rpcUrl,
    cataloged: [tokens.dollar.address, tokens.bell.address],
  };
  world = await startWholeWorld([chain], options, (services) => ({
    RECEIVER_TOKEN: PATH_TOKEN,
    RECEIVER_SOURCES: '127.0.0.1',
    NOTIFICATION_URL: services.notificationUrl,
    NOTIFICATION_PROJECT_ID: PROJECT.id,
    NOTIFICATION_API_KEY: PROJECT.key,
    NOTIFICATION_API_SECRET: PROJECT.secret,
    NOTIFICATION_SIGNING_SECRET: PROJECT.signingSecrets[0],
    EXPLORER_API_URL: services.explorerApiUrl,
    EXPLORER_URL: services.explorerUrl,
    DISCOVERY_URL: services.discoveryUrl,
  }));
  webhook = await world.addWebhook(world.services.notificationUrl, PATH_TOKEN, [wallets.Treasury, wallets.Payroll]);
  for (const label of ['Treasury', 'Payroll'] as const) {
    const address = wallets[label];
    expect(await world.read('subscription add', { address, label })).toContain(address);
  }
});
afterAll(() => world.close());

/** Advances the notification service's clock beyond its retries and lets it deliver what is due then. */
function passRetries(): void {
  ahead += RETRY_MS;
  world.services.notification!.setFaults({});
}

const alertsOf = ({ hash }: Mined) => world.alerts().filter(({ text }) => text.includes(hash));

async function reported(mined: Mined) {
  await world.discord.until('the transaction is posted', () => alertsOf(mined).length > 0);
  return alertsOf(mined);
}

describe('mined transfers', () => {
  const [to, from] = ['Treasury', 'Treasury'] as const;
  const cases: [TransferRequest, RegExp][] = [
    [{ kind: 'native', from: 'Alice', to, amount: 15n * 10n ** 17n }, /^📥 Treasury \+1\.5 /],
    [{ kind: 'native', from, to: 'Bob', amount: 1n }, /^📤 Treasury −0\.000000000000000001 /],
    [{ kind: 'internal', from: 'Alice', to, amount: 10n ** 18n }, /^📥 Treasury \+1 /],
    [{ kind: 'erc20', from: 'Bob', to, amount: 1_234_567_890n }, /^📥 Treasury \+1,234\.56789 /],
    [{ kind: 'erc721', from, to: 'Carol' }, /^📤 Treasury − `.+` #\d+$/],
    [{ kind: 'erc1155', from: 'Whale', to, amount: 3n }, /^-# 📥 Treasury \+3 × `.+` #\d+ · uncataloged token/],
    [{ kind: 'erc20', from, to: 'Payroll', amount: 5_000_000n }, /^🔁 Treasury → Payroll 5 /],
  ];
  it.each(cases)('posts a mined transfer as one message: $kind from $from to $to', async (transfer, title) => {
    const mined = await chain.transfer(transfer);
    const [alert] = await reported(mined);
    expect(alert!.title).toMatch(title);
  });

  it('shows two identical transfers of one transaction as ×2', async () => {
    const mined = await chain.identicalTransfers({ from: 'Alice', to: 'Treasury' });
    await world.discord.until('the alert counts 2 transfers', () =>
      alertsOf(mined).some(({ title }) => title.includes('×2')),
    );
    expect(alertsOf(mined)).toHaveLength(1);
  });

  it('shows a swap, and a sweep of many NFTs, as one alert each', async () => {
    const swap = await chain.swap('Treasury');
    const sweep = await chain.sweep({ from: 'Market', to: 'Treasury', count: 20 });
    const titles = (mined: Mined) => alertsOf(mined).map(({ title }) => title);
    await expect
      .poll(() => [titles(swap), titles(sweep)], { message: 'alerts of the swap and the sweep', timeout: 120_000 })
      .toEqual([
        [expect.stringMatching(/^🔄 Treasury −150 \S+ → \+120 \S+$/)],
        [expect.stringMatching(/^-# 📥 .*\b20 × `?\S/)],
      ]);
  });

  it('groups the alerts of a burst into messages', async () => {
    const shown = world.discord.messages(seed.harbor.alerts).length;
    // The first message has to wait, so that the next alerts gather however slow the machine is.
    world.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    const mined = await chain.burst(20, { from: 'Alice', to: 'Treasury' });
    // Meanwhile commands are acknowledged within Discord's three seconds: the stand-in takes no later response.
    while (!mined.every((one) => alertsOf(one).length > 0)) {
      const asked = await world.use('status', {}, { in: seed.harbor.general });
      expect(asked.status).toBe('acknowledged');
    }
    expect(mined.map((one) => alertsOf(one).length)).toEqual(mined.map(() => 1));
    expect(world.discord.messages(seed.harbor.alerts).length - shown).toBeLessThan(20);
  });
});

describe('commands', () => {
  it('shows a token of the chain for /token', async () => {
    const { address } = chain.tokens.dollar;
    const text = await world.read('token', { address });
    expect(text).toContain(address);
    expect(text).toMatch(/Type\n`ERC-20`\nDecimals\n6\nCataloged\nyes\nTotal supply\n[\d,.]+ HUSD\nraw `/);
    expect(await world.read('token', { address: chain.wallets.Treasury })).toContain('has no token');
  });

  it('finds, filters and pages providers for /provider', async () => {
    expect(await world.read('provider categories')).toContain('12 categories');
    const all = await world.read('provider search', { category: 'apis' });
    const [, name] = /### 1\. `([^`]+)`/.exec(all)!;
    const one = await world.use('provider search', { category: 'apis', provider: name! });
    expect(textOf(one)).toContain('1 provider · page 1 of 1');
    expect((await fetch(linksOf(one)[0]!.url)).status).toBe(200);
  });

  it('lists webhooks and removes addresses for /webhook', async () => {
    const { Carol, Whale } = chain.wallets;
    await webhook.add([Carol, Whale]);
    expect(await world.read('webhook list')).toMatch(new RegExp(`✅ .*this bot\\n.*${webhook.id}`));
    const asked = await world.use('webhook remove', { webhook: webhook.id, addresses: `${Carol} ${Whale}` });
    expect(textOf(asked)).not.toContain('no webhook with this ID');
    expect(textOf(await world.press(asked, 'webhook:confirm'))).toMatch(/Removed/);
    expect(await webhook.addresses()).toHaveLength(2);
  });
});

describe('the bot as a process', () => {
  it('loses and doubles nothing when the bot is killed in a burst', async () => {
    const mined = await chain.burst(12, { from: 'Bob', to: 'Treasury' });
    await world.discord.until('one of the transactions is posted', () => mined.some((one) => alertsOf(one).length > 0));
    await world.bot.stop('SIGKILL');
    await world.bot.start();
    passRetries();
    await world.discord.until('every transaction is posted', () => mined.every((one) => alertsOf(one).length > 0));
    const last = await chain.transfer({ kind: 'native', from: 'Carol', to: 'Treasury' });
    await reported(last);
    expect(mined.map((one) => alertsOf(one).length)).toEqual(mined.map(() => 1));
  });

  it('exits with 0 at SIGTERM, and posts after a restart what happened meanwhile', async () => {
    expect(await world.bot.stop('SIGTERM')).toBe(0);
    const mined = await chain.transfer({ kind: 'native', from: 'Carol', to: 'Treasury' });
    await world.bot.start();
    // The service's first try failed.
    passRetries();
    expect(await reported(mined)).toHaveLength(1);
  });

  it('shows the operator the bot’s state, and logs no secret', async () => {
    const ready = await request(`${world.bot.opsUrl()}/readyz`);
    expect(await ready.body.json()).toMatchObject({ parts: { database: { ready: true }, sending: { ready: true } } });
    const metrics = await (await request(`${world.bot.opsUrl()}/metrics`)).body.text();
    expect(metrics).toMatch(/^ledgerbell_received_total [1-9]/m);
    for (const secret of [PATH_TOKEN, 'very-secret-key', 'public-key', world.discord.token]) {
      expect(world.bot.log()).not.toContain(secret);
    }
  });
});
