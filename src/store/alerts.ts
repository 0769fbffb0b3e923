import type { Database } from 'better-sqlite3';
import type { AddressText } from '../domain/address.ts';
import type { Mark } from '../domain/mark.ts';
import {
  BURST_LINES,
  BURST_MEMORY_MS,
  BURST_WINDOW_MS,
  burstUntil,
  type DigestReason,
  type Hold,
} from '../domain/rhythm.ts';
import type { Perspective } from '../domain/subscription.ts';
import type { Transfer } from '../domain/transfer.ts';

/** An alert as it is rendered: one transfer, with every subscription of the channel that it matched. */
export interface ClaimedAlert {
  id: number;
  guildId: string;
  channelId: string;
  createdAt: number;
  transfer: Transfer;
  /** How many equal transfers the transaction holds. */
  count: number;
  /** The transaction was seen in another block first. */
  reorganised: boolean;
  matches: {
    subscription: number;
    perspective: Perspective;
    address: AddressText;
    label: string | null;
    mention: string | null;
    mentionMinimum: string | null;
    mentionCooldown: number;
    mentionedAt: number | null;
  }[];
  marks: Mark[];
  /** The server's own names of the transfer's addresses. */
  labels: Partial<Record<AddressText, string>>;
  /** As the server's admins chose them. */
  language: string | null;
  timezone: string | null;
  /** Why it was not told at once. */
  hold: Hold | null;
}

/** What a rendered alert rests on that may change while it waits. */
export type Rendered = Pick<ClaimedAlert, 'id' | 'count' | 'reorganised'>;

/** Alerts of a channel that are to be told now. */
export interface DueLines {
  /** The oldest; those of one transaction follow each other. */
  alerts: ClaimedAlert[];
  /** How many there are altogether, and since when. */
  waiting: number;
  oldest: number;
  /** Why they are told together; null: line by line. */
  reason: DigestReason | null;
}

interface AlertRow extends Omit<ClaimedAlert, 'transfer' | 'reorganised' | 'matches' | 'marks' | 'labels'> {
  data: string;
  matches: string;
  reorganised: 0 | 1;
  marks: string;
}

interface Group {
  hold: Hold | null;
  waiting: number;
  oldest: number;
}

const COLUMNS = `a.id, a.guild_id AS guildId, a.channel_id AS channelId, a.created_at AS createdAt, a.matches,
  t.data, t.count, t.reorganised, a.marks, a.hold,
  (SELECT coalesce(language, locale) FROM guilds WHERE guild_id = a.guild_id) AS language,
  (SELECT timezone FROM guilds WHERE guild_id = a.guild_id) AS timezone`;

const UNNAMED = { label: null, mention: null, mentionMinimum: null, mentionCooldown: 0, mentionedAt: null };

/**
 * Tells whether what was rendered still holds: between the reading and the freezing of an alert the router may have
 * counted another equal transfer, and the line would say less for ever. `waiting`: whether they must wait still.
 */
export function renderedCheck(db: Database) {
  const holding = db.prepare<[string, 0 | 1], { n: number }>(
    `SELECT count(*) AS n FROM json_each(?) told CROSS JOIN alerts a ON a.id = told.value ->> 'id'
       JOIN transfers t ON t.id = a.transfer_id
     WHERE (a.state = 'waiting') >= ? AND t.count = told.value ->> 'count' AND t.reorganised = told.value ->> 'reorganised'`,
  );
  return (alerts: readonly Rendered[], waiting: boolean): boolean => {
    const told = alerts.map(({ id, count, reorganised }) => ({ id, count, reorganised: reorganised ? 1 : 0 }));
    return holding.get(JSON.stringify(told), waiting ? 1 : 0)!.n === alerts.length;
  };
}

/** Alerts of one transaction that go into one message at the most. */
const MOST_OF_ONE = 50;

