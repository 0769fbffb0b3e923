import type { Database } from 'better-sqlite3';
import { type Activity, type Movement, type Period, summarise, wayOf } from '../domain/activity.ts';
import { type AddressText, checksumAddress } from '../domain/address.ts';
import { formatAmount } from '../domain/amount.ts';
import { csvLine } from '../domain/csv.ts';
import type { Mark } from '../domain/mark.ts';
import type { DigestReason } from '../domain/rhythm.ts';
import { patienceMs, RHYTHM_EVENTS, RHYTHM_GAP_MS, type Silence } from '../domain/silence.ts';
import type { Perspective } from '../domain/subscription.ts';
import { plainText } from '../domain/text.ts';
import type { Transfer } from '../domain/transfer.ts';
import { gathering } from './alerts.ts';
import type { Batch, ChannelState, ClaimedAlert } from './outbox.ts';

/** Everything that is recorded of one transfer, as far as it is one guild's business. */
export interface Story {
  transfer: Transfer;
  /** How many equal ones the transaction holds. */
  count: number;
  reorganised: boolean;
  seenAt: number;
  /** It came by the guild's own project. */
  own: boolean;
  /** One for each watcher that it was sent for; null where an earlier version noted nothing. */
  deliveries: {
    received: number;
    seenAt: number;
    lastAt: number | null;
    projectId: string | null;
    addressType: 'wallet' | 'token' | null;
    direction: 'incoming' | 'outgoing' | null;
  }[];
  decisions: StoryDecision[];
  alerts: StoryAlert[];
}

/** What was decided for one subscription. `address` null: the subscription is gone. */
export interface StoryDecision {
  subscription: number;
  channelId: string;
  outcome: string;
  label: string | null;
  address: AddressText | null;
}

/** The transfer's line in one channel, and where it stands. */
export interface StoryAlert {
  channelId: string;
  createdAt: number;
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  hold: ClaimedAlert['hold'];
  dueAt: number;
  marks: Mark[];
  perspectives: Perspective[];
  /** The message that holds it; `lines`: how many alerts it tells, `together`: how many of the same transaction. */
  message: {
    kind: Batch['kind'];
    /** Why it is a digest. */
    reason: DigestReason | null;
    attempts: number;
    frozenAt: number;
    sentAt: number | null;
    messageId: string | null;
    lines: number;
    together: number;
  } | null;
  channel: { state: ChannelState; dueAt: number; reason: string | null } | null;
  /** Until when the channel's lines are gathered, because there were too many; null: they are told one by one. */
  gatheredUntil: number | null;
  /** Why it was given up. */
  dead: { reason: string; at: number } | null;
}

/** What is asked of an address: as far as these channels of the guild were concerned with it. */
export interface ActivityQuestion extends Period {
  guildId: string;
  address: AddressText;
  channelIds: string[];
  /** Of more decisions than this only the latest are looked at. */
  most: number;
}

/**
 * An {@link Activity}, with the message that tells of each of the largest, where one does. `cut`: how many transfers were
 * looked at, where there were more; else null.
 */
export interface ActivityReport extends Activity {
  largest: (Activity['largest'][number] & { message: { channelId: string; messageId: string } | null })[];
  cut: number | null;
}

/** A transfer that was decided about; `told`: by how many subscriptions. */
interface DecidedRow {
  id: number;
  at: number;
  told: number;
  outcome: string;
  decisions: number;
}

interface TransactionRow {
  txHash: string;
  transfers: number;
  /** The first one's. */
  data: string;
  /** How many transactions there are. */
  total: number;
}

interface MovementRow {
  data: string;
  count: number;
  imitation: 0 | 1;
}

interface TransferRow {
  id: number;
  scope: number;
  count: number;
  reorganised: 0 | 1;
  seenAt: number;
  data: string;
}

interface AlertRow {
  channelId: string;
  createdAt: number;
  state: StoryAlert['state'];
  hold: StoryAlert['hold'];
  dueAt: number;
  marks: string;
  matches: string;
  batchId: number | null;
  kind: Batch['kind'];
  reason: DigestReason | null;
  attempts: number;
  frozenAt: number;
  sentAt: number | null;
  messageId: string | null;
  lines: number;
  together: number;
  channelState: ChannelState | null;
  channelDueAt: number;
  channelReason: string | null;
  deadReason: string | null;
  deadAt: number | null;
}

