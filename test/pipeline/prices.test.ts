import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SECOND } from '../../src/domain/clock.ts';
import { DEFAULT_FILTERS } from '../../src/domain/subscription.ts';
import { until } from '../until.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { ALERTS, ALICE, COIN, payment, ROLE, TREASURY, USDC, WHALES } from './harness.ts';
import { pipeline, usePipeline } from './per-test.ts';

const ZERO = `0x${'0'.repeat(40)}`;
/** Nobody lists it, and the price source knows it. */
const SPAM = `0x${'f'.repeat(40)}`;
const BELL = `0x${'b'.repeat(40)}`;

let source: (assets: string[]) => Given;
let asked: string[];
/** The clock turns while the source does not respond. */
let isHanging: boolean;
const priced = (assets: string[], price = '2.5', more: object = {}): Given => ({
  body: {
    coins: Object.fromEntries(
      assets.map((asset) => {
        const decimals = asset === `test:${ZERO}` ? 18 : 6;
        const timestamp = Date.UTC(2026, 0, 1) / SECOND;
        return [asset, { price: Number(price), decimals, symbol: 'X', timestamp, confidence: 0.99, ...more }];
      }),
    ),
  },
});

async function start(environment: Record<string, string> = {}, lookedUp = async (_token: string | null) => {}) {
  const explorer = await startUpstream(async ({ url }) => {
    const token = new URL(url, 'http://x').searchParams.get('contractaddress');
    await lookedUp(token);
    const isListed = token === USDC || token === BELL;
    const found = { status: '1', message: 'OK', result: { cataloged: true, symbol: 'USDC', name: 'USD Coin' } };
    return { body: isListed ? found : { status: '0', message: 'not found', result: null } };
  });
  const upstream = await startUpstream(({ url }) => {
    const assets = decodeURIComponent(url.split('/').at(-1)!).split(',');
    asked.push(...assets);
    return source(assets);
  });
  onTestFinished(explorer.close);
  onTestFinished(upstream.close);
  await usePipeline({
    environment: { EXPLORER_API_URL: explorer.url, PRICES_URL: upstream.url, PRICES_CHAIN: 'test', ...environment },
    // Nothing but the clock ends a request.
    upstreamTimeoutMs: 200_000,
  });
  if (environment.PRICES_URL === '') return;
  await until('the coin’s price is asked for at the start', () => asked.length > 0);
  pipeline.clock.advance(2 * SECOND);
}
beforeEach(() => {
  asked = [];
  isHanging = false;
  source = priced;
});
const texts = (channelId = ALERTS) => pipeline.alerts(channelId).map(({ title, text }) => `${title}\n${text}`);
async function send(...changes: object[]) {
  for (const change of changes) await pipeline.receive(payment(change));
  await until('they are routed', async () => {
    if (isHanging) pipeline.clock.advance(50);
    return (await pipeline.backlog()).inbox.waiting === 0;
  });
  await pipeline.turnUntilSettled();
}

describe('what transfers are worth', () => {
  it('shows it for the coin and a listed token, and for no other', async () => {
    await start();
    await pipeline.watch(TREASURY, ALERTS);
    await send(
      { ...COIN, value: '3000000000000000000000' },
      { value: '4000000' },
      { tokenAddress: SPAM, value: '4000000' },
    );
    expect(texts().join('\n')).toMatch(/≈\u00a0\$7,500 · /);
    expect(texts().join('\n')).toMatch(/≈\u00a0\$10\.00 · /);
    expect(texts().join('\n').match(/≈/g)).toHaveLength(2);
    expect(asked).not.toContain(`test:${SPAM}`);
    asked = [];
    await pipeline.restart();
    await until('its price is asked for again before it moves', () => asked.includes(`test:${USDC}`));
  });

  it('hides what is worth less than the minimum, and records why', async () => {
    await start();
    await pipeline.watch(TREASURY, ALERTS, { minimumUsd: '10' });
    await send({ value: '3999999' }, { value: '4000000' });
    expect(await pipeline.outcomes()).toEqual(['minimum-usd', 'matched']);
    expect((await pipeline.histories()).map(({ transfer }) => transfer.price)).toEqual(['2.5', '2.5']);
    expect(texts()).toHaveLength(1);
    await send({ tokenAddress: SPAM, tokenSymbol: 'JUNK', value: '4000000' });
    expect(texts().at(-1)).toContain(' · uncataloged token · price unknown · ');
  });

  it('pings only for what is worth enough', async () => {
    await start();
    await pipeline.watch(TREASURY, ALERTS, { mention: ROLE, mentionMinimumUsd: '10', mentionCooldown: 0 });
    await send({ value: '3999999' });
    await send({ value: '4000000' });
    expect(texts().map((text) => text.includes(`<@&${ROLE}>`))).toEqual([false, true]);
  });

  it.each<[string, () => Given]>([
    ['away', () => ({ status: 503, body: '' })],
    ['silent', () => null],
    ['old', () => priced([`test:${USDC}`], '2.5', { timestamp: 0 })],
  ])(
    'lets everything through at once while the source is %s, and shows that the price is unknown',
    async (_, given) => {
      source = given;
      isHanging = given() === null;
      await start();
      await pipeline.watch(TREASURY, ALERTS, { minimumUsd: '1000000' });
      await pipeline.watch(TREASURY, WHALES);
      await pipeline.watch(ALICE, ALERTS, { filters: { ...DEFAULT_FILTERS, cataloged: true } });
      const before = pipeline.clock.now();
      await send({ value: '1' });
      expect(texts().join()).toContain('price unknown · ');
      expect(texts(WHALES).join()).not.toContain('unknown');
      // The alert's gathering, and a second because the explorer was asked about the token, too.
      expect(pipeline.clock.now() - before).toBeLessThan(5 * SECOND);
      // Later nothing is waited for.
      isHanging = false;
      await send({ value: '2' });
      expect(texts(WHALES)).toHaveLength(2);
    },
  );

  it('shows a swap of two new tokens as one message with its worth, however slowly the explorer responds', async () => {
    const [txHash, first, second] = [
      `0x${'e'.repeat(64)}`,
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const wanted: (string | null)[] = [];
    await start({}, async (token) => {
      wanted.push(token);
      await (token === BELL ? first : second).promise;
    });
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.receive(payment({ txHash, tokenAddress: BELL, tokenSymbol: 'BELL' }));
    await until('one token is looked up', () => wanted.includes(BELL));
    await pipeline.receive(payment({ txHash, from: TREASURY, to: ALICE, direction: 'outgoing' }));
    first.resolve();
    await until('the other token is looked up', () => wanted.includes(USDC));
    pipeline.clock.advance(300);
    second.resolve();
    isHanging = true;
    await send();
    expect(texts()).toEqual([expect.stringMatching(/−5 USDC → \+5 BELL\n[\s\S]*≈\u00a0\$12\.50/)]);
  });

  it('changes nothing without a source: a minimum in dollars has no effect', async () => {
    await start({ PRICES_URL: '', PRICES_CHAIN: '' });
    await pipeline.watch(TREASURY, ALERTS, { minimumUsd: '1000000' });
    await send({ value: '1' });
    expect(texts()).toHaveLength(1);
    expect(texts().join()).not.toMatch(/≈|unknown/);
  });
});