/** Reads alerts as they are told. */
export function alertReader(db: Database) {
  const subscription = db.prepare<[number], Omit<ClaimedAlert['matches'][number], 'subscription' | 'perspective'>>(
    `SELECT label, mention, address, mention_minimum AS mentionMinimum, mention_cooldown AS mentionCooldown,
       mentioned_at AS mentionedAt FROM subscriptions WHERE id = ?`,
  );
  const labelsOf = db.prepare<[string, string | null, string | null, string | null], { address: string; name: string }>(
    'SELECT address, name FROM labels WHERE guild_id = ? AND address IN (?, ?, ?)',
  );
  const ofBatch = db.prepare<[number], AlertRow>(
    `SELECT ${COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id WHERE a.batch_id = ?
     ORDER BY a.due_at, a.id`,
  );

  const idsOfBatch = db
    .prepare<[number], number>('SELECT id FROM alerts WHERE batch_id = ? ORDER BY due_at, id')
    .pluck();
  const byId = db.prepare<[string], AlertRow>(
    `SELECT ${COLUMNS} FROM json_each(?) asked CROSS JOIN alerts a ON a.id = asked.value
       JOIN transfers t ON t.id = a.transfer_id ORDER BY asked.key`,
  );

  function claimed({ matches, data, reorganised, marks, ...row }: AlertRow): ClaimedAlert {
    const transfer = JSON.parse(data) as Transfer;
    const { from, to, token } = transfer;
    const labels = Object.fromEntries(labelsOf.all(row.guildId, from, to, token).map((one) => [one.address, one.name]));
    const named = (JSON.parse(matches) as { subscription: number; perspective: Perspective }[]).map((match) => ({
      ...match,
      // A subscription that was removed meanwhile leaves the address that it stood for.
      ...(subscription.get(match.subscription) ?? { ...UNNAMED, address: addressOf(match, transfer) }),
    }));
    return {
      ...row,
      transfer,
      reorganised: reorganised === 1,
      matches: named,
      marks: JSON.parse(marks) as Mark[],
      labels,
    };
  }

  return {
    claimed,
    ofBatch: (batchId: number) => byTransaction(ofBatch.all(batchId).map(claimed)),
    idsOfBatch: (batchId: number): number[] => idsOfBatch.all(batchId),
    byId: (ids: number[]): ClaimedAlert[] => byId.all(JSON.stringify(ids)).map(claimed),
  };
}

/** Which alerts of a channel are to be told now, and how. */
export function dueAlerts(db: Database) {
  const { claimed } = alertReader(db);
  // What was held back comes before what came meanwhile, which is due since 0.
  const group = db.prepare<[string, number], Group>(
    `SELECT hold, count(*) AS waiting, min(created_at) AS oldest FROM alerts
     WHERE channel_id = ? AND state = 'waiting' AND due_at <= ?
     GROUP BY hold ORDER BY hold IS NULL, min(due_at) LIMIT 1`,
  );
  const nextHeld = db.prepare<[string], { at: number | null }>(
    "SELECT min(due_at) AS at FROM alerts WHERE channel_id = ? AND state = 'waiting' AND hold IS NOT NULL",
  );
  const waiting = db.prepare<[string, Hold | null, number, number], AlertRow>(
    `SELECT ${COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ? ORDER BY a.due_at, a.id LIMIT ?`,
  );
  const following = db.prepare<[string, Hold | null, number, number, number, number], AlertRow>(
    `SELECT ${COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ?
       AND (a.due_at, a.id) > (coalesce((SELECT due_at FROM alerts WHERE id = ?), -1), ?) ORDER BY a.due_at, a.id LIMIT ?`,
  );
  // By the transaction, of which there are few, and not by the channel (+), in which thousands may wait.
  const ofTransaction = db.prepare<[string, string, string, Hold | null, number, number], AlertRow>(
    `SELECT ${COLUMNS} FROM transfers t CROSS JOIN alerts a ON a.transfer_id = t.id
     WHERE substr(t.tx_hash, 3, 8) = substr(?, 3, 8) AND t.tx_hash = ? AND +a.channel_id = ? AND a.state = 'waiting'
       AND a.hold IS ? AND a.due_at <= ?
     ORDER BY a.id LIMIT ?`,
  );
  const gatheredUntil = gathering(db);

  function read(channelId: string, hold: Hold | null, now: number, limit: number): ClaimedAlert[] {
    return waiting.all(channelId, hold, now, limit).map(claimed);
  }

  /** The oldest of so many alerts, with all others of their transactions. */
  function together(channelId: string, { hold, waiting: all }: Group, now: number, limit: number): ClaimedAlert[] {
    const oldest = read(channelId, hold, now, limit);
    if (oldest.length === all) return byTransaction(oldest);
    const known = new Set(oldest.map(({ id }) => id));
    const hashes = new Set(oldest.map(({ transfer }) => transfer.txHash));
    const others = [...hashes].flatMap((hash) =>
      ofTransaction.all(hash, hash, channelId, hold, now, MOST_OF_ONE).filter(({ id }) => !known.has(id)),
    );
    return byTransaction([...oldest, ...others.map(claimed)]);
  }

  return {
    /** Those of one hold that are due, oldest first, so many from the one that follows the alert `after` (0: the first). */
    page: (channelId: string, hold: Hold | null, now: number, after: number, limit: number): ClaimedAlert[] =>
      following.all(channelId, hold, now, after, after, limit).map(claimed),
    /**
     * What is told next: what was held back and is due, before what came meanwhile. `alone`: without the others of the
     * same transactions. `until`: when there will be something, if there is nothing now.
     */
    next(
      channelId: string,
      { limit, alone }: { limit: number; alone: boolean },
      now: number,
    ): DueLines | { until: number | null } {
      const take = (of: Group, reason: DigestReason | null): DueLines => ({
        alerts: alone ? read(channelId, of.hold, now, limit) : together(channelId, of, now, limit),
        waiting: of.waiting,
        oldest: of.oldest,
        reason,
      });
      const due = group.get(channelId, now);
      if (due && due.hold !== null) return take(due, due.hold);
      const gathered = due ? gatheredUntil(channelId, now) : null;
      if (due && (gathered === null || gathered <= now)) return take(due, gathered === null ? null : 'burst');
      const later = nextHeld.get(channelId)!.at;
      return { until: gathered === null ? later : Math.min(gathered, later ?? gathered) };
    },
  };
}

