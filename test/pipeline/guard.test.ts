import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Warning } from '../../src/domain/alert.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { DEFAULT_FILTERS } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { keyOf } from '../store/contract/given.ts';
import { rowsOf } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { ALERTS, ALICE, COIN, HARBOR, payment, TREASURY, USDC, WHALES } from './harness.ts';
import { pipeline, usePipeline } from './per-test.ts';

const { alerts: ORCHID_ALERTS, id: ORCHID } = seed.orchid;
/** Addresses that look alike: they begin and end with the same digits. */
const alike = (digit: string): AddressText => `0xabcd${digit.repeat(32)}ef01`;
const [GENUINE, POISON, OTHER] = [alike('1'), alike('2'), alike('3')];
const FAKE: AddressText = `0x${'f'.repeat(40)}`;
const FUSE = { ...COIN, tokenType: 'FUSE' };

const UNCHECKED: Warning[] = [{ kind: 'unchecked' }];

/** Everything else is not found. */
const CATALOG: Record<string, object> = {
  [OTHER]: { cataloged: true, symbol: 'USDC', name: 'Bridged' },
  [USDC]: { cataloged: true, symbol: 'USDC', name: 'USD Coin' },
  [FAKE]: { cataloged: false, symbol: 'USDC', name: 'USD Coin' },
};
function fromCatalog(url: string): Given {
  const result = CATALOG[new URL(url, 'http://x').searchParams.get('contractaddress')!];
  const found = { status: '1', message: 'OK', result };
  return { body: result ? found : { status: '0', message: 'Contract address not found', result: null } };
}

let upstream: Awaited<ReturnType<typeof startUpstream>>;
beforeEach(async () => {
  upstream = await startUpstream(({ url }) => fromCatalog(url));
  onTestFinished(upstream.close);
  await usePipeline({ environment: { EXPLORER_API_URL: upstream.url } });
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
});

async function send(change: object = {}, scope = 0): Promise<void> {
  await pipeline.receive(payment(change), scope);
  await pipeline.routed();
}
/** The warnings of each alert, whether its channel got them before or not. */
const warnings = async (): Promise<Warning[][]> =>
  (await pipeline.histories()).flatMap(({ alerts }) =>
    alerts.map((alert) => alert.warnings.map(({ isRepeat: _, ...warning }: Warning & { isRepeat?: true }) => warning)),
  );
const lastWarnings = async () => (await warnings()).at(-1);
async function knowledge(now = pipeline.clock.now()) {
  const parties = { from: alike('9'), to: TREASURY, token: USDC, tokenSymbol: 'USDC' };
  const what = { kind: 'erc20', value: '1', tokenId: null, tokenIdExact: true } as const;
  const transfer = { ...parties, ...what, txHash: '0x0', blockNumber: 1 } as Transfer;
  const query = { transferKey: keyOf(1), deliveryKey: keyOf(1), scope: 0, at: now, transfer };
  const context = await pipeline.store.routing.context([query], now);
  return context.knowledge;
}
const counterparties = async (now?: number) =>
  (await knowledge(now)).counterparties.map(({ counterparty }) => counterparty);
const ownProject = (guildId: string) =>
  pipeline.store.projects.save({ guildId, projectId: 'p', sealed: Buffer.alloc(0) }, 'token');
const lookAlike = (address: AddressText, like: AddressText, label: string | null = null): Warning[] => [
  { kind: 'look-alike', address, like, label },
];

