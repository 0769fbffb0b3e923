import { afterEach, expect, it } from 'vitest';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { wordingsOf } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { storeTransfers } from './stored.ts';
import { lower, seed, startWorld } from './world.ts';

const { harbor, orchid } = seed;
const HOUR = 3_600_000;
const WALLET = '0x00000000000000000000000000000000000000dd';
const watch = (options: Record<string, OptionInput>, channel = harbor.alerts) =>
  world.read('subscription add', { address: WALLET, ...options }, { in: channel });

const world = await forFile(startWorld());
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);

it('reports in the dry run that nothing was seen', async () => {
  expect(await watch({})).toContain('No transfers recorded at this address in the last 7 days');
});

it('names the option in which people type dollars', async () => {
  world.configure({ hasPrices: true });
  const address = `0x${'d'.repeat(40)}`;
  await storeTransfers(world.store, world.clock.now(), [{ to: lower(address), price: '2000' }]);
  expect(await watch({ address, minimum: '$20000' })).toContain('Filtered out by `minimum` (1).');
});

it('shows in the dry run how many of the last 7 days’ transfers would have been posted, with the latest', async () => {
  const to = lower(WALLET);
  const amountOf = (coins: number) => `${coins}${'0'.repeat(18)}`;
  await storeTransfers(world.store, world.clock.now(), [
    ...Array.from({ length: 20 }, (_, n) => ({ to, ago: (n + 1) * 7 * HOUR })),
    { to, value: amountOf(20), ago: HOUR },
    { from: to, value: amountOf(70), ago: 30 * HOUR },
    { from: to, value: amountOf(90), ago: 8 * 24 * HOUR },
    { to, value: amountOf(80), scope: 7 },
  ]);
  const every = await watch({});
  expect(every).toMatch(/Would have posted \*\*22 of 22\*\* in the last 7 days, about 4 a day\./);
  expect(every).toMatch(/📥 20 ETH · <t:\d+:R> · \[tx\]\(https:\/\/explorer\.example\/tx\/0x\w{64}\)\n📥 5 ETH.*\n📥/);
  const large = await watch({ minimum: '10' }, harbor.whales);
  expect(large).toContain('Would have posted **2 of 22** in the last 7 days, less than one a day.');
  expect(large).toMatch(/📥 20 ETH.*\n📤 70 ETH/);
  const subscription = String((await all()).find(({ channelId }) => channelId === harbor.whales)!.id);
  const edit = (options: object) => world.read('subscription edit', { subscription, ...options });
  const none = await edit({ minimum: '1000' });
  expect(none).toContain('Would have posted **none of 22**');
  expect(none).toContain('Filtered out by `minimum` (22).');
  const byToken = { minimum: 'none', minimums: 'native=1000' };
  expect(await edit(byToken)).toContain('Filtered out by `minimums` (22).');
  expect(await edit(byToken)).toMatch(/^Nothing changed\n/);
  world.speak('de');
  const { name } = wordingsOf('de')['subscription add minimum']!;
  expect(await edit({ minimum: '1001', minimums: 'none' })).toContain(`\`${name}\` (22)`);
});

it('marks transfers with look-alikes of known addresses in the dry run, as alerts do', async () => {
  const known = '0x1234000000000000000000000000000000005678';
  const fake = '0x1234ffffffffffffffffffffffffffffffff5678';
  const own = lower(`${WALLET.slice(0, 6)}${'f'.repeat(32)}${WALLET.slice(-4)}`);
  const seen = [known, fake, own].map((from, n) => ({
    from: lower(from),
    to: lower(WALLET),
    value: `${n + 1}${'0'.repeat(18)}`,
    ago: (n + 1) * 1_000,
  }));
  await storeTransfers(world.store, world.clock.now(), seen);
  await world.name(known, 'Payroll');
  const text = await watch({ label: 'Treasury' });
  expect(text).toMatch(/\n📥 1 ETH.*\n⚠️ Look-alike address! 📥 2 ETH.*\n⚠️ Look-alike address! 📥 3 ETH/);
});

it('limits the dry run to a server’s own subscriptions where it uses the operator’s project', async () => {
  const to = lower(`0x${'8'.repeat(40)}`);
  await storeTransfers(world.store, world.clock.now(), [{ to, ago: 2 }]);
  const shown = await world.read('subscription add', { address: to }, { in: orchid.lobby });
  expect(shown).toContain('No transfers recorded at this address in the last 7 days');
  expect(shown).not.toContain('/tx/');
});

it('shows the manager role in the dry run only what was decided about for channels that it sees', async () => {
  await world.makeManager(seed.noa);
  await world.subscribe({ channelId: harbor.treasury });
  const to = lower(`0x${'9'.repeat(40)}`);
  await storeTransfers(world.store, world.clock.now(), [{ to, channelId: harbor.treasury }]);
  const dryRun = (channel: string, as: string) => world.read('subscription add', { address: to, channel }, { as });
  expect(await dryRun(harbor.alerts, seed.noa)).toContain('No transfers recorded');
  expect(await dryRun(harbor.whales, seed.ada)).toContain('**1 of 1**');
});
