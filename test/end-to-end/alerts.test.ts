import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mined, TransferRequest } from '../../sandbox/chain/index.ts';
import { seed } from '../../sandbox/discord/index.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { PATH_TOKEN } from '../app.ts';
import { shownIn } from '../discord/shown.ts';
import { MESSAGES } from '../pipeline/harness.ts';
import { startWholeWorld, type WholeWorld } from './world.ts';

/** By then the service has retried twice: a busy machine may take longer to start the bot than until the first retry. */
const RETRY_MS = 2 * MINUTE;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWholeWorld();
  for (const label of ['Treasury', 'Payroll'] as const) {
    const address = world.chain.wallets[label];
    const command = { kind: 'command', name: 'subscription add', options: { address, label } } as const;
    const used = await world.discord.use({ ...command, userId: seed.ada, channelId: seed.harbor.alerts });
    await used.final();
    expect(JSON.stringify(used.state.reply?.message)).toContain(address);
  }
});
afterAll(() => world.close());

const alertsOf = ({ hash }: Mined) =>
  world.discord
    .messages(seed.harbor.alerts)
    .flatMap(({ message }) => shownIn(message))
    .filter(({ text }) => text.includes(hash));

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
    const mined = await world.chain.transfer(transfer);
    const [alert] = await reported(mined);
    expect(alert!.title).toMatch(title);
  });

  it('links both full checksum addresses and the transaction in an alert', async () => {
    const { Alice, Treasury } = world.chain.wallets;
    const mined = await world.chain.transfer({ kind: 'erc20', from: 'Alice', to, amount: 7_000_000n });
    const [alert] = await reported(mined);
    for (const part of [`/tx/${mined.hash})`, `/address/${Alice})`, `[**Treasury**](`, `/address/${Treasury})`])
      expect(alert!.text).toContain(part);
  });

  it('shows two identical transfers of one transaction as ×2', async () => {
    const mined = await world.chain.identicalTransfers({ from: 'Alice', to: 'Treasury' });
    await world.discord.until('the alert counts 2 transfers', () =>
      alertsOf(mined).some(({ title }) => title.includes('×2')),
    );
    expect(alertsOf(mined)).toHaveLength(1);
  });

  it('shows a swap, and a sweep of many NFTs, as one alert each', async () => {
    const swap = await world.chain.swap('Treasury');
    const sweep = await world.chain.sweep({ from: 'Market', to: 'Treasury', count: 20 });
    const titles = (mined: Mined) => alertsOf(mined).map(({ title }) => title);
    await expect
      .poll(() => [titles(swap), titles(sweep)], { message: 'alerts of the swap and the sweep', timeout: 120_000 })
      .toEqual([
        [expect.stringMatching(/^🔄 Treasury −150 \S+ → \+120 \S+$/)],
        [expect.stringMatching(/^-# 📥 .*\b20 × `?\S/)],
      ]);
  });

  it('shows hostile names only as inline code, if the wallet itself sends such tokens', async () => {
    const mined = await world.chain.transfer({ kind: 'erc20', token: 'hostile', from, to: 'Bob' });
    const [alert] = await reported(mined);
    const names = [...alert!.text.matchAll(/`([^`]*)`/g)].map(([, inside]) => inside);
    expect(alert!.title).toMatch(/`[^`]+`$/);
    for (const name of names) expect(name).not.toMatch(/https?:|\]\(|[\u202a-\u202e\u200b-\u200f]/);
  });

  it('groups the alerts of a burst into messages', async () => {
    const shown = world.discord.messages(seed.harbor.alerts).length;
    // The first message has to wait, so that the next alerts gather however slow the machine is.
    world.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    const mined = await world.chain.burst(20, { from: 'Alice', to: 'Treasury' });
    // Meanwhile commands are acknowledged within Discord's three seconds: the stand-in takes no later response.
    while (!mined.every((one) => alertsOf(one).length > 0)) {
      const person = { userId: seed.ada, channelId: seed.harbor.general };
      const asked = await world.discord.use({ kind: 'command', name: 'status', ...person });
      expect(asked.state.status).toBe('acknowledged');
      await asked.final();
    }
    expect(mined.map((one) => alertsOf(one).length)).toEqual(mined.map(() => 1));
    expect(world.discord.messages(seed.harbor.alerts).length - shown).toBeLessThan(20);
  });
});

describe('the bot as a process', () => {
  it('loses and doubles nothing when the bot is killed in a burst', async () => {
    const mined = await world.chain.burst(12, { from: 'Bob', to: 'Treasury' });
    await world.discord.until('one of the transactions is posted', () => mined.some((one) => alertsOf(one).length > 0));
    await world.bot.stop('SIGKILL');
    await world.bot.start();
    world.passTime(RETRY_MS);
    await world.discord.until('every transaction is posted', () => mined.every((one) => alertsOf(one).length > 0));
    const last = await world.chain.transfer({ kind: 'native', from: 'Carol', to: 'Treasury' });
    await reported(last);
    expect(mined.map((one) => alertsOf(one).length)).toEqual(mined.map(() => 1));
  });

  it('exits with 0 at SIGTERM, and posts after a restart what happened meanwhile', async () => {
    expect(await world.bot.stop('SIGTERM')).toBe(0);
    const mined = await world.chain.transfer({ kind: 'native', from: 'Carol', to: 'Treasury' });
    await world.bot.start();
    // The service's first try failed.
    world.passTime(RETRY_MS);
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