/** Whose events reach the guilds that have no project of their own. */
const OPERATOR_SCOPE = 0;
/** Rows of a CSV file; Discord takes files of 10 MB. */
const MOST_ROWS = 20_000;

/** Long reads for people's questions; every method but `untoldSilences` stays within one guild. */
export function reportsTable(db: Database) {
  // A transaction may hold thousands of transfers: which are the guild's is found before anything is read of them.
  const ofTransaction = db.prepare<
    { txHash: string; guildId: string; ownScope: number | null; most: number },
    TransferRow & { total: number }
  >(
    `WITH those AS MATERIALIZED (SELECT id FROM transfers t
       WHERE substr(tx_hash, 3, 8) = substr(@txHash, 3, 8) AND tx_hash = @txHash AND (scope IS @ownScope
         OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id AND +guild_id = @guildId)
         OR EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id AND guild_id = @guildId)))
     SELECT id, scope, count, reorganised, seen_at AS seenAt, data, (SELECT count(*) FROM those) AS total
     FROM transfers WHERE id IN (SELECT id FROM those ORDER BY id LIMIT @most) ORDER BY id`,
  );
  const deliveries = db.prepare<[number], Story['deliveries'][number]>(
    `SELECT received, seen_at AS seenAt, last_at AS lastAt, project_id AS projectId, address_type AS addressType, direction
     FROM deliveries WHERE transfer_id = ? ORDER BY seen_at, key`,
  );
  const decisions = db.prepare<[number, string], StoryDecision>(
    `SELECT d.subscription_id AS subscription, d.channel_id AS channelId, d.outcome, s.label, s.address
     FROM decisions d LEFT JOIN subscriptions s ON s.id = d.subscription_id AND s.guild_id = d.guild_id
     WHERE d.transfer_id = ? AND d.guild_id = ? ORDER BY d.id`,
  );
  const alerts = db.prepare<[string, number, string], AlertRow>(
    `SELECT a.channel_id AS channelId, a.created_at AS createdAt, a.state, a.hold, a.due_at AS dueAt, a.marks, a.matches,
       b.id AS batchId, b.kind, b.reason, b.attempts, b.frozen_at AS frozenAt, b.sent_at AS sentAt, b.message_id AS messageId,
       (SELECT count(*) FROM alerts o WHERE o.batch_id = b.id) AS lines,
       (SELECT count(*) FROM alerts o JOIN transfers t ON t.id = o.transfer_id
        WHERE o.batch_id = b.id AND t.tx_hash = ?) AS together,
       c.state AS channelState, c.due_at AS channelDueAt, c.reason AS channelReason,
       (SELECT reason FROM dead_letters WHERE alert_id = a.id ORDER BY id DESC LIMIT 1) AS deadReason,
       (SELECT at FROM dead_letters WHERE alert_id = a.id ORDER BY id DESC LIMIT 1) AS deadAt
     FROM alerts a LEFT JOIN batches b ON b.id = a.batch_id LEFT JOIN channels c ON c.channel_id = a.channel_id
     WHERE a.transfer_id = ? AND a.guild_id = ? ORDER BY a.id`,
  );
  const ofMessage = db.prepare<[string, string, number], TransactionRow>(
    `SELECT t.tx_hash AS txHash, count(*) AS transfers, min(a.id), t.data, count(*) OVER () AS total
     FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
     WHERE b.reference = ? AND a.guild_id = ? GROUP BY t.tx_hash ORDER BY min(a.id) LIMIT ?`,
  );

  // Several subscriptions may have decided about one transfer: it was told if one of them matched.
  const decided = db.prepare<Omit<ActivityQuestion, 'channelIds' | 'timezone'> & { channels: string }, DecidedRow>(
    `SELECT transfer_id AS id, min(at) AS at, sum(outcome = 'matched') AS told, outcome, count(*) AS decisions
     FROM (SELECT transfer_id, at, outcome FROM decisions
       WHERE guild_id = @guildId AND at BETWEEN @since AND @now AND address = @address
         AND channel_id IN (SELECT value FROM json_each(@channels))
       ORDER BY at DESC LIMIT @most + 1)
     GROUP BY transfer_id ORDER BY 2 DESC, 1 DESC`,
  );
  const transferOf = db.prepare<[string, number], MovementRow>(
    `SELECT data, count, EXISTS (SELECT 1 FROM alerts a, json_each(a.marks) m WHERE a.transfer_id = t.id
       AND a.guild_id = ? AND m.value ->> 'kind' = 'imitation') AS imitation
     FROM transfers t WHERE id = ?`,
  );
  const messageOf = db.prepare<[number, string, string], { channelId: string; messageId: string }>(
    `SELECT b.channel_id AS channelId, b.message_id AS messageId FROM alerts a JOIN batches b ON b.id = a.batch_id
     WHERE a.transfer_id = ? AND a.guild_id = ? AND b.state = 'sent' AND b.message_id IS NOT NULL
       AND a.channel_id IN (SELECT value FROM json_each(?)) ORDER BY a.id LIMIT 1`,
  );
  const met = db
    .prepare<[string, number], string>(
      `SELECT t.data FROM decisions d JOIN transfers t ON t.id = d.transfer_id
       WHERE d.guild_id = ? ORDER BY d.at DESC LIMIT ?`,
    )
    .pluck();
  const gatheredUntil = gathering(db);
  const namesOf = db.prepare<[string], { address: AddressText; name: string }>(
    'SELECT address, name FROM labels WHERE guild_id = ?',
  );

  const rhythmic = `SELECT id AS subscription, guild_id AS guildId, channel_id AS channelId, address, label,
       last_event_at AS lastEventAt, gap_ms AS gapMs
     FROM rhythms JOIN subscriptions ON id = subscription_id WHERE events >= ${RHYTHM_EVENTS} AND gap_ms <= ${RHYTHM_GAP_MS} AND paused = 0`;
  const rhythmicOf = db.prepare<[string], Omit<Silence, 'feedAt'>>(
    `${rhythmic} AND guild_id = ? ORDER BY last_event_at`,
  );
  const untold = db.prepare<[number], Omit<Silence, 'feedAt'>>(
    `${rhythmic} AND watch_silence = 1 AND silence_told_at IS NULL AND coalesce(muted_until, 0) <= ? ORDER BY id`,
  );
  const scopeOf = db.prepare<[string], number>('SELECT id FROM projects WHERE guild_id = ?').pluck();
  const feedAt = db
    .prepare<[number], number>('SELECT seen_at FROM transfers WHERE scope = ? ORDER BY seen_at DESC LIMIT 1')
    .pluck();

  function silentOf(rows: Omit<Silence, 'feedAt'>[], now: number): Silence[] {
    const silent = rows.filter(({ lastEventAt, gapMs }) => now - lastEventAt >= patienceMs(gapMs));
    const feeds = new Map(
      [...new Set(silent.map(({ guildId }) => guildId))].map((guildId) => [
        guildId,
        feedAt.get(scopeOf.get(guildId) ?? OPERATOR_SCOPE) ?? null,
      ]),
    );
    return silent.map((row) => ({ ...row, feedAt: feeds.get(row.guildId)! }));
  }

  /** The transfers that are asked about, the latest first, without what they moved: there may be very many. */
  function decidedOf({ guildId, address, since, now, channelIds, most }: ActivityQuestion) {
    const rows = decided.all({ guildId, address, since, now, most, channels: JSON.stringify(channelIds) });
    const isCut = rows.reduce((sum, { decisions }) => sum + decisions, 0) > most;
    const latest = rows.slice(0, most);
    return { rows: latest, cut: isCut ? latest.length : null };
  }

  function* movementsOf(rows: readonly DecidedRow[], guildId: string): Generator<Movement & { id: number }> {
    for (const { id, at, told, outcome } of rows) {
      const row = transferOf.get(guildId, id);
      if (!row) continue;
      const transfer = JSON.parse(row.data) as Transfer;
      const hidden = told > 0 ? null : outcome;
      yield { id, at, count: row.count, transfer, hidden, imitation: row.imitation === 1 };
    }
  }

  function story(guildId: string, txHash: string, row: TransferRow, own: boolean, now: number): Story {
    return {
      transfer: JSON.parse(row.data) as Transfer,
      count: row.count,
      reorganised: row.reorganised === 1,
      seenAt: row.seenAt,
      own,
      deliveries: deliveries.all(row.id),
      decisions: decisions.all(row.id, guildId),
      alerts: alerts.all(txHash, row.id, guildId).map((alert) => toAlert(alert, gatheredUntil(alert.channelId, now))),
    };
  }

  return {
    /**
     * The transfers of a transaction (lower-case hash) that the guild's subscriptions met, and those that came by its
     * own project, whose scope is `ownScope`, although nobody here watches them; as they stand at `now`: how many there
     * are, and the first ones.
     */
    stories(guildId: string, txHash: string, ownScope: number | null, now: number, most: number) {
      const rows = ofTransaction.all({ guildId, txHash, ownScope, most });
      const first = rows.map((row) => story(guildId, txHash, row, row.scope === ownScope, now));
      return { total: rows[0]?.total ?? 0, first };
    },

    /** How many transactions the guild's message with this reference tells of, and the first ones with a transfer each. */
    transactionsOf(guildId: string, reference: string, most: number) {
      const rows = ofMessage.all(reference, guildId, most);
      const first = rows.map(({ txHash, transfers, data }) => {
        return { txHash, transfers, transfer: JSON.parse(data) as Transfer };
      });
      return { total: rows[0]?.total ?? 0, first };
    },

    /** Whom the guild's addresses dealt with in the latest so many decisions, the latest first. */
    met(guildId: string, decisions: number): AddressText[] {
      const transfers = met.all(guildId, decisions).map((data) => JSON.parse(data) as Transfer);
      return [...new Set(transfers.flatMap(({ from, to }) => [from, to].filter((address) => address !== null)))];
    },

    /** The guild's addresses that usually move and are silent for unusually long, the longest first; as counted last. */
    silent: (guildId: string, now: number): Silence[] => silentOf(rhythmicOf.all(guildId), now),

    /** Silences of every guild that are to be pointed out in their channels and were not yet; as counted last. */
    untoldSilences: (now: number): Silence[] => silentOf(untold.all(now), now),

    /** What an address did in a period. */
    activity(question: ActivityQuestion): ActivityReport {
      const { rows, cut } = decidedOf(question);
      const report = summarise(question.address, movementsOf(rows.toReversed(), question.guildId), question);
      const channels = JSON.stringify(question.channelIds);
      const largest = (report.largest as (ActivityReport['largest'][number] & { id: number })[]).map((movement) => ({
        ...movement,
        message: messageOf.get(movement.id, question.guildId, channels) ?? null,
      }));
      return { ...report, largest, cut };
    },

    /** The same as a CSV file's text, one row a transfer, the latest last; `left` older ones have no room. */
    activityFile(question: ActivityQuestion): { csv: string; left: number; cut: number | null } {
      const { rows, cut } = decidedOf(question);
      const names = new Map(namesOf.all(question.guildId).map(({ address, name }) => [address, name]));
      const latest = rows.slice(0, MOST_ROWS).reverse();
      const lines = [...movementsOf(latest, question.guildId)].map((one) => fileRow(one, question.address, names));
      return { csv: [FILE_HEAD, ...lines].join('\r\n'), left: rows.length - latest.length, cut };
    },
  };
}

