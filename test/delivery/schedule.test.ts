import { beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { ALERTS, ALICE, HARBOR, MESSAGES, ROLE, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { pipeline, usePipeline } from '../pipeline/per-test.ts';

/** The clock begins at midnight UTC, 01:00 in Berlin. */
const MIDNIGHT = Date.UTC(2026, 0, 1);
const STRANGER = `0x${'9'.repeat(40)}` as const;
const OTHERS = `0x${'8'.repeat(40)}`;

beforeEach(async () => {
  await usePipeline();
  await pipeline.store.guilds.changeSettings(HARBOR, { timezone: 'Europe/Berlin' });
});

const send = (units: number, change?: object) => pipeline.payAndWait(units, change);
/** `Digest · 3 transfers`, or how much an alert's transfer moved. */
const titles = () =>
  pipeline
    .alerts(ALERTS)
    .map(({ title }) => /Digest · [\d,]+ transfers?/.exec(title)?.[0] ?? /(?:[+−]|→ \S+ )([\d,]+)/.exec(title)?.[1]);
const until = (ms: number, step = MINUTE) => pipeline.pass(MIDNIGHT + ms - pipeline.clock.now(), step);

describe('a subscription with a digest', () => {
  it('posts an hourly digest at the end of the hour, also after a restart', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly' });
    for (const n of [1, 2, 3]) await send(n);
    await until(30 * MINUTE);
    await send(4);
    await pipeline.restart();
    await until(HOUR - MINUTE);
    expect(titles()).toEqual([]);
    await until(HOUR + SECOND, SECOND);
    expect(titles()).toEqual(['Digest · 4 transfers']);
    await until(3 * HOUR);
    expect(titles()).toHaveLength(1);
  });

  it('posts a daily digest at the end of the day in the server’s time zone', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'daily' });
    for (const n of [1, 2]) await send(n);
    await until(23 * HOUR - MINUTE, 10 * MINUTE);
    expect(titles()).toEqual([]);
    await until(23 * HOUR + MINUTE);
    expect(titles()).toEqual(['Digest · 2 transfers']);
  });

  it('posts alerts at once in a channel with a digest if another subscription wants that, also after a restart', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'daily' });
    await pipeline.watch(ALICE, ALERTS);
    await send(1, { from: STRANGER });
    await send(2, { to: STRANGER });
    await pipeline.restart();
    await send(3);
    expect(titles()).toEqual(['2', '3']);
    await until(23 * HOUR + MINUTE, 10 * MINUTE);
    expect(titles()).toEqual(['2', '3', '1']);
  });

  it('posts a due digest before alerts that arrived after it was due', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly' });
    await pipeline.watch(ALICE, ALERTS);
    await pipeline.watch(STRANGER, WHALES);
    await send(1, { from: STRANGER });
    await until(HOUR - MINUTE);
    const fault = { kind: 'error', status: 401, code: 0 } as const;
    const refused = pipeline.discord.fault({ fault, path: MESSAGES });
    await send(7, { from: STRANGER, to: OTHERS });
    await until(HOUR + MINUTE);
    await send(2, { to: OTHERS });
    refused.clear();
    expect(titles()).toEqual([]);
    await until(2 * HOUR);
    expect(titles()).toEqual(['1', '2']);
  });

  it('mentions a role with a digest if one of its alerts reaches the role’s minimum', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly', token: USDC, mention: ROLE, mentionMinimum: '100' });
    for (const n of [1, 100]) await send(n);
    await until(HOUR + MINUTE);
    for (const n of [2, 3]) await send(n);
    await until(2 * HOUR + MINUTE);
    const contents = pipeline.discord.messages(ALERTS).map(({ message }) => message.content);
    expect(contents).toEqual([`🗂️ Digest · 2 transfers <@&${ROLE}>`, '']);
  });

  it('keeps a digest of a blocked channel for seven days after it was due', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'daily' });
    pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS });
    for (const n of [1, 2]) await send(n);
    await until(7 * DAY + 20 * HOUR, HOUR);
    expect((await pipeline.backlog()).deadLetters).toBe(0);
    await until(8 * DAY + 6 * HOUR, HOUR);
    expect([await pipeline.settled(), (await pipeline.backlog()).deadLetters]).toEqual([true, 2]);
  });
});

describe('quiet hours', () => {
  beforeEach(() => pipeline.watch(TREASURY, ALERTS, { quiet: '22:00-07:00' }));

  it('posts one summary after quiet hours, alerts at once outside of them, and a single held one as it is', async () => {
    for (const n of [1, 2, 3]) await send(n);
    await until(6 * HOUR - MINUTE, 10 * MINUTE);
    expect(titles()).toEqual([]);
    await until(6 * HOUR + MINUTE);
    expect(titles()).toEqual(['Digest · 3 transfers']);
    await send(4);
    expect(titles()).toEqual(['Digest · 3 transfers', '4']);
    await until(24 * HOUR, HOUR);
    await send(5);
    await until(30 * HOUR + MINUTE, HOUR);
    expect(titles()).toEqual(['Digest · 3 transfers', '4', '5']);
  });
});

describe('bursts', () => {
  const rush = async (alerts: number) => {
    for (let n = 1; n <= alerts; n++) {
      await pipeline.pay(n);
      await pipeline.pass(5 * SECOND);
    }
  };
  const digests = () => titles().filter((title) => title?.startsWith('Digest'));

  it('posts 61 alerts of a burst, then digests at growing intervals, also across a restart', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await rush(61);
    expect(titles()).toHaveLength(61);
    await send(1);
    expect(titles()).toHaveLength(61);
    expect(pipeline.deliverer.pauses(HARBOR)).toMatchObject([{ channelId: ALERTS, reason: 'burst' }]);
    await pipeline.pass(6 * SECOND);
    expect(pipeline.deliverer.pauses(HARBOR)).toEqual([]);
    expect(titles().slice(61)).toEqual(['1']);
    await rush(2 + 4 + 8);
    // A restart takes six seconds.
    await pipeline.restart();
    await rush(9 + 10 + 10);
    const counted = [2, 4, 8, 9, 10, 10].map((alerts) => `Digest · ${alerts} transfers`);
    expect(digests()).toEqual(counted);
    await rush(5);
    await pipeline.pass(20 * SECOND);
    expect(digests()).toEqual(counted);
    await pipeline.pass(5 * SECOND);
    expect(digests()).toEqual([...counted, 'Digest · 5 transfers']);
    await pipeline.pass(MINUTE);
    await send(1);
    expect(titles().at(-1)).toBe('1');
  });
});