describe('look-alike addresses', () => {
  it('warns of an address that looks like a recent counterparty, in either direction, and never learns it', async () => {
    await send({ from: TREASURY, to: GENUINE });
    expect(await lastWarnings()).toEqual([]);
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE));
    await send({ from: TREASURY, to: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE));
    await send({ from: GENUINE });
    expect(await lastWarnings()).toEqual([]);
    expect(await counterparties()).toEqual([GENUINE]);
  });

  it('lets no stranger take the place of who is paid, by sending from a look-alike first (one transfer of dust)', async () => {
    await send({ from: POISON });
    await send({ from: TREASURY, to: GENUINE });
    expect(await lastWarnings()).toEqual([]);
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE));
    await send({ from: GENUINE });
    expect(await lastWarnings()).toEqual([]);
  });

  it('shows a card for a payment to a look-alike that dust has warned of, and one an hour for its like (one transfer of dust)', async () => {
    await send({ from: TREASURY, to: GENUINE });
    for (const from of [POISON, OTHER, alike('8'), POISON]) await send({ from });
    await send({ from: TREASURY, to: POISON });
    const repeated = (await pipeline.histories()).flatMap(({ alerts }) =>
      alerts.map((alert) => alert.warnings.map((warning) => 'isRepeat' in warning)),
    );
    expect(repeated).toEqual([[], [false], [true], [true], [true], [false]]);
  });

  it('takes nobody for paid because a token that nobody knows claims so, without an explorer (one transaction)', async () => {
    await usePipeline();
    await pipeline.watch(TREASURY, ALERTS);
    await send({ from: TREASURY, to: POISON, tokenAddress: FAKE });
    await send({ from: TREASURY, to: GENUINE, ...FUSE });
    expect(await lastWarnings()).toEqual([]);
    await send({ from: TREASURY, to: POISON, ...FUSE });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE));
  });

  it('warns of a look-alike in the same batch as the address it copies', async () => {
    await pipeline.receive(payment({ from: TREASURY, to: GENUINE }));
    await pipeline.receive(payment({ from: POISON }));
    await pipeline.routed();
    expect(await warnings()).toEqual([[], lookAlike(POISON, GENUINE)]);
  });

  it('learns no counterparty from a transfer of zero or of an uncataloged token', async () => {
    await send({ from: TREASURY, to: POISON, value: '0' });
    await send({ from: TREASURY, to: POISON, tokenAddress: FAKE });
    await send({ from: TREASURY, to: GENUINE });
    expect(await lastWarnings()).toEqual([]);
    expect(await pipeline.outcomes()).toEqual(['zero', 'matched', 'matched']);
  });

  it('does not learn a counterparty from a token that could not be checked', async () => {
    upstream.set(() => ({ status: 500, body: 'oops' }));
    await send({ from: TREASURY, to: POISON, tokenAddress: FAKE });
    expect(await counterparties()).toEqual([]);
  });

  it('warns of an address that looks like one the server has labeled or watches, even if it is known itself', async () => {
    const { labels } = pipeline.store;
    await labels.set(HARBOR, { address: GENUINE, name: 'Payroll', createdBy: seed.ada, at: 0 }, 9);
    await labels.set('1', { address: OTHER, name: 'x', createdBy: seed.ada, at: 0 }, 9);
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE, 'Payroll'));
    await send({ from: GENUINE });
    expect(await lastWarnings()).toEqual([]);
    await pipeline.watch(POISON, WHALES, { label: 'Cold wallet' });
    await send({ from: OTHER });
    expect(await lastWarnings()).toEqual(lookAlike(OTHER, GENUINE, 'Payroll'));
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual([]);
    await labels.remove(HARBOR, { address: GENUINE, name: 'Payroll' });
    await send({ from: OTHER });
    expect(await lastWarnings()).toEqual(lookAlike(OTHER, POISON, 'Cold wallet'));
  });

  it('warns of a look-alike among the parties of a watched token', async () => {
    await pipeline.watch(USDC, WHALES);
    await pipeline.watch(GENUINE, ALERTS, { label: 'Payroll' });
    await send({ to: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE, 'Payroll'));
    expect(await counterparties()).toEqual([]);
  });

  it('compares addresses only with each server’s own past, so that no other server can forge it', async () => {
    await pipeline.watch(TREASURY, ORCHID_ALERTS, { guildId: ORCHID });
    await send({ from: POISON }, await ownProject(ORCHID));
    await send({ from: GENUINE });
    expect(await warnings()).toEqual([[], []]);
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual(lookAlike(POISON, GENUINE));
  });

  it('deletes counterparties after 30 days', async () => {
    const began = pipeline.clock.now();
    await send({ from: GENUINE });
    pipeline.clock.leap(30 * DAY);
    pipeline.clock.advance(1_000);
    await send({ from: POISON });
    expect(await lastWarnings()).toEqual([]);
    await pipeline.prune(30 * DAY - 1);
    expect(await counterparties(began)).toEqual([POISON]);
    expect((await knowledge()).catalog).toHaveLength(1);
  });
});