const FILE_HEAD =
  'received,transaction,block,direction,kind,from,from name,to,to name,token,symbol,amount,token id,times,told';

function fileRow(
  { at, transfer, count, hidden }: Movement,
  address: AddressText,
  names: ReadonlyMap<AddressText, string>,
): string {
  const { from, to, token, value, decimals } = transfer;
  const party = (party: AddressText | null) => [party && checksumAddress(party), party && (names.get(party) ?? null)];
  return csvLine([
    new Date(at).toISOString(),
    transfer.txHash,
    transfer.blockNumber,
    wayOf(address, transfer),
    transfer.kind,
    ...party(from),
    ...party(to),
    token && checksumAddress(token),
    plainText(transfer.tokenSymbol),
    value === null ? null : formatAmount(value, decimals).replaceAll(',', ''),
    transfer.tokenId,
    count,
    hidden === null ? 'yes' : `no: ${hidden}`,
  ]);
}

function toAlert(row: AlertRow, gatheredUntil: number | null): StoryAlert {
  const { channelId, createdAt, state, hold, dueAt } = row;
  const { kind, reason, attempts, frozenAt, sentAt, messageId, lines, together } = row;
  return {
    channelId,
    createdAt,
    state,
    hold,
    dueAt,
    marks: JSON.parse(row.marks) as Mark[],
    perspectives: (JSON.parse(row.matches) as { perspective: Perspective }[]).map((match) => match.perspective),
    message: row.batchId === null ? null : { kind, reason, attempts, frozenAt, sentAt, messageId, lines, together },
    channel:
      row.channelState === null
        ? null
        : { state: row.channelState, dueAt: row.channelDueAt, reason: row.channelReason },
    gatheredUntil,
    dead: row.deadReason === null ? null : { reason: row.deadReason, at: row.deadAt! },
  };
}
