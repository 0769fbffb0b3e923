import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { renderDigest } from '../../src/discord/render/digest.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { ALERTS, ALICE, GENERAL, type PipelineOptions, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest, usePipeline } from '../pipeline/per-test.ts';

pipelineForEachTest(ALERTS);

const digests = () => pipeline.alerts(ALERTS).filter(({ title }) => title.includes('Digest'));
const counts = () => digests().map(({ title }) => Number(/(\d+) transfers/.exec(title)![1]));
const alone = () => pipeline.alerts(ALERTS).length - digests().length;

/** Receives events for this many alerts while Discord is down for this many minutes; returns their transactions. */
async function pileUp(count: number, minutes: number): Promise<unknown[]> {
  pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**', forMs: minutes * MINUTE });
  const events = Array.from({ length: count }, (_, n) =>
    payment(n % 2 ? {} : { from: TREASURY, to: ALICE, value: '1000000' }),
  );
  for (const event of events) await pipeline.receive(event);
  await pipeline.routed();
  return events.map(({ txHash }) => txHash);
}

/** The transactions in a channel's single alerts and in the files of its digests, sorted. */
async function listedIn(channelId: string) {
  const files = pipeline.discord.messages(channelId).flatMap(({ message }) => message.attachments);
  const texts = await Promise.all(files.map(async ({ url }) => (await request(url)).body.text()));
  const rows = texts.flatMap((text) => text.trim().split('\r\n').slice(1));
  const alerts = pipeline.alerts(channelId).filter(({ title }) => !title.includes('Digest'));
  const listed = [...rows, ...alerts.map(({ text }) => text)].map((one) => /0x[0-9a-f]{64}/.exec(one)![0]);
  return { files: files.length, rows: rows.length, listed: listed.toSorted() };
}

/** A digest renderer with room for this many alerts; a real one is limited by its file's size. */
const withRoomFor =
  (most: number): NonNullable<NonNullable<PipelineOptions['renderers']>['renderDigest']> =>
  (alerts, reference, reason, now) =>
    renderDigest({ explorerUrl: undefined, nativeSymbol: undefined }, alerts.slice(0, most), reference, reason, now);

describe('a backlog', () => {
  it('posts a backlog of more than 50 alerts as one digest that counts each once and lists all in its file', async () => {
    const hashes = await pileUp(200, 10);
    await pipeline.turnUntil('1 digest is posted', () => digests().length === 1);
    const [counted = 0] = counts();
    expect(counted + alone()).toBe(200);
    expect(counted).toBeGreaterThan(150);
    const { text } = digests()[0]!;
    const total = (arrow: string) => Number(new RegExp(`${arrow} ([\\d,]+) .USDC. in (\\d+) transfers`).exec(text)![2]);
    expect(total('📥') + total('📤')).toBe(counted);
    const { files, rows, listed } = await listedIn(ALERTS);
    expect(files).toBe(1);
    expect([rows, listed]).toEqual([counted, hashes.toSorted()]);
  });

  it('lists each of 1,500 alerts over three channels once after six hours without Discord', async () => {
    const channels = [ALERTS, WHALES, GENERAL];
    for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
    const outage = pipeline.discord.fault({ fault: { kind: 'error', status: 503 } });
    const hashes: unknown[] = [];
    for (let hours = 0; hours < 6; hours += 0.6) {
      const events = Array.from({ length: 50 }, () => payment());
      hashes.push(...events.map(({ txHash }) => txHash));
      await pipeline.storeTogether(events);
      await pipeline.pass(36 * MINUTE, 36 * MINUTE);
    }
    outage.clear();
    await pipeline.turnUntilSettled();
    const shown = await Promise.all(channels.map(listedIn));
    expect(shown.map(({ listed }) => listed)).toEqual(channels.map(() => hashes.toSorted()));
    expect((await pipeline.backlog()).deadLetters).toBe(0);
  });

  it('posts alerts that do not fit into one digest in the next ones, each once', async () => {
    await usePipeline({ renderers: { renderDigest: withRoomFor(60) } });
    await pipeline.watch(TREASURY, ALERTS);
    await pileUp(200, 10);
    await pipeline.turnUntilSettled();
    expect(counts().slice(0, 3)).toEqual([60, 60, 60]);
    expect(counts().reduce((sum, count) => sum + count, alone())).toBe(200);
    expect((await pipeline.backlog()).deadLetters).toBe(0);
  });

  it('posts a backlog of more than 30 minutes as a digest', async () => {
    await pileUp(30, 40);
    await pipeline.turnUntil('1 digest is posted', () => digests().length === 1, 7_200);
    const [counted = 0] = counts();
    expect(counted).toBeGreaterThan(10);
    expect(counted + alone()).toBe(30);
  });

  it('posts a backlog of a few alerts one by one, however old it is', async () => {
    await pileUp(4, 40);
    await pipeline.untilShown(ALERTS, 4, 7_200);
    expect(digests()).toEqual([]);
  });
});
