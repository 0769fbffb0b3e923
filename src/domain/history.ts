import type { AddressText } from './address.ts';
import type { Alert, DigestReason, Warning } from './alert.ts';
import type { Batch } from './batch.ts';
import type { ChannelState } from './guild.ts';
import { type HiddenReason, matchTransfer } from './match.ts';
import type { Choices, Perspective, Subscription } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** A transaction's transfers that concern a guild. */
export interface HistoryQuery {
  guildId: string;
  txHash: string;
  /** The scopes of the guild's own projects: their transfers count also if they concern none of its subscriptions. */
  ownScopes?: readonly number[];
  /** null, and by default: on any. */
  network?: number | null;
  /** Only those with an alert in this channel; null, and by default: in any or none. */
  channelId?: string | null;
  /** How many of the first are skipped; by default none. */
  skip?: number;
}

/** Everything that is recorded about one transfer and concerns one guild. */
export interface TransferHistory {
  id: number;
  network: number;
  transfer: Transfer;
  /** How many equal ones the transaction holds. */
  count: number;
  reorganized: boolean;
  seenAt: number;
  own: boolean;
  /** One for each watched address that it was sent for. A field is null if an earlier version did not record it. */
  deliveries: {
    received: number;
    seenAt: number;
    lastAt: number | null;
    projectId: string | null;
    addressType: 'wallet' | 'token' | null;
    direction: 'incoming' | 'outgoing' | null;
  }[];
  decisions: RecordedDecision[];
  alerts: RecordedAlert[];
}

/** What was decided for one subscription. `address` null: the subscription is gone. */
export interface RecordedDecision {
  subscription: number;
  channelId: string;
  outcome: string;
  label: string | null;
  address: AddressText | null;
}

export interface RecordedAlert {
  channelId: string;
  createdAt: number;
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  hold: Alert['hold'];
  dueAt: number;
  /** When an operator discarded it; null: nobody did. */
  discardedAt: number | null;
  warnings: Warning[];
  /**
   * Its message. `alerts`: how many it contains; `together`: how many are of the same transaction, unless it is a
   * digest.
   */
  message: {
    kind: Batch['kind'];
    reason: DigestReason | null;
    attempts: number;
    frozenAt: number;
    sentAt: number | null;
    messageId: string | null;
    alerts: number;
    together: number;
  } | null;
  channel: { state: ChannelState; dueAt: number; reason: string | null } | null;
  /** Until when the channel's alerts are collected, because there were too many; null: they are posted one by one. */
  collectingUntil: number | null;
  dead: { reason: string; at: number } | null;
}

export interface MessageTransaction {
  network: number;
  txHash: string;
  /** How many of its transfers the message shows. */
  transfers: number;
  /** One of them: a significant one, if there is any. */
  transfer: Transfer;
  /** How the channel's subscriptions see that transfer. */
  perspectives: Perspective[];
}

/** A subscription as it is proposed, without a past. */
export type Proposal = Choices & Pick<Subscription, 'guildId' | 'address'> & Partial<Pick<Subscription, 'network'>>;

export interface DryRun {
  /** Transfers of its address. */
  related: number;
  posted: number;
  hidden: Partial<Record<HiddenReason, number>>;
  examples: { network: number; transfer: Transfer; perspective: Perspective; seenAt: number }[];
  /** When the oldest of the examined transfers arrived; null if there was none. */
  since: number | null;
  /** How many were looked through, if there were more; otherwise null. */
  cut: number | null;
}

/** Which transfers are looked for: those that a guild's project brought from `since` to `until`. */
export interface RecentQuery {
  guildId: string;
  address: AddressText;
  /** null: on any. */
  network: number | null;
  since: number;
  until: number;
  /**
   * Only transfers that the guild's subscriptions in these channels were decided about; null: all of the project. Other
   * guilds' transfers would reveal what they watch.
   */
  channelIds: readonly string[] | null;
}

/** The latest transfers of a guild's project: how many, when the oldest arrived, and those that involve the address. */
export interface RecentTransfers {
  seen: number;
  oldest: number | null;
  /** `cataloged`: whether the explorer's catalog lists the token; null if that is unknown. */
  involved: { network: number; transfer: Transfer; seenAt: number; cataloged: boolean | null }[];
}

const MAX_EXAMPLES = 3;
/** How many transfers are looked through at once: the event loop handles other events between two pages. */
const PAGE_SIZE = 5_000;

/** What a proposal lacks to be matched: it is active. */
const ACTIVE = { id: 0, channelId: '', paused: false, mutedUntil: null } satisfies Partial<Subscription>;

/**
 * Returns what a subscription would have posted in a period, by about the latest `max` transfers; ignores mutes. `read`
 * returns the latest transfers until a time, including all of the oldest moment.
 */
export async function dryRun(
  proposal: Proposal,
  { since, until, max, channelIds }: Omit<RecentQuery, 'guildId' | 'address' | 'network'> & { max: number },
  read: (query: RecentQuery, limit: number) => Promise<RecentTransfers>,
): Promise<DryRun> {
  const { guildId, address, network = null } = proposal;
  const found: DryRun = { related: 0, posted: 0, hidden: {}, examples: [], since: null, cut: null };
  let seen = 0;
  for (let to = until; ; ) {
    const page = await read(
      { guildId, address, network, since, until: to, channelIds },
      Math.max(1, Math.min(PAGE_SIZE, max - seen)),
    );
    if (page.oldest === null) return found;
    if (seen >= max) return { ...found, cut: seen };
    seen += page.seen;
    found.since = page.oldest;
    for (const one of page.involved) count(found, proposal, one);
    to = page.oldest - 1;
  }
}

function count(
  found: DryRun,
  proposal: Proposal,
  { network, transfer, seenAt, cataloged }: RecentTransfers['involved'][number],
): void {
  const context = { now: seenAt, tokenMuted: () => false, cataloged: () => cataloged, isNamed: () => false };
  const match = matchTransfer({ ...proposal, ...ACTIVE }, transfer, context);
  switch (match.outcome) {
    case 'unrelated':
      return;
    case 'hidden':
      found.related++;
      found.hidden[match.reason] = (found.hidden[match.reason] ?? 0) + 1;
      return;
    case 'matched':
      found.related++;
      found.posted++;
      if (found.examples.length < MAX_EXAMPLES) {
        found.examples.push({ network, transfer, perspective: match.perspective, seenAt });
      }
  }
}
