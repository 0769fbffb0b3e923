import { expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { plain, shownIn, textOf } from '../discord/shown.ts';
import {
  ALERTS,
  ALICE,
  GENERAL,
  HARBOR,
  MESSAGES,
  payment,
  REFUSED,
  ROLE,
  TREASURY,
  USDC,
  WHALES,
} from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';
import { NOTHING_WAITS } from '../pipeline/time.ts';

const AMOUNTS = /\b(\d+) `USDC`/g;
const STRANGER = `0x${'9'.repeat(40)}` as const;

pipelineForEachTest(ALERTS);

let serial = 0;
const hash = () => `0x${`${++serial}`.padStart(64, 'e')}`;
const receive = (txHash: string, units: number) => pipeline.pay(units, { txHash });
const send = (txHash: string, units: number) => pipeline.payAndWait(units, { txHash });
/** The amounts that each message shows, by transaction. Where several are listed below their sum, the sum is left out. */
const posted = () =>
  pipeline.discord.messages(ALERTS).map(({ message }) =>
    shownIn(message).map(({ text }) => {
      const [title = '', ...lines] = plain(text).split('\n');
      const listed = [...lines.join('\n').matchAll(AMOUNTS)];
      return (listed.length > 0 ? listed : [...title.matchAll(AMOUNTS)])
        .map(([, amount]) => Number(amount))
        .sort((a, b) => a - b);
    }),
  );
const mentionsIn = (channel: string) =>
  pipeline.discord.messages(channel).map(({ message }) => /<@&\d+>/.exec(textOf(message))?.[0] ?? '');
const edits = () => pipeline.discord.requests().filter(({ method }) => method === 'PATCH').length;

it('gathers the alerts of a swap or a sweep for half a second, so that one message needs no edit', async () => {
  const tx = hash();
  await receive(tx, 1);
  await pipeline.routed();
  for (const units of [2, 3, 4]) {
    pipeline.clock.advance(150);
    await receive(tx, units);
    await pipeline.routed();
  }
  pipeline.clock.advance(49);
  await pipeline.deliverer.idle();
  expect(posted()).toEqual([]);
  pipeline.clock.advance(1);
  await pipeline.deliverer.idle();
  expect([posted(), edits()]).toEqual([[[[1, 2, 3, 4]]], 0]);
});

it('groups the waiting alerts of one transaction into one message, whatever arrived between them', async () => {
  const [first, second, third] = [hash(), hash(), hash()];
  pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
  await receive(first, 1);
  await pipeline.idle();
  for (let n = 2; n <= 12; n++) await receive(n % 2 ? second : hash(), n);
  await receive(third, 13);
  await receive(second, 14);
  await pipeline.routed();
  await pipeline.turnUntilSettled();
  const embeds = posted().flat();
  expect(embeds).toContainEqual([3, 5, 7, 9, 11, 14]);
  expect(embeds.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, n) => n + 1));
  expect(posted().length).toBeLessThan(4);
});

it('retries alerts that join a message as rarely as others while it cannot be edited', async () => {
  const tx = hash();
  await send(tx, 1);
  const outage = pipeline.discord.fault({
    fault: { kind: 'error', status: 503 },
    method: 'PATCH',
    path: '/channels/**',
  });
  await send(tx, 2);
  await pipeline.pass(MINUTE);
  expect(edits()).toBeGreaterThan(3);
  expect(edits()).toBeLessThan(9);
  outage.clear();
  await pipeline.turnUntilSettled();
  expect(posted()).toEqual([[[1, 2]]]);
});

it('keeps the count of equal transfers in a message while alerts wait to join it', async () => {
  const others = [WHALES, GENERAL];
  for (const channel of others) await pipeline.watch(TREASURY, channel);
  const tx = hash();
  const event = payment({ txHash: tx, value: '1000000' });
  await pipeline.receive(event);
  await pipeline.idle();
  // Channels get their edits one after the other: some still wait for a slot.
  await pipeline.receive(event);
  await pipeline.idle();
  pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: SECOND }, method: 'PATCH', times: 3 });
  await receive(tx, 2);
  await pipeline.idle();
  await pipeline.receive(event);
  await pipeline.turnUntilSettled();
  for (const channel of [ALERTS, ...others]) {
    const [message, ...more] = pipeline.alerts(channel);
    expect(more).toEqual([]);
    expect(message!.text).toContain('×3');
  }
});

