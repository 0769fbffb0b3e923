import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createChain } from '../../src/upstream/chain.ts';
import { type CommandWorld, seed, startWorld, textOf } from '../commands/world.ts';
import { ALERTS } from '../pipeline/harness.ts';
import { type LimitedNode, startLimitedNode } from '../services/limited-node.ts';

let chain: Chain;
let node: LimitedNode;
beforeAll(async () => {
  chain = await startChain();
  // The coins that were minted at the start are settled.
  await rpcOf(chain.rpcUrl)('anvil_mine', ['0x2']);
  node = await startLimitedNode(chain.rpcUrl);
});
afterAll(async () => {
  await node.close();
  await chain.close();
});
afterEach(() => node.setAway(false));

const COIN = 10n ** 18n;
const client = () => createChain({ urls: [chain.rpcUrl], rate: 999_999_999, clock: systemClock });
const lower = (address: string) => address.toLowerCase() as AddressText;
const balanceOf = async (address: string, block: number) =>
  BigInt(await rpcOf(chain.rpcUrl)<string>('eth_getBalance', [address, `0x${block.toString(16)}`]));

async function start(): Promise<CommandWorld> {
  const environment = { RPC_URL: node.url, RPC_CONFIRMATIONS: '1', RPC_RATE: '999999999', NATIVE_SYMBOL: 'HARBOR' };
  const { at } = await client().settled(0);
  const world = await startWorld({ environment, startAt: at + 1_000 });
  onTestFinished(() => world.close());
  return world;
}

type Wallet = 'Treasury' | 'Alice';

/** Sends coins, and delivers that, as of a block that the node may not know yet. */
async function pay(world: CommandWorld, from: Wallet, to: Wallet, amount: bigint, ahead = 0) {
  const mined = await chain.transfer({ kind: 'native', from, to, amount });
  const { hash } = mined;
  const blockNumber = mined.blockNumber + ahead;
  await world.pipeline.receive({
    from: chain.wallets[from],
    to: chain.wallets[to],
    direction: 'incoming',
    addressType: 'Wallet',
    tokenType: 'NATIVE',
    value: String(amount),
    txHash: hash,
    blockNumber,
    blockHash: `0x${'b'.repeat(64)}`,
  });
  await world.pipeline.idle();
  return { hash, blockNumber };
}

async function settle({ pipeline }: CommandWorld, passed = 10_000): Promise<void> {
  await pipeline.pass(passed);
  await pipeline.app.internals.working().balances!.settled();
  await pipeline.idle();
}

/** Mines blocks some time later, compares them, and brings the bot's clock there; returns the latest block's time. */
async function compare({ pipeline, services }: CommandWorld, seconds = 60): Promise<number> {
  for (const checker of pipeline.app.internals.working().checkers) {
    await rpcOf(chain.rpcUrl)('evm_increaseTime', [seconds]);
    await rpcOf(chain.rpcUrl)('anvil_mine', ['0x2']);
    await checker.check();
    await checker.check();
  }
  await pipeline.idle();
  const { at } = await client().settled(0);
  pipeline.jump(Math.max(0, at - services.now()));
  return at;
}

const alerts = ({ pipeline }: CommandWorld) => pipeline.alerts(ALERTS).map(({ title, text }) => `${title}\n${text}`);

it('reads balances of the coin and of tokens together, also of what is no token', async () => {
  const node = client();
  const number = await node.latest();
  const [treasury, alice] = [lower(chain.wallets.Treasury), lower(chain.wallets.Alice)];
  const [dollar, bell] = [lower(chain.tokens.dollar.address), lower(chain.tokens.bell.address)];
  const wanted = [
    { asset: dollar, address: treasury },
    { asset: 'native' as const, address: alice },
    { asset: treasury, address: alice },
    { asset: bell, address: alice },
  ];
  const before = node.calls();
  const together = await node.holdings(number, wanted);
  expect(node.calls() - before).toBe(2);
  const one = async (index: number) => (await node.holdings(number, [wanted[index]!]))[0];
  expect(together).toEqual([await one(0), await one(1), null, await one(3)]);
  expect(together[1]).toBe(await balanceOf(alice, number));
  expect(together[0]).toBeGreaterThan(0n);
});

