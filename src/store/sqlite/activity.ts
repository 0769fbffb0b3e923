import type { Database } from 'better-sqlite3';
import type { ActivityQuery, DecidedTransfer, PostedIn } from '../../domain/movements.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';

interface DecisionRow {
  transferId: number;
  at: number;
  outcome: string;
}

type Stored = Pick<DecidedTransfer, 'transfer' | 'count' | 'warnings'>;

/** What was decided about addresses; every method stays within one guild. */
export function activityReader(db: Database) {
  const decisions = db.prepare<Omit<ActivityQuery, 'channelIds'> & { channels: string }, DecisionRow>(
    `SELECT transfer_id AS transferId, at, outcome FROM decisions
     WHERE guild_id = @guildId AND at BETWEEN @since AND @until AND address = @address
       AND channel_id IN (SELECT value FROM json_each(@channels))
     ORDER BY at DESC, id DESC`,
  );
  const channels = db
    .prepare<Omit<ActivityQuery, 'channelIds'>, string>(
      `SELECT DISTINCT channel_id FROM decisions
       WHERE guild_id = @guildId AND at BETWEEN @since AND @until AND address = @address`,
    )
    .pluck();
  const transferOf = db.prepare<[number], { data: string; count: number }>(
    'SELECT data, count FROM transfers WHERE id = ?',
  );
  const warningsOf = db
    .prepare<[number, string], string>('SELECT warnings FROM alerts WHERE transfer_id = ? AND guild_id = ?')
    .pluck();
  const postedIn = db.prepare<[number, string, string], Omit<PostedIn, 'transferId'>>(
    `SELECT b.channel_id AS channelId, b.message_id AS messageId FROM alerts a JOIN batches b ON b.id = a.batch_id
     WHERE a.transfer_id = ? AND a.guild_id = ? AND b.state = 'sent' AND b.message_id IS NOT NULL
       AND a.channel_id IN (SELECT value FROM json_each(?)) ORDER BY a.id LIMIT 1`,
  );

  /** All decisions of the latest moments that together hold `limit` transfers. */
  function latest({ channelIds, ...query }: ActivityQuery, limit: number): Omit<DecidedTransfer, keyof Stored>[] {
    const found = new Map<number, Omit<DecidedTransfer, keyof Stored>>();
    let oldest = query.until;
    for (const { transferId, at, outcome } of decisions.iterate({ ...query, channels: JSON.stringify(channelIds) })) {
      if (at < oldest && found.size >= limit) break;
      oldest = at;
      const known = found.get(transferId);
      if (known) known.outcomes.push(outcome);
      else found.set(transferId, { transferId, at, outcomes: [outcome] });
    }
    return [...found.values()];
  }

  function stored(transferId: number, guildId: string): Stored {
    const { data, count } = transferOf.get(transferId)!;
    const warnings = warningsOf.all(transferId, guildId).flatMap((text) => JSON.parse(text) as Warning[]);
    return { transfer: JSON.parse(data) as Transfer, count, warnings };
  }

  const read = db.transaction((query: ActivityQuery, limit: number): DecidedTransfer[] =>
    latest(query, limit).map((decided) => ({ ...decided, ...stored(decided.transferId, query.guildId) })),
  );

  return {
    activityChannels: (query: Omit<ActivityQuery, 'channelIds'>): string[] => channels.all(query),
    decidedTransfers: (query: ActivityQuery, limit: number): DecidedTransfer[] => read(query, limit),
    postedIn: (guildId: string, transferIds: readonly number[], channelIds: readonly string[]): PostedIn[] =>
      transferIds.flatMap((transferId) => {
        const message = postedIn.get(transferId, guildId, JSON.stringify(channelIds));
        return message ? [{ transferId, ...message }] : [];
      }),
  };
}