it('appends later alerts to their transaction’s message although another transaction’s alert waits ahead of them', async () => {
  const tx = hash();
  await send(tx, 1);
  pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
  await send(hash(), 2);
  await receive(hash(), 3);
  await receive(tx, 4);
  await pipeline.routed();
  await pipeline.turnUntilSettled();
  expect(posted()).toEqual([[[1, 4]], [[2]], [[3]]]);
});

it('appends later alerts to their message although earlier ones cannot join theirs', async () => {
  await pipeline.watch(ALICE, ALERTS, { mention: ROLE, mentionCooldown: 0, token: USDC });
  const [pinging, plain] = [hash(), hash()];
  const quiet = { from: STRANGER };
  await send(pinging, 1);
  await pipeline.payAndWait(2, { txHash: plain, ...quiet });
  pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
  await send(hash(), 3);
  // Discord notifies mentioned people of a new message only, so an alert with a mention cannot join one.
  await receive(pinging, 4);
  await pipeline.pay(5, { txHash: plain, ...quiet });
  await pipeline.routed();
  await pipeline.turnUntilSettled();
  expect(posted()).toEqual([[[1]], [[2, 5]], [[3]], [[4]]]);
});

it('posts alerts of a transaction that arrive ten minutes later in a message of their own', async () => {
  const tx = hash();
  await send(tx, 1);
  await pipeline.pass(10 * MINUTE);
  await send(tx, 2);
  expect(posted()).toEqual([[[1]], [[2]]]);
});

it('posts alerts that mention a role in a message of their own', async () => {
  await pipeline.watch(ALICE, ALERTS, { mention: ROLE, mentionCooldown: 0, token: USDC });
  const tx = hash();
  await send(tx, 1);
  await send(tx, 2);
  expect(mentionsIn(ALERTS)).toEqual([`<@&${ROLE}>`, `<@&${ROLE}>`]);
});

it('posts alerts that do not fit into their message in a further one, and nothing twice', async () => {
  await pipeline.store.guilds.changeSettings(HARBOR, { style: 'full' });
  const tx = hash();
  for (let n = 1; n <= 40; n++) {
    const from = `0x${n.toString(16).padStart(40, '7')}`;
    await pipeline.payAndWait(n, { txHash: tx, from });
    // Requests are spread over the second.
    if (n % 5 === 0) await pipeline.pass(1_000);
  }
  expect(posted().length).toBeGreaterThan(1);
  // Each message begins with a sum, which is not an alert.
  const amounts = pipeline.discord
    .messages(ALERTS)
    .flatMap(({ message }) =>
      [...plain(JSON.stringify(message.embeds)).matchAll(/📥 (\d+) `USDC`/gu)].map(([, amount]) => Number(amount)),
    );
  expect(amounts.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

it.each([
  ['a lost response', { kind: 'lost' }],
  ['500', { kind: 'error', status: 500 }],
  ['a connection that breaks', { kind: 'reset' }],
  ['429', { kind: 'rate-limit', retryAfterMs: 3_000 }],
] as const)('shows each alert of a transaction once after %s and a restart in the middle', async (_, fault) => {
  const tx = hash();
  await send(tx, 1);
  pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**', times: 2 });
  await receive(tx, 2);
  await pipeline.idle();
  await receive(tx, 3);
  await pipeline.restart();
  await pipeline.turnUntilSettled();
  expect(posted()).toEqual([[[1, 2, 3]]]);
});

it.each([
  ['refused', REFUSED],
  ['held back for minutes', { kind: 'rate-limit', retryAfterMs: 20 * MINUTE }],
  ['too late: the message was deleted', { kind: 'error', status: 404, code: 10008, message: 'Unknown Message' }],
] as const)('posts joining alerts in a message of their own when the edit is %s', async (_, fault) => {
  const tx = hash();
  await send(tx, 1);
  pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**' });
  await send(tx, 2);
  await send(tx, 3);
  expect(posted()).toEqual([[[1]], [[2]], [[3]]]);
  expect(await pipeline.backlog()).toMatchObject(NOTHING_WAITS);
});