it('shows what a transfer left in the alert that wants it, and posts the alert without the node', async () => {
  const world = await start();
  await world.subscribe({ address: lower(chain.wallets.Treasury), showBalance: true });
  node.setAway(true);
  const { blockNumber } = await pay(world, 'Alice', 'Treasury', COIN);
  await settle(world);
  expect(alerts(world)).toEqual([expect.not.stringContaining('Balance')]);
  node.setAway(false);
  await settle(world);
  const whole = (await balanceOf(chain.wallets.Treasury, blockNumber)) / COIN;
  const [shown] = alerts(world);
  expect(shown).toMatch(new RegExp(`Balance: ${whole.toLocaleString('en-US')}(\\.\\d+)? HARBOR after block`));
  expect(shown).toContain(`after block ${blockNumber.toLocaleString('en-US')}.`);
  // The service is ahead of the node.
  await pay(world, 'Alice', 'Treasury', COIN, 2);
  await settle(world);
  expect(alerts(world).filter((text) => text.includes('Balance'))).toHaveLength(1);
  await rpcOf(chain.rpcUrl)('anvil_mine', ['0x2']);
  await settle(world);
  expect(alerts(world).filter((text) => text.includes('Balance'))).toHaveLength(2);
});

it('shows what a transfer left in Details, and why it does not know', async () => {
  const world = await start();
  await world.subscribe({ address: lower(chain.wallets.Treasury), label: 'Treasury' });
  const { hash, blockNumber } = await pay(world, 'Alice', 'Treasury', COIN);
  await settle(world);
  expect(alerts(world)).toEqual([expect.not.stringContaining('Balance')]);
  const details = async () => textOf(await world.use('why', { transaction: hash }, { in: seed.harbor.alerts }));
  node.setAway(true);
  expect(await details()).toContain('The balance is unknown: the node did not respond');
  node.setAway(false);
  const block = blockNumber.toLocaleString('en-US');
  expect(await details()).toMatch(new RegExp(`\\*\\*Balance of Treasury\\*\\* [\\d,.]+ HARBOR after block ${block}`));
  node.setAway(true);
  expect(await details()).toContain('Balance of Treasury');
});

it('warns once when a balance falls below its limit and once when it is back, also over a restart', async () => {
  const world = await start();
  const { pipeline } = world;
  const notices = () =>
    pipeline.discord.messages(ALERTS).map(({ message }) => textOf({ reply: { message }, followups: [] } as never));
  const titles = () => notices().map((text) => /(Low balance|No longer low): \S+/.exec(text)?.[0]);
  const treasury = chain.wallets.Treasury;
  const whole = (await balanceOf(treasury, await client().latest())) / COIN;
  const warning = { label: 'Gas', warnBelow: String(whole), mention: seed.harbor.watchers, minimum: '999999999' };
  await world.subscribe({ address: lower(treasury), ...warning });
  // That address is no token.
  const other = { ...warning, label: null, warnBelow: `5 ${lower(treasury)}` };
  await world.subscribe({ address: lower(treasury), channelId: seed.harbor.whales, ...other });
  // Alice has more than that in the token's own decimals, and nobody wants to know how much Bob has.
  const dollars = { ...other, warnBelow: `1 ${lower(chain.tokens.dollar.address)}` };
  await world.subscribe({ address: lower(chain.wallets.Alice), channelId: seed.harbor.whales, ...dollars });
  const muted = { ...other, warnBelow: '999999999', mutedUntil: Number.MAX_SAFE_INTEGER };
  await world.subscribe({ address: lower(chain.wallets.Bob), channelId: seed.harbor.whales, ...muted });
  await settle(world, 600_000);
  expect(notices()).toEqual([]);
  // The transfer itself is hidden, because it is below the minimum.
  await pay(world, 'Treasury', 'Alice', COIN);
  await settle(world);
  expect(titles()).toEqual(['Low balance: Gas']);
  expect(notices()[0]).toMatch(/Balance: \*\*[\d,]+(?:\.\d{1,7})? HARBOR\*\* after block [\d,]+, below [\d,]+ HARBOR/);
  expect(pipeline.discord.messages(ALERTS)[0]!.message.content).toContain(`<@&${seed.harbor.watchers}>`);
  await pipeline.restart();
  await settle(world, 600_000);
  // While the node is away nothing is known, and nothing changes.
  node.setAway(true);
  await chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 2n * COIN });
  await settle(world, 600_000);
  expect(titles()).toHaveLength(1);
  node.setAway(false);
  await settle(world, 600_000);
  await settle(world, 600_000);
  expect(titles()).toEqual(['Low balance: Gas', 'No longer low: Gas']);
  expect(pipeline.discord.messages(seed.harbor.whales)).toEqual([]);
});

