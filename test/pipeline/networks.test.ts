import { expect, it, onTestFinished } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { operatorScope } from '../../src/domain/inbox.ts';
import { networksEnvironment } from '../networks-file.ts';
import { startUpstream } from '../upstream/server.ts';
import { ALERTS, HARBOR, payment, startPipeline, TREASURY, USDC, WHALES } from './harness.ts';

const [FUSE, BASE] = [122, 8453];
const OTHER_USDC: AddressText = '0x4444444444444444444444444444444444444444';
/** The second begins and ends like the first. */
const LIKE: AddressText[] = ['1', '2'].map((digit): AddressText => `0xabcd${digit.repeat(32)}ef01`);
const environment = networksEnvironment([
  { name: 'fuse', title: 'Fuse', chainId: FUSE },
  { name: 'base', title: 'Base', chainId: BASE },
]);

it('keeps equal transfers of two networks apart, and sets aside what names another chain', async () => {
  const pipeline = await startPipeline({ environment });
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.watch(TREASURY, WHALES, { network: BASE });
  const event = payment();
  const at = (id: string, chainId: number | string) => ({ id, chainId: String(chainId), place: 'log:1' });
  await pipeline.receive(event, 0, at('one', FUSE));
  await pipeline.receive(event, operatorScope(BASE), at('two', `0x${BASE.toString(16)}`));
  await pipeline.receive(payment(), 0, at('three', BASE));
  await pipeline.turnUntilSettled();
  expect(pipeline.alerts(ALERTS)).toHaveLength(2);
  const texts = pipeline.alerts(ALERTS).map(({ text }) => /Fuse|Base/.exec(text)?.[0]);
  expect(texts.toSorted()).toEqual(['Base', 'Fuse']);
  const channels = (await pipeline.histories()).map(({ alerts }) => alerts.map(({ channelId }) => channelId).sort());
  expect(channels).toEqual([[ALERTS], [ALERTS, WHALES].sort()]);
  expect(await pipeline.store.quarantine.list()).toMatchObject([
    { scope: 0, reason: `It is from chain ${BASE}, and this URL is for chain ${FUSE}` },
  ]);
});

it('compares names of tokens on their own network, and look-alikes of a labeled address on all', async () => {
  const genuine: Record<string, AddressText> = { [FUSE]: USDC, [BASE]: OTHER_USDC };
  const upstream = await startUpstream(({ url }) => {
    const [, chain, address] = /^\/(\d+)\/.*contractaddress=(0x\w+)/.exec(url)!;
    const cataloged = genuine[chain!] === address;
    const result = { contractAddress: address, symbol: 'USDC', name: 'USD Coin', cataloged };
    return { body: { status: '1', message: 'OK', result } };
  });
  onTestFinished(upstream.close);
  const of = (name: string, chainId: number) => ({ name, chainId, explorerApiUrl: `${upstream.url}/${chainId}` });
  const pipeline = await startPipeline({ environment: networksEnvironment([of('fuse', FUSE), of('base', BASE)]) });
  await pipeline.watch(TREASURY, ALERTS);
  const label = { address: LIKE[0]!, name: 'Supplier', createdBy: '1', at: 0 };
  await pipeline.store.labels.set(HARBOR, label, 9);
  const warningsOf = async (change: object, scope: number) => {
    await pipeline.receive(payment(change), scope);
    await pipeline.turnUntilSettled();
    return (await pipeline.histories())
      .at(-1)!
      .alerts.flatMap(({ warnings }) => warnings.map((one) => ('isRepeat' in one ? `${one.kind} again` : one.kind)));
  };
  const base = operatorScope(BASE);
  const warningsOfToken = (tokenAddress: AddressText, scope: number) => warningsOf({ tokenAddress }, scope);
  expect(await warningsOfToken(USDC, 0)).toEqual([]);
  expect(await warningsOfToken(OTHER_USDC, base)).toEqual([]);
  // Each is genuine on the other network alone.
  expect(await warningsOfToken(OTHER_USDC, 0)).toContain('imitation');
  expect(await warningsOfToken(USDC, base)).toContain('imitation');
  expect(await warningsOf({ from: LIKE[1], tokenAddress: OTHER_USDC }, base)).toContain('look-alike');
  // A warning on one network takes nobody's warning on another.
  expect(await warningsOf({ from: LIKE[1], tokenAddress: USDC }, 0)).toContain('look-alike');
  expect(await warningsOf({ from: LIKE[1], tokenAddress: USDC }, 0)).toContain('look-alike again');
});
