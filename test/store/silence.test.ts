import type { Database } from 'better-sqlite3';
import { expect, it } from 'vitest';
import { SILENCE_RULE } from '../../src/domain/silence.ts';
import { silenceReader } from '../../src/store/sqlite/silence.ts';
import { openHere, put, putTransfer } from './opened.ts';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;

let serial = 0;

/** An address that moved every hour until two days ago, unless said otherwise; answers its number. */
function watch(db: Database, rhythm: Record<string, number | null> = {}, guild = 'g', more = {}): number {
  const address = `0x${serial++}`;
  const row = { guild_id: guild, channel_id: 'c', address, created_by: 'u', created_at: 1, watch_silence: 1, ...more };
  const id = put(db, 'subscriptions', row);
  const usual = { events: 20, gap_ms: HOUR, last_event_at: NOW - 48 * HOUR, silence_reported_at: null, ...rhythm };
  put(db, 'activity_stats', { subscription_id: id, ...usual });
  return id;
}

it('an address is current that moved twenty times, every two hours at least, and not for twelve times as long', () => {
  const db = openHere();
  const { current } = silenceReader(db);
  const ids = [
    watch(db),
    watch(db, { events: 19 }),
    watch(db, { gap_ms: 2 * HOUR, last_event_at: NOW - 24 * HOUR }),
    watch(db, { gap_ms: 2 * HOUR + 1 }),
    watch(db, { last_event_at: NOW - 12 * HOUR + 1 }),
    watch(db, { last_event_at: NOW - 50 * HOUR }),
    watch(db, {}, 'g', { paused: 1 }),
    watch(db, {}, 'another'),
  ];
  const found = current('g', SILENCE_RULE, NOW).map(({ subscription }) => subscription);
  expect(found).toEqual([ids[5], ids[0], ids[2]]);
});

it('silences are to be pointed out where that is wanted, nobody muted it, and they were not yet', () => {
  const db = openHere();
  const { unreported } = silenceReader(db);
  const ids = [
    watch(db),
    watch(db, { last_event_at: NOW - 50 * HOUR }, 'another'),
    watch(db, {}, 'g', { watch_silence: 0 }),
    watch(db, { silence_reported_at: 1 }),
    watch(db, {}, 'g', { muted_until: NOW + 1 }),
    watch(db, {}, 'g', { muted_until: NOW }),
  ];
  const found = unreported(SILENCE_RULE, NOW).map(({ subscription }) => subscription);
  expect(found).toEqual([ids[0], ids[1], ids[5]]);
});

it('whether a server’s feed lives is told by the latest transfer of its own project, or the operator’s where it has none', () => {
  const db = openHere();
  const { unreported } = silenceReader(db);
  for (const guild of ['own', 'empty', 'none']) watch(db, {}, guild);
  const project = (guild: string) =>
    put(db, 'projects', { guild_id: guild, project_id: 'p', sealed: '', updated_by: 'u', updated_at: 1 });
  const scope = project('own');
  project('empty');
  for (const at of [20, 90, 30]) putTransfer(db, at);
  for (const at of [40, 70, 50]) putTransfer(db, at, {}, scope);
  expect(unreported(SILENCE_RULE, NOW).map(({ guildId, feedAt }) => [guildId, feedAt])).toEqual([
    ['own', 70],
    ['empty', null],
    ['none', 90],
  ]);
});