it('shows opening and closing balances in /activity and its file, and whether they add up', async () => {
  const world = await start();
  const createdAt = await compare(world);
  await world.subscribe({ address: lower(chain.wallets.Treasury), label: 'Treasury', createdAt });
  await compare(world);
  await pay(world, 'Alice', 'Treasury', 3n * COIN);
  const sent = await pay(world, 'Treasury', 'Alice', COIN);
  await compare(world);
  const shown = async () => textOf(await world.use('activity', { address: 'Treasury', period: '24h' }));
  expect(await shown()).toMatch(/Balances\*\*\n[\d,.]+ → \*\*[\d,.]+\*\* HARBOR \([^)]+fees\) · adds up\n/);
  // A transaction that moves nothing costs a fee.
  await rpcOf(chain.rpcUrl)('eth_sendTransaction', [{ from: chain.wallets.Treasury, to: chain.wallets.Treasury }]);
  await compare(world);
  await compare(world);
  expect(await shown()).toMatch(/more went out: probably the fee of 1 other transaction/);
  const pressed = await world.press(await world.use('activity', { address: 'Treasury' }), 'activity:csv');
  const file = await (await fetch(pressed.reply!.message.attachments[0]!.url)).text();
  const amountIn = (kind: string) => new RegExp(`,${kind},native,.*?,([\\d.-]+),,,$`, 'm').exec(file)?.[1];
  const exact = (value: bigint) => `${value / COIN}.${String(value % COIN).padStart(18, '0')}`.replace(/\.?0+$/, '');
  expect(amountIn('closing balance')).toBe(exact(await balanceOf(chain.wallets.Treasury, await client().latest())));
  expect(Number(amountIn('does not add up'))).toBeLessThan(0);
  expect(file).toContain(sent.hash);
  for (const command of ['status', 'setup check'])
    expect(textOf(await world.use(command))).toMatch(/Complete up to block [\d,]+ \(/);
});

it('posts a weekly statement once, late and over restarts, and names what does not add up', async () => {
  const world = await start();
  const { pipeline } = world;
  const WEEK = 7 * 24 * 3600;
  await world.use('setup server', { channel: seed.harbor.whales, timezone: 'Europe/Berlin' });
  expect(textOf(await world.use('setup server', { statement: 'weekly' }))).toContain('weekly, on Mondays');
  const createdAt = await compare(world);
  await world.subscribe({ address: lower(chain.wallets.Treasury), label: 'Treasury', createdAt });
  await settle(world, 60_000);
  await compare(world);
  await pay(world, 'Alice', 'Treasury', 3n * COIN);
  await compare(world);
  const posted = () => pipeline.discord.messages(seed.harbor.whales).map(({ message }) => message);
  const statements = (count: number) =>
    expect
      .poll(
        async () => {
          await settle(world, 60_000);
          return posted().length;
        },
        { message: 'the statements', timeout: 120_000 },
      )
      .toBe(count);
  await statements(0);
  await compare(world, WEEK);
  await compare(world);
  await pipeline.restart();
  await statements(1);
  const [first] = posted();
  expect(first!.embeds[0]).toMatchObject({ title: expect.stringContaining('Weekly statement') });
  expect(first!.embeds[0]!.description).toMatch(/Everything adds up.*\*\*Treasury\*\*.* → .*\(\+3\) · adds up/s);
  const file = await (await fetch(first!.attachments[0]!.url)).text();
  expect(file.split('\r\n')[1]).toMatch(/^0x[0-9a-fA-F]{40},Treasury,,HARBOR,[\d.]+,3,0,0,[\d.]+,0,\d+,\d+$/);
  await rpcOf(chain.rpcUrl)('eth_sendTransaction', [{ from: chain.wallets.Treasury, to: chain.wallets.Treasury }]);
  await compare(world);
  node.setAway(true);
  await settle(world, 60_000);
  node.setAway(false);
  await compare(world, WEEK);
  await compare(world);
  await statements(2);
  expect(posted()[1]!.embeds[0]!.description).toMatch(/1 sum does not add up.*fee of 1 other transaction/s);
});