describe('imitated tokens', () => {
  const uncataloged: Warning = { kind: 'uncataloged' };

  it('warns of a token that copies a known symbol in any spelling, unless it is cataloged too', async () => {
    await send();
    await send({ tokenAddress: OTHER });
    const spellings = ['USDC', 'usdc', 'ＵＳＤＣ', 'U S\u200bD\u2060C', 'UЅDС', 'USDÇ'];
    for (const tokenSymbol of spellings) await send({ tokenAddress: FAKE, tokenSymbol });
    const imitations = spellings.map((symbol) => [{ kind: 'imitation', symbol, genuine: USDC }, uncataloged]);
    expect(await warnings()).toEqual([[], [], ...imitations]);
  });

  it('warns of a token that copies the coin’s symbol, as the operator’s events name it', async () => {
    await send({ ...COIN, tokenType: 'USDC' }, 7);
    await send({ tokenAddress: FAKE, tokenSymbol: 'Fuse' });
    await send(FUSE);
    await pipeline.restart();
    await send({ tokenAddress: FAKE, tokenSymbol: 'Fuse' });
    expect(await warnings()).toEqual([
      [uncataloged],
      [],
      [{ kind: 'imitation', symbol: 'Fuse', genuine: null }, uncataloged],
    ]);
  });
});

describe('uncataloged tokens', () => {
  const lure = { tokenAddress: FAKE, tokenName: 'Visit free-usdc.com', tokenSymbol: 'GIFT' };

  it('marks an uncataloged token, unless the subscription names it, and hides it if only cataloged ones are wanted', async () => {
    await pipeline.watch(TREASURY, WHALES, { token: FAKE });
    await pipeline.watch(ALICE, WHALES, { filters: { ...DEFAULT_FILTERS, cataloged: true } });
    await send({ tokenAddress: FAKE, tokenSymbol: 'NEW' });
    await pipeline.idle();
    expect(await warnings()).toEqual([[{ kind: 'uncataloged' }], []]);
    expect((await pipeline.outcomes()).sort()).toEqual(['cataloged', 'matched', 'matched']);
  });

  it('hides an incoming uncataloged token that advertises a site', async () => {
    await send(lure);
    await send({ ...lure, from: TREASURY, to: ALICE });
    await pipeline.idle();
    expect(await pipeline.outcomes()).toEqual(['guard', 'matched']);
    expect(pipeline.alerts(ALERTS)).toHaveLength(1);
  });

  it.each([
    ['fails', () => ({ status: 500, body: 'oops' })],
    ['limits requests', () => ({ status: 429, body: 'slow down' })],
    ['sends a page', () => ({ body: '<html>' })],
  ] satisfies [string, () => Given][])(
    'posts a token with the remark that it could not be checked while the explorer %s',
    async (_, response) => {
      upstream.set(response);
      await send(lure);
      await pipeline.idle();
      expect(await pipeline.outcomes()).toEqual(['matched']);
      expect(await warnings()).toEqual([UNCHECKED]);
      expect(pipeline.alerts(ALERTS)[0]!.text).toContain('This token could not be checked');
    },
  );

  it('shows no failed check for a token that was looked up before the explorer was down', async () => {
    await send();
    upstream.set(() => ({ status: 500, body: 'oops' }));
    await send();
    pipeline.clock.leap(2 * DAY);
    pipeline.clock.advance(1_000);
    await send();
    expect(await warnings()).toEqual([[], [], []]);
  });

  it('shows no failed check to a subscription that names the token', async () => {
    await pipeline.watch(ALICE, WHALES, { token: FAKE });
    upstream.set(() => ({ status: 500, body: 'oops' }));
    await send({ tokenAddress: FAKE });
    await pipeline.idle();
    expect((await warnings()).sort()).toEqual([[], UNCHECKED]);
  });
});

