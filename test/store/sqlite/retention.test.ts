import Database from 'better-sqlite3';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { openStore } from '../../../src/store/sqlite/client.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { startUpkeep } from '../../../src/upkeep.ts';
import { temporaryFile } from '../../lifecycle/bot.ts';
import { until } from '../../until.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** More than are forgotten at once. */
const OLD = 1_200;

const read = <T>(file: string, sql: string): T[] => {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare<[], T>(sql).all();
  db.close();
  return rows;
};

it('keeps transfers for 30 days, then deletes them, but nothing that still has to be posted', async () => {
  const file = temporaryFile();
  const { db, close } = openDatabase(file);
  const clock = createManualClock();
  const now = clock.now();
  const add = db.transaction((name: string, age: number, state: string, scope = 0) => {
    const at = now - age;
    const { lastInsertRowid: transfer } = db
      .prepare(
        "INSERT INTO transfers (key, scope, tx_hash, seen_at, count, bodies, data) VALUES (?, ?, '0x1', ?, 1, 1, '{}')",
      )
      .run(name, scope, at);
    db.prepare(
      'INSERT INTO deliveries (transfer_id, key, count, owed, received, seen_at) VALUES (?, ?, 1, 0, 1, ?)',
    ).run(transfer, name, at);
    db.prepare(
      "INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome) VALUES (?, 'g', 'c', 1, ?)",
    ).run(transfer, name);
    const { lastInsertRowid: batch } = db
      .prepare(
        `INSERT INTO batches (channel_id, kind, nonce, reference, payload, state, frozen_at)
         VALUES ('c', 'create', 'n', ?, '{}', 'sent', ?)`,
      )
      .run(name, at);
    const { lastInsertRowid: alert } = db
      .prepare(
        `INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at, state, batch_id)
         VALUES (?, 'g', 'c', '[]', ?, ?, ?)`,
      )
      .run(transfer, at, state, state === 'waiting' ? null : batch);
    if (name === 'dead letter')
      db.prepare(
        "INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at) VALUES ('alert', ?, 'c', '', 'r', 1)",
      ).run(alert);
  });
  for (let n = 0; n < OLD; n++) add(`old ${n}`, 30 * DAY + HOUR, n % 2 ? 'sent' : 'dead', n % 3);
  add('waits', 40 * DAY, 'waiting');
  add('dead letter', 40 * DAY, 'dead');
  add('young', 30 * DAY - 2 * HOUR, 'sent');
  close();

  const kept = (column: string, table: string) =>
    read<{ name: string }>(file, `SELECT ${column} AS name FROM ${table} ORDER BY 1`).map(({ name }) => name);
  const opened = await openStore(file);
  onTestFinished(() => opened.close());
  // At most a day's worth is forgotten an hour: what is older than that was forgotten before.
  await opened.store.retention.setForgottenBefore(now - 30 * DAY - 2 * HOUR);
  const stop = startUpkeep(opened.store, clock, pino({ level: 'silent' }), {
    look: () => undefined,
    since: (ms) => clock.now() - ms,
    isMember: async () => true,
    onBegun: async () => undefined,
  });
  onTestFinished(stop);
  clock.advance(HOUR);
  await until('3 transfers are left', () => kept('key', 'transfers').length === 3);
  expect(kept('key', 'transfers')).toEqual(['dead letter', 'waits', 'young']);
  expect(kept('outcome', 'decisions')).toEqual(['dead letter', 'waits', 'young']);
  expect(kept('state', 'alerts')).toEqual(['dead', 'sent', 'waiting']);
  expect(kept('key', 'deliveries')).toEqual(['dead letter', 'waits', 'young']);
  await until('2 messages are left', () => kept('reference', 'batches').length === 2);
  expect(kept('reference', 'batches')).toEqual(['dead letter', 'young']);
});
