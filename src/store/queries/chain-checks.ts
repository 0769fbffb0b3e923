import type { AddressText } from '../../domain/address.ts';
import type { CheckProgress, StoredTransfer } from '../../domain/completeness.ts';
import { operatorScope } from '../../domain/project.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { alsoIs, insertAll, isIn, type QueriesOf, report, rows, unsynced, update, write } from '../sql.ts';
import type { ChainChecks } from '../store.ts';
import { requestChanges } from './edits.ts';
import { META_KEYS, putValue, valueAt } from './meta.ts';

/** Most late transfers that are read at once. */
const MAX_LATE = 100;

export const chainChecks: QueriesOf<ChainChecks> = {
  watched: report(
    (sql, network) =>
      sql.all`
        SELECT scope, address, min(since) AS since FROM (
          SELECT coalesce(own.id, ${operatorScope(network)}) AS scope, s.address, s.created_at AS since
          FROM subscriptions s
          LEFT JOIN projects own ON own.guild_id = s.guild_id AND own.network = ${network}
          WHERE coalesce(s.network, ${network}) = ${network}) AS watched
        GROUP BY scope, address`,
  ),

  progress: report(async (sql, network) => {
    const value = await valueAt(sql, META_KEYS.checked + network);
    if (value === null) return null;
    const balances = await sql.all<{ address: AddressText; balance: string }>`
      SELECT address, balance FROM checked_balances WHERE network = ${network}`;
    return {
      progress: JSON.parse(value) as CheckProgress,
      balances: new Map(balances.map(({ address, balance }) => [address, BigInt(balance)])),
    };
  }),

  // What a power failure undoes is compared again.
  advance: unsynced(async (sql, network, progress, balances) => {
    await putValue(sql, META_KEYS.checked + network, JSON.stringify(progress));
    await sql.run`DELETE FROM checked_balances WHERE network = ${network}`;
    const rows = [...balances].map(([address, balance]) => ({ network, address, balance: balance.toString() }));
    await insertAll(sql, 'checked_balances', rows);
  }),

  stored: report(
    (sql, network, { after, upTo }, addresses, txHashes) =>
      sql.all`
        SELECT id, scope, count, data AS transfer_json FROM transfers
        WHERE network = ${network} AND block > ${after} AND block <= ${upTo}
          AND (from_address ${isIn(addresses)} OR to_address ${isIn(addresses)} OR token ${isIn(addresses)})
        UNION
        SELECT t.id, t.scope, t.count, t.data
        FROM ${rows(
          txHashes.map((hash) => ({ hash })),
          'q (hash text)',
        )} CROSS JOIN transfers t
        WHERE substr(t.tx_hash, 3, 8) = substr(q.hash, 3, 8) AND t.tx_hash = q.hash
          AND +t.network = ${network}`,
  ),

  told: report(
    (sql, network, scope, transferIds) =>
      sql.list`
      SELECT t.id FROM transfers t WHERE t.id ${isIn(transferIds)} AND NOT EXISTS (
        SELECT 1 FROM subscriptions s LEFT JOIN projects own ON own.guild_id = s.guild_id AND own.network = ${network}
        WHERE s.address IN (t.from_address, t.to_address, t.token) AND coalesce(s.network, ${network}) = ${network}
          AND coalesce(own.id, ${operatorScope(network)}) = ${scope}
          AND NOT EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id AND guild_id = s.guild_id))`,
  ),

  late: report(async (sql, network, seen, block) => {
    const last = (await sql.value<number>`SELECT max(id) FROM transfers`) ?? 0;
    const found = await sql.all<StoredTransfer>`
      SELECT id, scope, count, data AS transfer_json FROM transfers
      WHERE id > ${seen} AND id <= ${last} AND +network = ${network} AND +block <= ${block} AND mined_at IS NULL
      ORDER BY id LIMIT ${MAX_LATE}`;
    return { upTo: found.length < MAX_LATE ? last : found.at(-1)!.id, found };
  }),

  correct: write(async (sql, wrong, now) => {
    for (const { id, count } of wrong) {
      const transfer = await sql.value<Transfer>`SELECT data AS transfer_json FROM transfers WHERE id = ${id}`;
      if (!transfer) continue;
      await update(sql, 'transfers', { id }, { count, data: { ...transfer, settled: count } });
    }
    const ids = wrong.map(({ id }) => id);
    return requestChanges(sql, ids, now);
  }),

  missed: report(
    (sql, guildId, since) =>
      sql.all`
        SELECT t.id AS transfer_id, t.data AS transfer_json, t.network, t.scope, d.address, d.channel_id, t.seen_at AS at,
          t.mined_at
        FROM transfers t CROSS JOIN decisions d
        WHERE t.mined_at IS NOT NULL AND t.seen_at > ${since} AND d.transfer_id = t.id
          AND ${alsoIs('d.guild_id', guildId)} AND d.outcome = 'matched'
        ORDER BY t.seen_at DESC, d.id LIMIT 1000`,
  ),

  missedIn: report(
    (sql, since) =>
      sql.list`
        SELECT DISTINCT d.guild_id FROM transfers t CROSS JOIN decisions d
        WHERE t.mined_at IS NOT NULL AND t.seen_at > ${since} AND d.transfer_id = t.id AND d.outcome = 'matched'`,
  ),

  noticed: report(async (sql) => {
    const value = await valueAt(sql, META_KEYS.noticed);
    return value === null ? null : Number(value);
  }),

  setNoticed: unsynced((sql, at) => putValue(sql, META_KEYS.noticed, String(at))),

  deliveredAround: report(async (sql, scope, at) => ({
    before: await sql.value`
      SELECT max(seen_at) FROM transfers WHERE scope = ${scope} AND seen_at <= ${at} AND mined_at IS NULL`,
    after: await sql.value`
      SELECT min(seen_at) FROM transfers WHERE scope = ${scope} AND seen_at > ${at} AND mined_at IS NULL`,
  })),
};
