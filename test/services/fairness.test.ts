import { expect, it } from 'vitest';
import { limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false });
const { pay, scan, watch } = here;

const attempts = () => {
  const counted = { count: 0 };
  here.services.notification.onProgress(({ type }) => {
    if (type === 'attempted') counted.count++;
  });
  return counted;
};
const paused = async () => (await here.services.ready()).pausedReceivers;

it.each([1, 3])('sends %i deliveries of a webhook at the same time when it allows that many', async (parallel) => {
  await watch({ parallel });
  here.receiver.answer(null);
  const made = attempts();
  await here.chain.burst(8, { from: 'Alice', to: 'Treasury' });
  await scan();
  await here.receiver.until(parallel);
  expect(made.count).toBe(parallel);
  here.receiver.answer(200);
  here.receiver.release(200);
  await here.services.sent();
  expect(here.receiver.received).toHaveLength(8);
});

it('pauses a receiver after five timeouts, then tries it with one delivery at a time', async () => {
  await watch({ parallel: 5 });
  here.receiver.answer(null);
  const made = attempts();
  await here.chain.burst(20, { from: 'Alice', to: 'Treasury' });
  await scan();
  await here.receiver.until(5);
  here.advance(3_000);
  await expect.poll(paused, { message: 'one webhook is paused', timeout: 60_000 }).toBe(1);
  expect(made.count).toBe(5);
  here.advance(5_000);
  await here.receiver.until(6);
  expect(made.count).toBe(6);
  here.receiver.answer(200);
  here.receiver.release(200);
  await here.receiver.until(16);
  await expect.poll(paused, { message: 'no webhook is paused', timeout: 60_000 }).toBe(0);
});

it('sends the events of other transactions before most of those of one that has many', async () => {
  await watch();
  here.services.notification.setFaults({ paused: true });
  await pay(1n);
  await here.chain.sweep({ from: 'Alice', to: 'Treasury', count: 40 });
  await scan();
  here.services.notification.setFaults({ paused: false });
  await here.services.sent();
  // The newest come first otherwise.
  expect(
    here.receiver
      .events()
      .map(({ value }) => value)
      .indexOf('1'),
  ).toBe(16);
});

it('reads new blocks while the explorer has used up its share of the calls', async () => {
  // The clock stands still, so what is used up stays so.
  await here.restart({ chains: [{ nodes: [{ url: here.chain.rpcUrl }], perSecond: 1_000 }] });
  await watch();
  const { address } = here.chain.tokens.dollar;
  const query = `module=token&action=getToken&contractaddress=${address}`;
  let answered = 0;
  const lookups = Array.from({ length: 60 }, async () => {
    const response = await fetch(`${here.services.explorerApiUrl}?${query}`).catch(() => null);
    if (response?.ok) answered++;
  });
  await pay(1n);
  await scan();
  await here.receiver.until(1);
  expect(answered).toBeLessThan(60);
  await here.services.close();
  await Promise.all(lookups);
});