describe('the explorer', () => {
  it('looks up a token at the explorer once a day, and never an unwatched one', async () => {
    await send({ to: ALICE, from: GENUINE, tokenAddress: FAKE });
    await send();
    await send();
    expect(upstream.requests).toHaveLength(1);
    pipeline.clock.leap(DAY + 1);
    pipeline.clock.advance(1_000);
    await send();
    expect(upstream.requests).toHaveLength(2);
  });

  it('distinguishes too many new tokens from an explorer that cannot be asked', async () => {
    const fresh = (n: number) =>
      payment({ tokenAddress: `0x${n.toString(16).padStart(40, 'd')}`, tokenSymbol: `NEW${n}` });
    await pipeline.storeTogether(Array.from({ length: 30 }, (_, n) => fresh(n)));
    await pipeline.idle();
    const kinds = Map.groupBy((await warnings()).flat(), (warning) => JSON.stringify(warning));
    expect([...kinds].map(([kind, { length }]) => [kind, length])).toEqual([
      ['{"kind":"uncataloged"}', 20],
      ['{"kind":"unchecked","isCrowded":true}', 10],
    ]);
  });

  it('looks up nothing for minutes after the explorer limited requests', async () => {
    upstream.set(() => ({ status: 429, body: 'slow down' }));
    await send();
    upstream.set(({ url }) => fromCatalog(url));
    await send({ tokenAddress: FAKE });
    expect(await warnings()).toEqual([UNCHECKED, UNCHECKED]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('delays alerts briefly when the explorer hangs, then not again for minutes', async () => {
    upstream.set(() => null);
    await pipeline.receive(payment());
    await until('the explorer gets a request', () => upstream.requests.length > 0);
    expect((await pipeline.backlog()).inbox.waiting).toBe(1);
    pipeline.clock.advance(1_500);
    await pipeline.routed();
    await send({ tokenAddress: FAKE });
    expect(upstream.requests).toHaveLength(1);
    expect(await warnings()).toEqual([UNCHECKED, UNCHECKED]);
    upstream.set(({ url }) => fromCatalog(url));
    pipeline.clock.advance(3 * MINUTE);
    await send({ tokenAddress: FAKE });
    expect(await lastWarnings()).toContainEqual({ kind: 'uncataloged' });
  });
});

it('counts no uncataloged token as an event of its address', async () => {
  const lastEventAt = async () => (await pipeline.store.subscriptions.list(HARBOR))[0]!.lastEventAt;
  await send({ tokenAddress: FAKE });
  expect(await lastEventAt()).toBeNull();
  await send({ tokenAddress: USDC });
  expect(await lastEventAt()).not.toBeNull();
});

it('keeps nothing of a server’s own project that is erased while the explorer is asked, and alerts the other servers', async () => {
  const own = await ownProject(HARBOR);
  await pipeline.watch(TREASURY, ORCHID_ALERTS, { guildId: ORCHID });
  upstream.set(() => null);
  const pay = (value: number, scope: number) => pipeline.receive(payment({ value: String(value * 1_000_000) }), scope);
  await Promise.all([pay(1, own), pay(2, 0)]);
  await until('the explorer gets a request', () => upstream.requests.length > 0);
  // These wait behind those that are being routed.
  await Promise.all([pay(3, own), pay(4, 0)]);
  await pipeline.app.internals.working().services.eraseGuild(HARBOR);
  // The explorer is given up, and what was decided is not stored.
  pipeline.clock.advance(1_500);
  await pipeline.turnUntil('the other server has its alerts', () => pipeline.numbers(ORCHID_ALERTS).length === 2);
  await pipeline.turnUntilSettled();
  expect([pipeline.numbers(ALERTS), pipeline.numbers(ORCHID_ALERTS)]).toEqual([[], ['2', '4']]);
  expect(rowsOf(pipeline.file, own)).toEqual({});
});

it('shows how late a transfer is compared with later blocks', async () => {
  const block = (blockNumber: number) => send({ blockNumber });
  await block(100);
  pipeline.clock.advance(2 * MINUTE);
  await block(200);
  pipeline.clock.advance(2 * MINUTE);
  // One absurd block number must not make later events late.
  await block(9e15);
  await block(201);
  pipeline.clock.advance(9 * MINUTE);
  await block(150);
  expect(await lastWarnings()).toEqual([]);
  await block(300);
  pipeline.clock.advance(11 * MINUTE);
  await block(301);
  expect(await lastWarnings()).toEqual([]);
  await block(150);
  expect(await lastWarnings()).toEqual([{ kind: 'late', ms: 22 * MINUTE }]);
  // Another project's blocks do not count.
  await send({ blockNumber: 150 }, await ownProject(HARBOR));
  expect(await lastWarnings()).toEqual([]);
  expect(await warnings()).toHaveLength(9);
});
