import pg from 'pg';
import { IDS_OF_A_DAY } from '../../src/store/postgres/days.ts';

const DAY = 86_400_000;

/** Adds this many transfers of each of the days before today that nobody watched, each with a delivery. */
export async function fillDays(url: string, days: number, rows: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const today = Math.floor(Date.now() / DAY);
  const all = Array.from({ length: days }, (_, n) => today - days + n);
  await client.query('SELECT add_days($1::bigint[])', [all]);
  for (const day of all) {
    await client.query(`
      INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data, from_address, to_address, kind, token_type)
      SELECT ${day * IDS_OF_A_DAY} + n, decode(md5('${day} ' || n), 'hex'), 0, hash, ${day * DAY} + n * ${DAY} / ${rows}, 1, 1,
        '{"kind":"native","txHash":"' || hash || '","from":"0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b"' ||
        ',"to":"0x1ea1f375b5da185eb51edcbed23f3d401f8368ce","token":null,"value":"' || (n * 1000) ||
        '","tokenId":null,"tokenIdExact":true,"tokenType":"Native","tokenName":null,"tokenSymbol":null,"decimals":18' ||
        ',"internal":false,"blockNumber":18226326' ||
        ',"blockHash":"0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3","gasFee":null}',
        '0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b', '0x1ea1f375b5da185eb51edcbed23f3d401f8368ce', 'native', 'Native'
      FROM (SELECT n, '0x' || md5(n || ' ${day}') || md5('${day}' || n) AS hash FROM generate_series(1::bigint, ${rows}) AS n) AS made;
      INSERT INTO deliveries (transfer_id, key, count, owed, answered_at, received, seen_at, project_id, address_type,
        direction, last_at)
      SELECT id, decode(md5('d' || id), 'hex'), 1, FALSE, seen_at + 3, 1, seen_at, '62caedf9e2719e72815d0703', 'wallet',
        'incoming', seen_at FROM transfers WHERE id >= ${day * IDS_OF_A_DAY} AND id < ${(day + 1) * IDS_OF_A_DAY}`);
  }
  await client.query('VACUUM ANALYZE');
  await client.end();
}
