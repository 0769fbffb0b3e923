import type { LeftBalance } from '../../domain/balance.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { insertAll, isIn, type QueriesOf, read, report, update, upsertAll, write } from '../sql.ts';
import type { BalanceFacts, ConcernedBalance } from '../store.ts';
import { placeForNotices, writeNotice } from './channels.ts';
import { requestChanges } from './edits.ts';
import { scopesOf } from './projects.ts';
import { LABEL_OF_SUBSCRIPTION } from './subscriptions.ts';

/** Most decisions that are read at once. */
const MAX_CONCERNED = 500;

/** What transfers left, and who wants to know. */
export const balances: QueriesOf<BalanceFacts> = {
  concerned: read(async (sql, after) => {
    const last = (await sql.value<number>`SELECT max(id) FROM decisions`) ?? 0;
    if (after === null || last <= after) return { last, concerned: [] };
    const found = await sql.all<ConcernedBalance & { id: number }>`
      SELECT d.id, d.transfer_id, d.address, t.network, t.data AS transfer_json, s.id AS subscription,
        s.show_balance = 1 AND d.outcome = 'matched' AS shows_flag, s.warn_below IS NOT NULL AS warns_flag
      FROM decisions d CROSS JOIN subscriptions s CROSS JOIN transfers t
      WHERE d.id > ${after} AND d.id <= ${last} AND s.id = d.subscription_id AND t.id = d.transfer_id
        AND (s.warn_below IS NOT NULL OR (s.show_balance = 1 AND d.outcome = 'matched'))
      ORDER BY d.id LIMIT ${MAX_CONCERNED}`;
    return {
      last: found.length === MAX_CONCERNED ? found.at(-1)!.id : last,
      concerned: found.map(({ id: _, ...row }) => row),
    };
  }),

  keep: write(async (sql, left, isShown, now) => {
    const byTransfer = Map.groupBy(left, ({ transferId }) => transferId);
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
    await upsertAll(sql, 'low_balances', 'subscription_id, network', [state]);
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
    await insertAll(sql, 'statements', [{ guildId, until }], 'ON CONFLICT (guild_id) DO NOTHING');
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
