import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seed } from '../../../sandbox/discord/index.ts';
import {
  ALERTS,
  GENERAL,
  HARBOR,
  type Pipeline,
  payment,
  startPipeline,
  TREASURY,
  USDC,
  WHALES,
} from '../../pipeline/harness.ts';
import { readRows } from './beside.ts';

let world: Pipeline;
beforeEach(async () => {
  world = await startPipeline();
});
afterEach(() => world.close());

const ORCHID = { guildId: seed.orchid.id };
const rows = <T>(sql: string) => readRows<T>(world.file, sql);
function write(sql: string): void {
  const writer = new Database(world.file);
  writer.exec(sql);
  writer.close();
}

describe('stories', () => {
  it('shows a guild what happened to a transfer there, and nothing of other guilds', async () => {
    await world.watch(TREASURY, ALERTS, { label: 'Treasury' });
    const large = await world.watch(TREASURY, WHALES, { minimum: '1000' });
    await world.watch(TREASURY, seed.orchid.lobby, ORCHID);
    const body = payment();
    const txHash = String(body.txHash);
    await world.receive(body);
    await world.idle();
    world.clock.advance(20_000);
    await world.receive(body);
    await world.idle();

    const { total, first } = await world.store.history.transfers(HARBOR, txHash, null, world.clock.now(), 5);
    const [story] = first;
    expect([total, first.length]).toEqual([1, 1]);
    expect(story).toMatchObject({ count: 1, own: false, reorganized: false, deliveries: [{ received: 2 }] });
    expect(story!.decisions).toMatchObject([
      { channelId: ALERTS, outcome: 'matched', label: 'Treasury', address: TREASURY },
      { subscription: large, channelId: WHALES, outcome: 'minimum' },
    ]);
    const [message] = world.discord.messages(ALERTS);
    expect(story!.alerts).toMatchObject([
      { channelId: ALERTS, state: 'sent', message: { messageId: message!.message.id, alerts: 1, together: 1 } },
    ]);

    const { first: others } = await world.store.history.transfers(ORCHID.guildId, txHash, null, world.clock.now(), 5);
    const [elsewhere] = others;
    expect(elsewhere!.alerts.map(({ channelId }) => channelId)).toEqual([seed.orchid.lobby]);
    expect(elsewhere!.decisions.map(({ channelId }) => channelId)).toEqual([seed.orchid.lobby]);
  });

  it('counts the transfers of a very large transaction and reads only the first ones', async () => {
    await world.watch(TREASURY, ALERTS);
    const body = payment();
    for (let n = 1; n <= 4; n++) await world.receive({ ...body, value: String(n) });
    await world.idle();
    const { total, first } = await world.store.history.transfers(
      HARBOR,
      String(body.txHash),
      null,
      world.clock.now(),
      2,
    );
    expect(total).toBe(4);
    expect(first.map(({ transfer }) => transfer.value)).toEqual(['1', '2']);
  });

  it('shows deliveries, decisions, alerts and their last failures in order of time', async () => {
    for (const channel of [WHALES, ALERTS, GENERAL]) await world.watch(TREASURY, channel);
    await world.watch(USDC, ALERTS);
    const body = payment();
    const watchers = [
      { addressType: 'Token', direction: null },
      { addressType: 'Wallet', direction: 'incoming' },
      { addressType: 'Wallet', direction: 'outgoing' },
      { addressType: 'Token', direction: 'outgoing' },
      { addressType: 'Wallet', direction: null },
    ] as const;
    for (const watcher of watchers) {
      await world.receive({ ...body, ...watcher });
      world.clock.advance(1_000);
    }
    await world.receive({ ...body, value: '6' });
    await world.receive(payment());
    await world.idle();
    for (const reason of ['first', 'last']) {
      write(`INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
        SELECT 'alert', min(id), channel_id, '', '${reason}', ${reason.length} FROM alerts`);
    }
    const { first } = await world.store.history.transfers(HARBOR, String(body.txHash), null, world.clock.now(), 5);
    expect(first.map(({ transfer }) => transfer.value)).toEqual(['5000000', '6']);
    const [story] = first;
    expect(story!.deliveries.map(({ addressType, direction }) => ({ addressType, direction }))).toEqual(
      watchers.map(({ addressType, direction }) => ({ addressType: addressType.toLowerCase(), direction })),
    );
    const lines = rows<{ channel: string }>('SELECT channel_id AS channel FROM alerts ORDER BY id LIMIT 3');
    expect(story!.alerts.map(({ channelId }) => channelId)).toEqual(lines.map(({ channel }) => channel));
    const asked = rows<{ one: number }>('SELECT subscription_id AS one FROM decisions ORDER BY id LIMIT 4');
    expect(story!.decisions.map(({ subscription }) => subscription)).toEqual(asked.map(({ one }) => one));
    expect(story!.alerts[0]).toMatchObject({ dead: { reason: 'last', at: 4 } });
    expect(story!.alerts[1]).toMatchObject({ dead: null });
  });

  it('counts the alerts of a message, and those of the same transaction', async () => {
    await world.watch(TREASURY, ALERTS);
    // All three are there before the first is sent.
    world.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**', times: 1 });
    const body = payment();
    for (const one of [payment(), body, { ...body, value: '6' }, payment()]) await world.receive(one);
    await world.turnUntilSettled();
    const { first } = await world.store.history.transfers(HARBOR, String(body.txHash), null, world.clock.now(), 5);
    const messages = first.map(({ alerts }) => alerts[0]!.message!);
    const all = rows<{ n: number }>('SELECT count(*) AS n FROM alerts GROUP BY batch_id').map(({ n }) => n);
    expect(messages.map(({ together }) => together)).toEqual([2, 2]);
    expect(all).toContain(messages[0]!.alerts);
    expect(messages[0]!.alerts).toBeGreaterThan(2);
  });

  it('counts a digest as it was posted, without reading all of its alerts', async () => {
    await world.watch(TREASURY, ALERTS, { digest: 'hourly' });
    const body = payment();
    for (const one of [body, payment(), payment()]) await world.receive(one);
    await world.idle();
    await world.pass(2 * 3_600_000, 60_000);
    write('DELETE FROM alerts WHERE id = (SELECT max(id) FROM alerts)');
    const { first } = await world.store.history.transfers(HARBOR, String(body.txHash), null, world.clock.now(), 5);
    expect(first).toMatchObject([{ alerts: [{ state: 'sent', message: { kind: 'digest', alerts: 3 } }] }]);
  });

  it('shows transfers that nobody in the guild watches only to the guild whose project they came from', async () => {
    await world.watch(TREASURY, seed.orchid.lobby, ORCHID);
    const body = payment();
    await world.receive(body);
    await world.idle();
    const stories = (scope: number | null) =>
      world.store.history.transfers(HARBOR, String(body.txHash), scope, world.clock.now(), 5);
    expect(await stories(null)).toEqual({ total: 0, first: [] });
    expect(await stories(0)).toMatchObject({ total: 1, first: [{ own: true, decisions: [], alerts: [] }] });
  });
});

it('reads a report without waiting for a writer', async () => {
  await world.watch(TREASURY, ALERTS);
  const body = payment();
  await world.receive(body);
  await world.idle();
  const writer = new Database(world.file);
  writer.exec('BEGIN IMMEDIATE; DELETE FROM decisions');
  expect(await world.store.history.transfers(HARBOR, String(body.txHash), null, world.clock.now(), 5)).toMatchObject({
    first: [{ decisions: [{ outcome: 'matched' }] }],
  });
  writer.exec('ROLLBACK');
  writer.close();
});
