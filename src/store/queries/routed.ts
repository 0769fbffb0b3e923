import type { SeenTransfer } from '../../domain/identity.ts';
import type { RoutingResult } from '../../domain/routing.ts';
import { StoreError } from '../../errors.ts';
import { insertAll, isIn, rows, type Sql, update, upsertAll } from '../sql.ts';
import { addChannels } from './channels.ts';
import { requestChanges } from './edits.ts';
import { keepLearned } from './tokens.ts';

/** Stores what was decided about deliveries; returns the channels in which sent messages must change. */
export async function storeRouted(sql: Sql, result: RoutingResult): Promise<string[]> {
  await takeFromInbox(sql, result);
  const routed = withoutRemoved(result, await putStats(sql, result));
  const { now } = routed;
  const ids = await putTransfers(sql, routed.transfers);
  const withId = <Row extends { transferKey: string }>(all: readonly Row[]) =>
    all.map(({ transferKey, ...row }) => ({ ...row, transferId: ids.get(transferKey)! }));
  await upsertAll(sql, 'deliveries', 'transfer_id, key', withId(routed.deliveries));
  await addChannels(sql, new Map(routed.alerts.map(({ channelId, guildId }) => [channelId, guildId])));
  const alerts = withId(routed.alerts).map(({ isSignificant, ...alert }) => {
    return { ...alert, significant: isSignificant, createdAt: now };
  });
  await insertAll(sql, 'alerts', alerts);
  const decisions = withId(routed.decisions).map(({ subscription, ...row }) => {
    return { ...row, subscriptionId: subscription };
  });
  await insertAll(sql, 'decisions', decisions);
  await keepLearned(sql, routed.learned);
  const changed = routed.changed.map((key) => ids.get(key)!);
  return requestChanges(sql, changed, now);
}

/**
 * Takes deliveries out of the inbox. If one is no longer there, its server was erased, or an earlier commit has stored
 * this already, although its response was lost: what was decided since counts it twice.
 */
async function takeFromInbox(sql: Sql, { done, quarantined }: RoutingResult): Promise<void> {
  if (quarantined.length > 0) {
    await sql.run`
      INSERT INTO quarantine (scope, received_at, run, run_ms, identity, reason, bytes, body)
      SELECT scope, received_at, run, run_ms, identity, q.reason, length(body), body
      FROM ${rows(quarantined, 'q (id bigint, reason text)')} CROSS JOIN inbox WHERE inbox.id = q.id ORDER BY inbox.id`;
  }
  const ids = [...done, ...quarantined.map(({ id }) => id)];
  if ((await sql.run`DELETE FROM inbox WHERE id ${isIn(ids)}`) < ids.length) {
    throw new StoreError('Deliveries have left the inbox since they were read; it is read again.', 'LEDGERBELL_ROUTED');
  }
}

/** An event ends a silence. Returns the subscriptions that were removed since the router read them. */
async function putStats(
  sql: Sql,
  { stats, concerned }: Pick<RoutingResult, 'stats' | 'concerned'>,
): Promise<Set<number>> {
  const latest = new Map(stats.map((each) => [each.subscription, each]));
  const removed = new Set([...latest.keys(), ...concerned]);
  const found = await sql.list<number>`SELECT id FROM subscriptions WHERE id ${isIn([...removed])}`;
  const rows = found.flatMap((id) => {
    const after = latest.get(id);
    if (!after) return [];
    const { events, lastEventAt, gapMs } = after;
    return { subscriptionId: id, events, lastEventAt, gapMs, silenceReportedAt: null };
  });
  await upsertAll(sql, 'activity_stats', 'subscription_id', rows);
  for (const id of found) removed.delete(id);
  return removed;
}

/** What remains to be stored when some subscriptions were removed after the router read them. */
function withoutRemoved(routed: RoutingResult, removed: ReadonlySet<number>): RoutingResult {
  if (removed.size === 0) return routed;
  const remains = ({ subscription }: { subscription: number }) => !removed.has(subscription);
  const decisions = routed.decisions.filter(remains);
  const watched = new Set(decisions.map(({ guildId, address }) => `${guildId} ${address}`));
  const counterparties = routed.learned.counterparties.filter(({ guildId, address }) =>
    watched.has(`${guildId} ${address}`),
  );
  return {
    ...routed,
    alerts: routed.alerts.filter(({ matches }) => matches.some(remains)),
    decisions,
    learned: { ...routed.learned, counterparties },
  };
}

/** Inserts or updates transfers; returns their ids by their keys. */
async function putTransfers(sql: Sql, transfers: readonly SeenTransfer[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const known = transfers.flatMap(({ id }) => id ?? []);
  // Rows may have been deleted since the router read them.
  const stored = await sql.all<{ id: number; key: string; count: number; reorganized: boolean; data: string }>`
    SELECT id, key, count, reorganized AS reorganized_flag, data FROM transfers WHERE id ${isIn(known)}`;
  for (const row of stored) ids.set(row.key, row.id);
  const byKey = new Map(stored.map((row) => [row.key, row]));
  const added: object[] = [];
  for (const { id: _, transfer, ...seen } of transfers) {
    const before = byKey.get(seen.key);
    const data = JSON.stringify(transfer);
    if (!before) {
      const { isWorthless: worthless, minedAt = null, ...columns } = seen;
      const { txHash, from, to, token, kind, tokenSymbol, tokenType, blockNumber: block } = transfer;
      const searched = { txHash, fromAddress: from, toAddress: to, token, kind, tokenSymbol, tokenType, block };
      added.push({ ...columns, worthless, minedAt, data, ...searched });
      continue;
    }
    // A repeat and a twin usually change nothing.
    if (before.count === seen.count && before.reorganized === seen.reorganized && before.data === data) continue;
    const { count, reorganized } = seen;
    await update(sql, 'transfers', { id: before.id }, { count, reorganized, data, block: transfer.blockNumber });
  }
  const inserted = await insertAll<{ id: number; key: string }>(sql, 'transfers', added, 'RETURNING id, key');
  for (const { id, key } of inserted) ids.set(key, id);
  return ids;
}
