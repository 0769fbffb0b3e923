import type { Database } from 'better-sqlite3';
import type { AddressText } from '../domain/address.ts';
import type { Mark } from '../domain/mark.ts';
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
  hold: 'hourly' | 'daily' | 'quiet' | null;
}

/** One message, as it was frozen. An `edit` renders the message `messageId` anew; its payload is empty. */
export interface Batch {
  id: number;
  channelId: string;
  kind: 'create' | 'digest' | 'edit';
  nonce: string;
  reference: string;
  /** JSON of the request's body. */
  payload: string;
  /** Text of the attached CSV file. */
  attachment: string | null;
  attempts: number;
  /** Discord may have taken it although no answer said so. */
  unsure: boolean;
  frozenAt: number;
  firstSentAt: number | null;
  messageId: string | null;
}

/** Whether a channel can be written to: `parked` may not now (403), `paused` is gone (404). */
export type ChannelState = 'ready' | 'parked' | 'paused';

/** A channel with something to send. */
export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  attempts: number;
  since: number | null;
}

interface AlertRow {
  id: number;
  guildId: string;
  channelId: string;
  createdAt: number;
  matches: string;
  data: string;
  count: number;
  reorganised: 0 | 1;
  marks: string;
  hold: ClaimedAlert['hold'];
  language: string | null;
  timezone: string | null;
}

/** What is fixed before the first byte is sent. */
export type FrozenBatch = Pick<Batch, 'channelId' | 'kind' | 'nonce' | 'reference' | 'payload' | 'attachment'>;

type BatchRow = Omit<Batch, 'unsure'> & { unsure: 0 | 1 };

/** A line that Discord refused in every form, or that waited too long. */
export interface DeadLetter {
  id: number;
  alertId: number;
  channelId: string;
  reason: string;
  payload: string;
  at: number;
  /** JSON of the transfer, as the ledger has it. */
  transfer: string | null;
}

const BATCH_COLUMNS = `id, channel_id AS channelId, kind, nonce, reference, payload, attachment, attempts, unsure,
  frozen_at AS frozenAt, first_sent_at AS firstSentAt, message_id AS messageId`;
const ALERT_COLUMNS = `a.id, a.guild_id AS guildId, a.channel_id AS channelId, a.created_at AS createdAt, a.matches,
  t.data, t.count, t.reorganised, a.marks, a.hold,
  (SELECT language FROM guilds WHERE guild_id = a.guild_id) AS language,
  (SELECT timezone FROM guilds WHERE guild_id = a.guild_id) AS timezone`;

const LETTERS = `SELECT d.id, d.alert_id AS alertId, d.channel_id AS channelId, d.reason, d.payload, d.at, t.data AS transfer
  FROM dead_letters d LEFT JOIN alerts a ON a.id = d.alert_id LEFT JOIN transfers t ON t.id = a.transfer_id`;

const UNNAMED = { label: null, mention: null, mentionMinimum: null, mentionCooldown: 0, mentionedAt: null };

