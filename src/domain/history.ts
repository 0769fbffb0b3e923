import type { ActivityQuery } from './activity.ts';
import type { AddressText } from './address.ts';
import type { Alert, DigestReason } from './alert.ts';
import type { Batch } from './batch.ts';
import type { ChannelState } from './guild.ts';
import type { SeenTransfer } from './identity.ts';
import { type HiddenReason, matchTransfer } from './match.ts';
import type { StoredDelivery } from './routing.ts';
import type { Choices, Perspective, Subscription } from './subscription.ts';
import type { Transfer } from './transfer.ts';

export interface HistoryQuery {
  guildId: string;
  txHash: string;
  /** Scopes of the guild's own projects: their transfers count even if no subscription is concerned. */
  ownScopes?: readonly number[];
  /** null, and by default: on any. */
  network?: number | null;
  channelId?: string | null;
  skip?: number;
}

export interface TransferHistory extends Pick<SeenTransfer, 'network' | 'count' | 'reorganized' | 'seenAt'> {
  id: number;
  transfer: Transfer;
  own: boolean;
  /** One for each watched address. null: the body did not name the field. */
  deliveries: Pick<StoredDelivery, 'received' | 'seenAt' | 'lastAt' | 'projectId' | 'addressType' | 'direction'>[];
  decisions: RecordedDecision[];
  alerts: RecordedAlert[];
}

/** `address` null: the subscription is gone. */
export interface RecordedDecision {
  subscription: number;
  channelId: string;
  outcome: string;
  label: string | null;
  address: AddressText | null;
}

export interface RecordedAlert extends Pick<Alert, 'channelId' | 'createdAt' | 'hold' | 'warnings'> {
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  dueAt: number;
  discardedAt: number | null;
  message: RecordedMessage | null;
  channel: { state: ChannelState; dueAt: number; reason: string | null } | null;
  collectingUntil: number | null;
  dead: { reason: string; at: number } | null;
}

/** `alerts`: how many it contains; `together`: how many of the same transaction, unless it is a digest. */
interface RecordedMessage extends Pick<Batch, 'kind' | 'attempts' | 'frozenAt' | 'messageId'> {
  reason: DigestReason | null;
  sentAt: number | null;
  alerts: number;
  together: number;
}

export interface MessageTransaction {
  network: number;
  txHash: string;
  transfers: number;
  /** A significant one, if there is any. */
  transfer: Transfer;
  perspectives: Perspective[];
}

export type Proposal = Choices & Pick<Subscription, 'guildId' | 'address'> & Partial<Pick<Subscription, 'network'>>;

export interface DryRun {
  /** Transfers of its address. */
  related: number;
  posted: number;
  hidden: Partial<Record<HiddenReason, number>>;
  examples: { network: number; transfer: Transfer; perspective: Perspective; seenAt: number }[];
  since: number | null;
  /** How many were examined, if there were more; otherwise null. */
  cut: number | null;
}

export interface RecentQuery extends Pick<ActivityQuery, 'guildId' | 'address' | 'since' | 'until'> {
  network: number | null;
  /** Only what was decided for these channels: the rest would reveal what other guilds watch. null: all. */
  channelIds: readonly string[] | null;
}

/** `seen` and `oldest` are of all transfers, `involved` are those of the address. */
export interface RecentTransfers {
  seen: number;
  oldest: number | null;
  involved: { network: number; transfer: Transfer; seenAt: number; cataloged: boolean | null }[];
}

const MAX_EXAMPLES = 3;
/** The event loop handles other events between two pages. */
const PAGE_SIZE = 5_000;

const ACTIVE = { id: 0, channelId: '', paused: false, mutedUntil: null } satisfies Partial<Subscription>;

/** Ignores mutes. `read` returns the latest transfers until a time, including all of the oldest moment. */
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
    for (const address of page.involved) count(found, proposal, address);
    to = page.oldest - 1;
  }
}

function count(
  found: DryRun,
  proposal: Proposal,
  { network, transfer, seenAt, cataloged }: RecentTransfers['involved'][number],
): void {
  const context = { now: seenAt, cataloged, isNamed: false, mutes: new Set<string>() };
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
