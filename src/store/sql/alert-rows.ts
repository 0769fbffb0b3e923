import { type AddressText, ZERO_ADDRESS } from '../../domain/address.ts';
import type { Alert } from '../../domain/alert.ts';
import { languageOfGuild } from '../../domain/guild.ts';
import type { Hold } from '../../domain/hold.ts';
import { type AlertStyle, type Perspective, sharedStyle, styleOf } from '../../domain/subscription.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';

/** What rows about alerts mean, whatever engine they are from. */

/** An alert as {@link ALERT_COLUMNS} select it. */
export interface AlertRow
  extends Omit<Alert, 'transfer' | 'reorganized' | 'matches' | 'warnings' | 'labels' | 'style' | 'isCataloged'> {
  data: string;
  matches: string;
  reorganized: boolean | 0 | 1;
  warnings: string;
  locale: string | null;
  guildStyle: AlertStyle | null;
  cataloged: boolean | 0 | 1 | null;
}

/** Of an alert `a` with its transfer `t`. */
export const ALERT_COLUMNS = `a.id, a.guild_id AS "guildId", a.channel_id AS "channelId", a.created_at AS "createdAt",
  t.seen_at AS "receivedAt", a.inbox_id AS "inboxId", a.matches,
  t.data, t.count, t.reorganized, a.warnings, a.hold,
  (SELECT language FROM guilds WHERE guild_id = a.guild_id) AS language,
  (SELECT locale FROM guilds WHERE guild_id = a.guild_id) AS locale,
  (SELECT style FROM guilds WHERE guild_id = a.guild_id) AS "guildStyle",
  (SELECT cataloged FROM catalog WHERE token = t.token) AS cataloged`;

/** Since when an alert counts as waiting; a held one does not age. In SQL, because it is asked about all alerts at once. */
export const WAITING_SINCE = 'CASE WHEN due_at > created_at THEN due_at ELSE created_at END';

/** What an alert needs of a subscription that it matched. */
export type MatchedSubscription = Omit<Alert['matches'][number], 'subscription' | 'perspective' | 'label'> & {
  style: AlertStyle | null;
};

/** The columns of a {@link MatchedSubscription}. */
export const MATCHED_COLUMNS = `mention, address, mention_minimum AS "mentionMinimum",
  mention_cooldown AS "mentionCooldown", mentioned_at AS "mentionedAt", style`;

const UNNAMED = {
  mention: null,
  mentionMinimum: null,
  mentionCooldown: 0,
  mentionedAt: null,
  style: null,
};

/** The subscriptions that an alert matched. */
export const matchesOf = ({ matches }: Pick<AlertRow, 'matches'>) =>
  JSON.parse(matches) as { subscription: number; perspective: Perspective }[];

/** Creates an alert from its row; the functions look up what is known about its matches and addresses. */
export function toAlert(
  row: AlertRow,
  subscriptionOf: (id: number) => MatchedSubscription | undefined,
  labelsOf: (transfer: Transfer) => Alert['labels'],
): Alert {
  const { matches: _, data, reorganized, warnings, locale, guildStyle, cataloged, ...rest } = row;
  const transfer = JSON.parse(data) as Transfer;
  const labels = labelsOf(transfer);
  const styles: AlertStyle[] = [];
  const matches = matchesOf(row).map((match) => {
    // If the subscription was removed meanwhile, its address is still known from the match.
    const unnamed = { ...UNNAMED, address: addressOf(match, transfer) };
    const { style, ...subscription } = subscriptionOf(match.subscription) ?? unnamed;
    styles.push(styleOf(style, guildStyle));
    return { ...match, ...subscription, label: labels[subscription.address] ?? null };
  });
  return {
    ...rest,
    transfer,
    reorganized: Boolean(reorganized),
    matches,
    warnings: JSON.parse(warnings) as Warning[],
    labels,
    style: sharedStyle(styles),
    language: languageOfGuild({ language: row.language, locale }),
    isCataloged: Boolean(cataloged),
  };
}

/** The alerts of a channel that wait for the same reason. */
export interface DueGroup {
  hold: Hold | null;
  waiting: number;
  oldest: number;
}

/** Keeps the order, but moves the alerts of each transaction behind its first one. */
export function byTransaction(alerts: Alert[]): Alert[] {
  return [...Map.groupBy(alerts, ({ transfer }) => transfer.txHash).values()].flat();
}

function addressOf({ perspective }: { perspective: Perspective }, { from, to, token }: Transfer): AddressText {
  const address = perspective === 'incoming' ? to : perspective === 'token' ? token : from;
  return address ?? ZERO_ADDRESS;
}
