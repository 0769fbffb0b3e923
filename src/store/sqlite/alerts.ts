import type { Database } from 'better-sqlite3';
import { type AddressText, ZERO_ADDRESS } from '../../domain/address.ts';
import type { Alert, RenderedAlert } from '../../domain/alert.ts';
import type { AlertStyle, Perspective } from '../../domain/subscription.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';

/** An alert as {@link ALERT_COLUMNS} select it. */
export interface AlertRow
  extends Omit<Alert, 'transfer' | 'reorganised' | 'matches' | 'warnings' | 'labels' | 'style' | 'isCataloged'> {
  data: string;
  matches: string;
  reorganised: 0 | 1;
  warnings: string;
  guildStyle: AlertStyle | null;
  cataloged: 0 | 1 | null;
}

/** Of an alert `a` with its transfer `t`. */
export const ALERT_COLUMNS = `a.id, a.guild_id AS guildId, a.channel_id AS channelId, a.created_at AS createdAt,
  t.seen_at AS receivedAt, a.inbox_id AS inboxId, a.matches,
  t.data, t.count, t.reorganised, a.warnings, a.hold,
  (SELECT coalesce(language, locale) FROM guilds WHERE guild_id = a.guild_id) AS language,
  (SELECT timezone FROM guilds WHERE guild_id = a.guild_id) AS timezone,
  (SELECT style FROM guilds WHERE guild_id = a.guild_id) AS guildStyle,
  (SELECT cataloged FROM catalog WHERE token = t.token) AS cataloged`;

const UNNAMED = {
  mention: null,
  mentionMinimum: null,
  mentionCooldown: 0,
  mentionedAt: null,
  style: null,
};

/**
 * Creates a check whether alerts are still as they were rendered. Between reading and freezing them, the router may
 * have counted another equal transfer, which the message would never show. With `waiting`, they must also still wait.
 */
export function renderedCheck(db: Database) {
  // 1: only waiting alerts match; 0: alerts in any state do.
  const holding = db.prepare<[string, 0 | 1], { n: number }>(
    `SELECT count(*) AS n FROM json_each(?) told CROSS JOIN alerts a ON a.id = told.value ->> 'id'
       JOIN transfers t ON t.id = a.transfer_id
     WHERE (a.state = 'waiting') >= ? AND t.count = told.value ->> 'count' AND t.reorganised = told.value ->> 'reorganised'`,
  );
  return (alerts: readonly RenderedAlert[], waiting: boolean): boolean => {
    const expected = alerts.map(({ id, count, reorganised }) => ({ id, count, reorganised: reorganised ? 1 : 0 }));
    return holding.get(JSON.stringify(expected), waiting ? 1 : 0)!.n === alerts.length;
  };
}

/** Reads alerts in the form in which they are rendered. */
export function alertReader(db: Database) {
  const subscription = db.prepare<
    [number],
    Omit<Alert['matches'][number], 'subscription' | 'perspective' | 'label'> & { style: AlertStyle | null }
  >(
    `SELECT mention, address, mention_minimum AS mentionMinimum, mention_cooldown AS mentionCooldown,
       mentioned_at AS mentionedAt, style FROM subscriptions WHERE id = ?`,
  );
  const labelsOf = db.prepare<[string, string | null, string | null, string | null], { address: string; name: string }>(
    'SELECT address, name FROM labels WHERE guild_id = ? AND address IN (?, ?, ?)',
  );
  const ofBatch = db.prepare<[number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id WHERE a.batch_id = ?
     ORDER BY a.due_at, a.id`,
  );

  const idsOfBatch = db
    .prepare<[number], number>('SELECT id FROM alerts WHERE batch_id = ? ORDER BY due_at, id')
    .pluck();
  const byId = db.prepare<[string], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM json_each(?) asked CROSS JOIN alerts a ON a.id = asked.value
       JOIN transfers t ON t.id = a.transfer_id ORDER BY asked.key`,
  );

  function claimed({ matches, data, reorganised, warnings, guildStyle, cataloged, ...row }: AlertRow): Alert {
    const transfer = JSON.parse(data) as Transfer;
    const { from, to, token } = transfer;
    const labels: Alert['labels'] = Object.fromEntries(
      labelsOf.all(row.guildId, from, to, token).map((one) => [one.address, one.name]),
    );
    const styles = new Set<AlertStyle>();
    const named = (JSON.parse(matches) as { subscription: number; perspective: Perspective }[]).map((match) => {
      // If the subscription was removed meanwhile, its address is still known from the match.
      const unnamed = { ...UNNAMED, address: addressOf(match, transfer) };
      const { style, ...rest } = subscription.get(match.subscription) ?? unnamed;
      styles.add(style ?? guildStyle ?? 'compact');
      return { ...match, ...rest, label: labels[rest.address] ?? null };
    });
    return {
      ...row,
      transfer,
      reorganised: reorganised === 1,
      matches: named,
      warnings: JSON.parse(warnings) as Warning[],
      labels,
      style: styles.has('full') ? 'full' : 'compact',
      isCataloged: cataloged === 1,
    };
  }

  return {
    claimed,
    ofBatch: (batchId: number) => byTransaction(ofBatch.all(batchId).map(claimed)),
    idsOfBatch: (batchId: number): number[] => idsOfBatch.all(batchId),
    byId: (ids: number[]): Alert[] => byId.all(JSON.stringify(ids)).map(claimed),
  };
}

/** Keeps the order, but moves the alerts of each transaction behind its first one. */
export function byTransaction(alerts: Alert[]): Alert[] {
  return [...Map.groupBy(alerts, ({ transfer }) => transfer.txHash).values()].flat();
}

function addressOf({ perspective }: { perspective: Perspective }, { from, to, token }: Transfer): AddressText {
  const address = perspective === 'incoming' ? to : perspective === 'token' ? token : from;
  return address ?? ZERO_ADDRESS;
}
