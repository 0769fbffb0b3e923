import type { ActivityQuery, DecidedTransfer, PostedIn } from '../../domain/movements.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';
import type { Connection, Statements } from './connection.ts';

type Decided = Pick<DecidedTransfer, 'transferId' | 'at' | 'outcomes'>;

const OF_ADDRESS = 'guild_id = $1 AND at BETWEEN $2 AND $3 AND address = $4';

/** What was decided about addresses; every method stays within one guild. */
export function activityReader(db: Connection) {
  return {
    async activityChannels({ guildId, since, until, address }: Omit<ActivityQuery, 'channelIds'>): Promise<string[]> {
      const rows = await db.reads.all<{ channelId: string }>(
        `SELECT DISTINCT channel_id AS "channelId" FROM decisions WHERE ${OF_ADDRESS} ORDER BY 1`,
        guildId,
        since,
        until,
        address,
      );
      return rows.map(({ channelId }) => channelId);
    },

    decidedTransfers: (query: ActivityQuery, limit: number): Promise<DecidedTransfer[]> =>
      db.read(async (sql) => {
        const decided = await latestDecided(sql, query, limit);
        const stored = await storedTransfers(
          sql,
          query.guildId,
          decided.map(({ transferId }) => transferId),
        );
        return decided.map((one) => ({ ...one, ...stored.get(one.transferId)! }));
      }),

    postedIn: (guildId: string, transferIds: readonly number[], channelIds: readonly string[]): Promise<PostedIn[]> =>
      db.reads.all<PostedIn>(
        `SELECT asked.id AS "transferId", m.* FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, place)
           CROSS JOIN LATERAL (
             SELECT b.channel_id AS "channelId", b.message_id AS "messageId"
             FROM alerts a JOIN batches b ON b.id = a.batch_id
             WHERE a.transfer_id = asked.id AND a.guild_id = $1 AND b.state = 'sent' AND b.message_id IS NOT NULL
               AND a.channel_id = ANY($3::text[]) ORDER BY a.id LIMIT 1) AS m
         ORDER BY asked.place`,
        guildId,
        transferIds,
        channelIds,
      ),
  };
}

/** All decisions of the latest moments that together hold `limit` transfers. */
async function latestDecided(
  sql: Statements,
  { guildId, since, until, address, channelIds }: ActivityQuery,
  limit: number,
): Promise<Decided[]> {
  return sql.all<Decided>(
    `WITH latest AS MATERIALIZED (
       SELECT transfer_id, max(at) AS at FROM decisions WHERE ${OF_ADDRESS} AND channel_id = ANY($5::text[])
       GROUP BY transfer_id ORDER BY max(at) DESC LIMIT $6)
     SELECT transfer_id AS "transferId", max(at) AS at, array_agg(outcome ORDER BY at DESC, id DESC) AS outcomes
     FROM decisions WHERE ${OF_ADDRESS} AND channel_id = ANY($5::text[]) AND at >= (SELECT min(at) FROM latest)
     GROUP BY transfer_id ORDER BY max(at) DESC, max(id) DESC`,
    guildId,
    since,
    until,
    address,
    channelIds,
    limit,
  );
}

type Stored = Pick<DecidedTransfer, 'transfer' | 'count' | 'warnings'>;

async function storedTransfers(sql: Statements, guildId: string, ids: readonly number[]): Promise<Map<number, Stored>> {
  const transfers = await sql.all<{ id: number; data: string; count: number }>(
    'SELECT id, data, count FROM transfers WHERE id = ANY($1::bigint[])',
    ids,
  );
  const alerts = await sql.all<{ transferId: number; warnings: string }>(
    `SELECT transfer_id AS "transferId", warnings FROM alerts
     WHERE transfer_id = ANY($1::bigint[]) AND guild_id = $2 ORDER BY id`,
    ids,
    guildId,
  );
  const warnings = Map.groupBy(alerts, ({ transferId }) => transferId);
  return new Map(
    transfers.map(({ id, data, count }) => {
      const found = (warnings.get(id) ?? []).flatMap((alert) => JSON.parse(alert.warnings) as Warning[]);
      return [id, { transfer: JSON.parse(data) as Transfer, count, warnings: found }];
    }),
  );
}