/** Alerts, the messages made of them, and what is known about their channels. */
export function outboxTable(db: Database) {
  const heads = db.prepare<[], ChannelHead>(
    `SELECT channel_id AS channelId, guild_id AS guildId, state, due_at AS dueAt, attempts, since FROM channels
     WHERE channel_id IN (SELECT DISTINCT channel_id FROM alerts WHERE state = 'waiting'
                          UNION SELECT channel_id FROM batches WHERE state = 'frozen')`,
  );
  const channelHead = db.prepare<[string], ChannelHead>(
    `SELECT channel_id AS channelId, guild_id AS guildId, state, due_at AS dueAt, attempts, since FROM channels
     WHERE channel_id = ?`,
  );
  const frozen = db.prepare<[string], BatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM batches WHERE channel_id = ? AND state = 'frozen' ORDER BY id LIMIT 1`,
  );
  const created = db.prepare<[string], { id: number; messageId: string | null }>(
    "SELECT id, message_id AS messageId FROM batches WHERE reference = ? AND kind = 'create'",
  );
  const waiting = db.prepare<[string, number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.channel_id = ? AND a.state = 'waiting' ORDER BY a.id LIMIT ?`,
  );
  const backlog = db.prepare<[string], { waiting: number; oldest: number | null }>(
    `SELECT count(*) AS waiting, min(created_at) AS oldest FROM alerts WHERE channel_id = ? AND state = 'waiting'`,
  );
  const sizeOf = db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM alerts WHERE batch_id = ?');
  const ofBatch = db.prepare<[number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id WHERE a.batch_id = ? ORDER BY a.id`,
  );
  const subscription = db.prepare<[number], Omit<ClaimedAlert['matches'][number], 'subscription' | 'perspective'>>(
    `SELECT label, mention, address, mention_minimum AS mentionMinimum, mention_cooldown AS mentionCooldown,
       mentioned_at AS mentionedAt FROM subscriptions WHERE id = ?`,
  );
  const labelOf = db.prepare<[string, string], { name: string }>(
    'SELECT name FROM labels WHERE guild_id = ? AND address = ?',
  );
  const insertBatch = db.prepare(
    `INSERT INTO batches (channel_id, kind, nonce, reference, payload, attachment, state, attempts, unsure, frozen_at, first_sent_at)
     VALUES (@channelId, @kind, @nonce, @reference, @payload, @attachment, 'frozen', 1, 1, @now, @now)`,
  );
  const assign = db.prepare<[number, number]>("UPDATE alerts SET state = 'frozen', batch_id = ? WHERE id = ?");
  const attempt = db.prepare<[number, number]>(
    'UPDATE batches SET attempts = attempts + 1, unsure = 1, first_sent_at = coalesce(first_sent_at, ?) WHERE id = ?',
  );
  const certain = db.prepare<[number]>('UPDATE batches SET unsure = 0 WHERE id = ?');
  const markSent = db.prepare<[number, string | null, number]>(
    "UPDATE batches SET state = 'sent', sent_at = ?, message_id = coalesce(?, message_id) WHERE id = ?",
  );
  const alertsOf = db.prepare<[string, number]>('UPDATE alerts SET state = ? WHERE batch_id = ?');
  const release = db.prepare<[number]>("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE batch_id = ?");
  const dropBatch = db.prepare<[number]>('DELETE FROM batches WHERE id = ?');
  const markDead = db.prepare<[number]>("UPDATE batches SET state = 'dead' WHERE id = ?");
  const bury = db.prepare<[string, number, number]>(
    `INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at)
     SELECT a.id, a.channel_id, b.payload, ?, ? FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.batch_id = ?`,
  );
  const buryWaiting = db.prepare<[string, number, string, number]>(
    `INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at)
     SELECT id, channel_id, '', ?, ? FROM alerts WHERE channel_id = ? AND state = 'waiting' AND created_at < ?`,
  );
  const killWaiting = db.prepare<[string, number]>(
    "UPDATE alerts SET state = 'dead' WHERE channel_id = ? AND state = 'waiting' AND created_at < ?",
  );
  const oldFrozen = db.prepare<[string, number], { id: number }>(
    `SELECT id FROM batches b WHERE channel_id = ? AND state = 'frozen'
       AND coalesce((SELECT min(created_at) FROM alerts WHERE batch_id = b.id), frozen_at) < ?`,
  );
  const setChannel = db.prepare<Omit<ChannelHead, 'guildId'> & { reason: string | null }>(
    `UPDATE channels SET state = @state, due_at = @dueAt, attempts = @attempts, since = @since, reason = @reason
     WHERE channel_id = @channelId`,
  );
  const letters = db.prepare<[number], DeadLetter>(`${LETTERS} ORDER BY d.id LIMIT ?`);
  const letter = db.prepare<[number], DeadLetter>(`${LETTERS} WHERE d.id = ?`);
  const unbury = db.prepare<[number]>('DELETE FROM dead_letters WHERE id = ?');
  const revive = db.prepare<[number]>("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE id = ?");
  const tryAtOnce = db.prepare<[string]>('UPDATE channels SET due_at = 0 WHERE channel_id = ?');
  const stats = db.prepare<[], { waiting: number; oldest: number | null }>(
    "SELECT count(*) AS waiting, min(created_at) AS oldest FROM alerts WHERE state = 'waiting'",
  );
  const frozenCount = db.prepare<[], { n: number }>("SELECT count(*) AS n FROM batches WHERE state = 'frozen'");
  const deadCount = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM dead_letters');
  const channelCounts = db.prepare<[], { state: ChannelState; n: number }>(
    'SELECT state, count(*) AS n FROM channels GROUP BY state',
  );
  const troubled = db.prepare<[string], { channelId: string; state: ChannelState; reason: string | null }>(
    "SELECT channel_id AS channelId, state, reason FROM channels WHERE guild_id = ? AND state <> 'ready'",
  );

  function claimed({ matches, data, reorganised, marks, ...row }: AlertRow): ClaimedAlert {
    const transfer = JSON.parse(data) as Transfer;
    const labels = Object.fromEntries(
      [transfer.from, transfer.to, transfer.token].flatMap((address) => {
        const label = address && labelOf.get(row.guildId, address);
        return label ? [[address, label.name]] : [];
      }),
    );
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

  const freeze = db.transaction((batch: FrozenBatch, alertIds: number[], now: number) => {
    const id = Number(insertBatch.run({ ...batch, now }).lastInsertRowid);
    for (const alertId of alertIds) assign.run(id, alertId);
    return id;
  });
  const sent = db.transaction((batchId: number, messageId: string | null, now: number) => {
    markSent.run(now, messageId, batchId);
    alertsOf.run('sent', batchId);
  });
  const thaw = db.transaction((batchId: number) => {
    release.run(batchId);
    dropBatch.run(batchId);
  });
  const dead = db.transaction((batchId: number, reason: string, now: number) => {
    bury.run(reason, now, batchId);
    alertsOf.run('dead', batchId);
    markDead.run(batchId);
  });
  const expire = db.transaction((channelId: string, before: number, reason: string, now: number) => {
    for (const { id } of oldFrozen.all(channelId, before)) dead(id, reason, now);
    buryWaiting.run(reason, now, channelId, before);
    killWaiting.run(channelId, before);
  });
  const replay = db.transaction((id: number) => {
    const found = letter.get(id);
    if (!found || revive.run(found.alertId).changes === 0) return false;
    unbury.run(id);
    tryAtOnce.run(found.channelId);
    return true;
  });

  return {
    /** Every channel that has something to send, whatever its state. */
    heads: () => heads.all(),
    /** The oldest alerts that wait for a channel. */
    waiting: (channelId: string, limit: number) => waiting.all(channelId, limit).map(claimed),
    /**
     * What to send next to a channel: its frozen message (`waiting`: how many alerts it holds; `alerts` only for an
     * edit), else its oldest alerts (`waiting` and `oldest`: the whole backlog).
     */
    claim(channelId: string, limit: number) {
      const head = channelHead.get(channelId) ?? null;
      const row = frozen.get(channelId);
      if (!row) {
        return { head, batch: null, alerts: waiting.all(channelId, limit).map(claimed), ...backlog.get(channelId)! };
      }
      const batch: Batch = { ...row, unsure: row.unsure === 1 };
      const size = sizeOf.get(batch.id)!.n;
      if (batch.kind !== 'edit') return { head, batch, alerts: [], waiting: size, oldest: null };
      const original = created.get(batch.reference);
      return {
        head,
        batch: { ...batch, messageId: original?.messageId ?? null },
        alerts: original ? ofBatch.all(original.id).map(claimed) : [],
        waiting: 0,
        oldest: null,
      };
    },
    /** Freezes alerts into one message; its first attempt counts from here. Gives the batch's id. */
    freeze: (batch: FrozenBatch, alertIds: number[], now: number) => freeze.immediate(batch, alertIds, now),
    /** Another attempt is about to begin. */
    attempt: (batchId: number, now: number): void => void attempt.run(now, batchId),
    /** The last attempt is known to have changed nothing at Discord. */
    notTaken: (batchId: number): void => void certain.run(batchId),
    sent: (batchId: number, messageId: string | null, now: number): void => sent.immediate(batchId, messageId, now),
    /** Gives a frozen message up; its alerts wait again, to be rendered anew. */
    thaw: (batchId: number): void => thaw.immediate(batchId),
    /** The message's alerts become dead letters. */
    dead: (batchId: number, reason: string, now: number): void => dead.immediate(batchId, reason, now),
    /** What waits for a channel since before a time becomes dead letters. */
    expire: (channelId: string, before: number, reason: string, now: number): void =>
      expire.immediate(channelId, before, reason, now),
    setChannel: (head: Omit<ChannelHead, 'guildId'> & { reason: string | null }): void => void setChannel.run(head),
    /** A guild's channels that cannot be written to. */
    troubled: (guildId: string) => troubled.all(guildId),
    deadLetters: (limit: number) => letters.all(limit),
    deadLetter: (id: number) => letter.get(id) ?? null,
    /** Puts a dead letter's alert back among those that wait; false when there is none with this number. */
    replay: (id: number): boolean => replay.immediate(id),
    stats() {
      const { waiting: count, oldest } = stats.get()!;
      const channels = Object.fromEntries(channelCounts.all().map(({ state, n }) => [state, n]));
      return {
        waiting: count,
        oldest,
        frozen: frozenCount.get()!.n,
        deadLetters: deadCount.get()!.n,
        parked: channels.parked ?? 0,
        paused: channels.paused ?? 0,
      };
    },
  };
}

function addressOf({ perspective }: { perspective: Perspective }, { from, to, token }: Transfer): AddressText {
  const address = perspective === 'incoming' ? to : perspective === 'token' ? token : from;
  return address ?? '0x0000000000000000000000000000000000000000';
}

/**
 * What the router calls within its own transaction: asks for the sent messages that tell of these transfers to be
 * edited. Lines that still wait need nothing, because they are rendered late.
 */
export function requestEdits(db: Database) {
  const messages = db.prepare<[string], { channelId: string; reference: string }>(
    `SELECT DISTINCT b.channel_id AS channelId, b.reference
     FROM transfers t JOIN alerts a ON a.transfer_id = t.id JOIN batches b ON b.id = a.batch_id
     WHERE t.key = ? AND b.kind = 'create' AND b.state IN ('frozen', 'sent')`,
  );
  const insert = db.prepare(
    `INSERT INTO batches (channel_id, kind, nonce, reference, payload, state, unsure, frozen_at)
     VALUES (@channelId, 'edit', '', @reference, '', 'frozen', 0, @now)`,
  );
  return (transferKey: string, now: number): string[] =>
    messages.all(transferKey).map((message) => {
      insert.run({ ...message, now });
      return message.channelId;
    });
}