/** Tells until when a channel's lines are gathered; null: they are told one by one. */
export function gathering(db: Database) {
  const most = db.prepare<[string, number, number], { lines: number }>(
    `SELECT count(*) AS lines FROM (
       SELECT b.id FROM batches b CROSS JOIN alerts a ON a.batch_id = b.id
       WHERE b.channel_id = ? AND b.state = 'sent' AND b.sent_at > ? AND (b.kind = 'create' OR b.reason = 'burst')
       LIMIT ?)`,
  );
  // Lines of one transaction count once, because they are told as one.
  const told = db.prepare<[string, number, number], { lines: number }>(
    `SELECT count(*) AS lines FROM (
       SELECT DISTINCT b.id, t.tx_hash FROM batches b JOIN alerts a ON a.batch_id = b.id
         JOIN transfers t ON t.id = a.transfer_id
       WHERE b.channel_id = ? AND b.state = 'sent' AND b.sent_at > ? AND (b.kind = 'create' OR b.reason = 'burst')
       LIMIT ?)`,
  );
  const digested = db.prepare<[string, number], { digests: number }>(
    `SELECT count(*) AS digests FROM batches
     WHERE channel_id = ? AND state = 'sent' AND sent_at > ? AND reason = 'burst'`,
  );
  const lastTold = db.prepare<[string], { lastAt: number }>(
    `SELECT sent_at AS lastAt FROM batches
     WHERE channel_id = ? AND state = 'sent' AND (kind = 'create' OR reason = 'burst') ORDER BY sent_at DESC LIMIT 1`,
  );
  return (channelId: string, now: number): number | null => {
    const last = lastTold.get(channelId);
    if (!last) return null;
    const since = last.lastAt - BURST_WINDOW_MS;
    // Hardly ever does one have to look at the transactions.
    if (most.get(channelId, since, BURST_LINES + 1)!.lines <= BURST_LINES) return null;
    const { lines } = told.get(channelId, since, BURST_LINES + 1)!;
    const { digests } = digested.get(channelId, last.lastAt - BURST_MEMORY_MS)!;
    return burstUntil({ lines, digests, lastAt: last.lastAt }, now);
  };
}

function byTransaction(alerts: ClaimedAlert[]): ClaimedAlert[] {
  return [...Map.groupBy(alerts, ({ transfer }) => transfer.txHash).values()].flat();
}

function addressOf({ perspective }: { perspective: Perspective }, { from, to, token }: Transfer): AddressText {
  const address = perspective === 'incoming' ? to : perspective === 'token' ? token : from;
  return address ?? '0x0000000000000000000000000000000000000000';
}
