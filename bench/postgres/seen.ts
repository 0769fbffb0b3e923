import pg from 'pg';
import { DAY } from '../../src/domain/clock.ts';
import { IDS_PER_DAY } from '../../src/store/postgres/partitions.ts';
import { positionOf, RETENTION_START } from '../../src/store/sql/cursors.ts';
import type { Cursor } from '../../src/store/store.ts';

/** The partition of transfers that were moved here, which are deleted row by row. */
const MOVED = 0;

/**
 * Adds this many transfers of each of the days before today that nobody watched, each with a delivery, and as many of the
 * oldest day as if they had been moved here. The keys come last and in their order, because 50 million are needed; their
 * index is as full as if they had come in random order.
 */
export async function fillDays(url: string, days: number, rows: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const today = Math.floor(Date.now() / DAY);
  const all = Array.from({ length: days }, (_, n) => today - days + n);
  await client.query('SELECT add_days($1::bigint[])', [all]);
  await client.query(`ALTER TABLE transfers DISABLE TRIGGER transfers_added;
    ALTER TABLE transfer_keys DROP CONSTRAINT transfer_keys_pkey; SET maintenance_work_mem = '1GB'`);
  await fillPartition(client, MOVED, all[0]!, rows);
  for (const day of all) await fillPartition(client, day, day, rows);
  await client.query(`INSERT INTO transfer_keys SELECT key, id FROM transfers;
    CREATE UNIQUE INDEX transfer_keys_pkey ON transfer_keys (key) WITH (fillfactor = 70);
    ALTER TABLE transfer_keys ADD PRIMARY KEY USING INDEX transfer_keys_pkey;
    ALTER TABLE transfers ENABLE TRIGGER transfers_added`);
  await client.query('VACUUM ANALYZE');
  await client.end();
}

async function fillPartition(client: pg.Client, partition: number, day: number, rows: number): Promise<void> {
  const first = partition * IDS_PER_DAY;
  await client.query(`
    INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, data, from_address, to_address, kind, token_type)
    SELECT ${first} + n, decode(md5('${partition} ' || n), 'hex'), 0, hash, ${day * DAY} + n * ${DAY} / ${rows}, 1,
      '{"kind":"native","txHash":"' || hash || '","from":"0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b"' ||
      ',"to":"0x1ea1f375b5da185eb51edcbed23f3d401f8368ce","token":null,"value":"' || (n * 1000) ||
      '","tokenId":null,"tokenIdExact":true,"tokenType":"Native","tokenName":null,"tokenSymbol":null,"decimals":18' ||
      ',"internal":false,"blockNumber":18226326' ||
      ',"blockHash":"0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3","gasFee":null}',
      '0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b', '0x1ea1f375b5da185eb51edcbed23f3d401f8368ce', 'native', 'Native'
    FROM (SELECT n, '0x' || md5(n || ' ${partition}') || md5('${partition}' || n) AS hash
      FROM generate_series(1::bigint, ${rows}) AS n) AS made;
    INSERT INTO deliveries (transfer_id, key, count, unacknowledged, answered_at, received, seen_at, project_id,
      address_type, direction, last_at)
    SELECT id, decode(md5('d' || id), 'hex'), 1, FALSE, seen_at + 3, 1, seen_at, '62caedf9e2719e72815d0703', 'wallet',
      'incoming', seen_at FROM transfers WHERE id >= ${first} AND id < ${first + IDS_PER_DAY}`);
}

/** Reads the index of the keys, so that it is in the system's memory, as with a bot that has run for long. */
export async function readKeys(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_prewarm; SELECT pg_prewarm('transfer_keys_pkey', 'read')");
  await client.end();
}

/** What a step of deletion works on: transfers that were moved here, by rows; the others, by days; then everything else. */
export function workOf(from: Cursor<'retention'> | null): 'rows' | 'days' | 'rest' {
  const position = from ? positionOf(from) : RETENTION_START;
  if (position.at !== 'transfers') return 'rest';
  return position.id < IDS_PER_DAY ? 'rows' : 'days';
}
