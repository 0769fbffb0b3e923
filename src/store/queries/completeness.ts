import type { AddressText } from '../../domain/address.ts';
import type { LeftBalance } from '../../domain/balance.ts';
import type { CheckProgress, StoredTransfer } from '../../domain/completeness.ts';
import { operatorScope } from '../../domain/inbox.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { alsoIs, insertAll, isIn, type QueriesOf, raw, read, report, rows, unsynced, update, write } from '../sql.ts';
import type { BalanceFacts, ChainChecks, ConcernedBalance } from '../store.ts';
import { placeForNotices, writeNotice } from './channels.ts';
import { requestChanges } from './edits.ts';
import { META_KEYS, putValue, valueAt } from './meta.ts';
import { scopesOf } from './projects.ts';
import { LABEL_OF_SUBSCRIPTION } from './subscriptions.ts';

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
    const compared = await valueAt(sql, META_KEYS.checked + network);
    if (compared === null) return null;
    const balances = await sql.all<{ address: AddressText; balance: string }>`
      SELECT address, balance FROM checked_balances WHERE network = ${network}`;
    return {
      progress: JSON.parse(compared) as CheckProgress,
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

  decided: report(
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

const MAX_CONCERNED = 500;

/** A dim line shows no balance, so that nobody can use up the node with tokens that are worth nothing. */
const SHOWS = raw(`s.show_balance = 1 AND d.outcome = 'matched' AND NOT (
  t.worthless = 1 AND t.from_address IS DISTINCT FROM d.address AND EXISTS (
    SELECT 1 FROM catalog c WHERE c.network = t.network AND c.token = t.token AND c.cataloged = 0))`);

export const balances: QueriesOf<BalanceFacts> = {
  concerned: read(async (sql, after) => {
    const last = (await sql.value<number>`SELECT max(id) FROM decisions`) ?? 0;
    if (after === null || last <= after) return { last, concerned: [] };
    const found = await sql.all<ConcernedBalance & { id: number }>`
      SELECT d.id, d.transfer_id, d.address, t.network, t.data AS transfer_json, s.id AS subscription,
        ${SHOWS} AS shows_flag, s.warn_below IS NOT NULL AS warns_flag
      FROM decisions d CROSS JOIN subscriptions s CROSS JOIN transfers t
      WHERE d.id > ${after} AND d.id <= ${last} AND s.id = d.subscription_id AND t.id = d.transfer_id
        AND (s.warn_below IS NOT NULL OR (${SHOWS}))
      ORDER BY d.id LIMIT ${MAX_CONCERNED}`;
    return {
      last: found.length === MAX_CONCERNED ? found.at(-1)!.id : last,
      concerned: found.map(({ id: _, ...row }) => row),
    };
  }),

  keep: write(async (sql, balances, isShown, now) => {
    const byTransfer = Map.groupBy(balances, ({ transferId }) => transferId);
    const ids = [...byTransfer.keys()];
    const found = await sql.all<{ id: number; transfer: Transfer }>`
      SELECT id, data AS transfer_json FROM transfers WHERE id ${isIn(ids)}`;
    for (const { id, transfer } of found) {
      const [{ block }] = byTransfer.get(id)! as [LeftBalance];
      const before = transfer.balances?.block === block ? transfer.balances.of : {};
      const added = Object.fromEntries(byTransfer.get(id)!.map(({ address, balance }) => [address, balance]));
      const data = { ...transfer, balances: { block, of: { ...before, ...added } } };
      await update(sql, 'transfers', { id }, { data });
    }
    // Digests show no balances.
    return isShown ? requestChanges(sql, ids, now, ['create']) : [];
  }),

  watched: report(
    (sql, network) =>
      sql.all`
        SELECT id AS subscription, guild_id, channel_id, address, mention, ${LABEL_OF_SUBSCRIPTION} AS label, muted_until,
          warn_below, l.low AS is_low_flag
        FROM subscriptions LEFT JOIN low_balances l ON l.subscription_id = id AND l.network = ${network}
          AND l.rule = warn_below
        WHERE warn_below IS NOT NULL AND paused = 0 AND coalesce(subscriptions.network, ${network}) = ${network}
        ORDER BY id`,
  ),

  record: write(async (sql, { subscription, network, warnBelow, isLow }, notice) => {
    const before = await sql.get<{ low: 0 | 1 | null }>`
      SELECT l.low FROM subscriptions s
      LEFT JOIN low_balances l ON l.subscription_id = s.id AND l.network = ${network} AND l.rule = s.warn_below
      WHERE s.id = ${subscription} AND s.warn_below = ${warnBelow} AND s.paused = 0`;
    if (!before) return false;
    const state = { subscriptionId: subscription, network, rule: warnBelow, low: isLow };
    await insertAll(sql, 'low_balances', [state], { key: 'subscription_id, network' });
    const isCrossed = isLow !== (before.low === 1);
    if (isCrossed) await writeNotice(sql, notice);
    return isCrossed;
  }),

  statements: report(
    (sql) =>
      sql.all`
        SELECT g.guild_id, g.statement AS period, g.timezone, s.until, coalesce(s.closing, '{}') AS closing_json
        FROM guilds g LEFT JOIN statements s ON s.guild_id = g.guild_id WHERE g.statement IS NOT NULL`,
  ),

  beginStatements: write(async (sql, guildId, until) => {
    await insertAll(sql, 'statements', [{ guildId, until }], { rest: 'ON CONFLICT (guild_id) DO NOTHING' });
  }),

  postStatement: write(async (sql, { guildId, since, until, closing }, notice) => {
    const changed = await update(sql, 'statements', { guildId, until: since }, { until, closing });
    if (changed === 0 || notice === null) return null;
    const channelId = await placeForNotices(sql, guildId, '');
    if (channelId !== null) await writeNotice(sql, { ...notice, guildId, channelId, aboutChannelId: null });
    return channelId;
  }),

  wallets: report(async (sql, guildId, network) => ({
    scope: (await scopesOf(sql, guildId, network))[0]!,
    wallets: await sql.all`
      SELECT address, min(created_at) AS since, min(${LABEL_OF_SUBSCRIPTION}) AS label FROM subscriptions
      WHERE guild_id = ${guildId} AND coalesce(network, ${network}) = ${network} GROUP BY address ORDER BY min(id)`,
  })),
};
