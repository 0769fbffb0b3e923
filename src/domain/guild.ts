import type { AddressText } from './address.ts';
import type { AlertStyle, Choices, SubscriptionChange, SubscriptionImport } from './subscription.ts';

export const MAX_LABELS = 1_000;

/** Unique in a guild by its {@link nameKey}. */
export interface Label {
  address: AddressText;
  name: string;
  createdBy: string;
  at: number;
}

export interface LabelAuthor {
  userId: string;
  at: number;
}

export const nameKey = (name: string): string => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

export type LabelRefusal = { status: 'label-taken'; name: string; address: AddressText } | { status: 'labels-full' };

/** Addresses may swap names. A book over the limit may still change, as long as it does not grow. */
export function labelRefusal(
  book: readonly Pick<Label, 'address' | 'name'>[],
  names: ReadonlyMap<AddressText, string | null>,
  limit: number = MAX_LABELS,
): LabelRefusal | null {
  const kept = book.filter(({ address }) => !names.has(address));
  const holders = new Map(kept.map(({ address, name }) => [nameKey(name), address]));
  for (const [address, name] of names) {
    if (name === null) continue;
    const holder = holders.get(nameKey(name));
    if (holder !== undefined) return { status: 'label-taken', name, address: holder };
    holders.set(nameKey(name), address);
  }
  return holders.size > Math.max(limit, book.length) ? { status: 'labels-full' } : null;
}

export const nameInBook = (book: readonly Pick<Label, 'address' | 'name'>[], address: AddressText): string | null =>
  book.find((label) => label.address === address)?.name ?? null;

/** null: not chosen. */
export interface GuildSettings {
  defaultChannel: string | null;
  managerRole: string | null;
  timezone: string | null;
  language: string | null;
  style: AlertStyle | null;
  statement: StatementPeriod | null;
}

export const STATEMENT_PERIODS = ['weekly', 'monthly'] as const;
export type StatementPeriod = (typeof STATEMENT_PERIODS)[number];

export const NO_SETTINGS: GuildSettings = {
  defaultChannel: null,
  managerRole: null,
  timezone: null,
  language: null,
  style: null,
  statement: null,
};

export interface AuditEntry {
  guildId: string;
  userId: string;
  /** `webhook.remove`, `subscription.add`, … */
  action: string;
  detail: unknown;
  at: number;
}

export interface Backlog {
  inbox: { waiting: number; oldest: number | null };
  quarantine: { rows: number; bytes: number };
  /** `closed`: for a blocked channel. `oldest`: when the oldest that is due could have been posted. */
  alerts: { due: number; held: number; closed: number; oldest: number | null };
  /** Not confirmed, in channels that are not blocked. */
  frozen: number;
  deadLetters: number;
  channels: { parked: number; unreachable: number };
}

export interface GuildOverview {
  lastEventAt: number | null;
  waiting: number;
  held: number;
  deadLetters: number;
  lastDeadLetter: { channelId: string; reason: string; at: number } | null;
  /** Only channels with waiting alerts. */
  blocked: { channelId: string; state: 'parked' | 'unreachable'; since: number | null }[];
}

export interface StoredCounts {
  subscriptions: number;
  labels: number;
  tokenMutes: number;
  project: boolean;
  webhookNames: number;
  settings: boolean;
  waiting: number;
  /** Past alerts and decisions. */
  history: number;
  audit: number;
}

export interface WebhookRemoval {
  webhook: string;
  addresses: AddressText[];
  scope: number;
}

export interface Questions {
  'webhook.remove': WebhookRemoval;
  /** `silent`: subscriptions whose addresses the webhook no longer has; they are removed, too. */
  'webhook.forget': WebhookRemoval & { silent: number[] };
  'webhook.restore': Omit<WebhookRemoval, 'scope'>;
  'subscription.import': Pick<SubscriptionImport, 'added' | 'changed' | 'labels'>;
  'subscription.group': {
    channelId: string;
    network?: number | null;
    choices: Omit<Choices, 'label'>;
    entries: { address: AddressText; label: string | null }[];
  };
  'subscription.panel': { id: number; change: SubscriptionChange };
}

export type Action = keyof Questions;

export interface NewConfirmation<Asked extends Action = Action> {
  guildId: string;
  userId: string;
  action: Asked;
  /** Read back from JSON: without fields that are `undefined`. */
  detail: Questions[Asked];
  askedAt: number;
}

export interface Confirmation<Asked extends Action = Action>
  extends Pick<NewConfirmation<Asked>, 'guildId' | 'userId' | 'action'> {
  id: number;
  /** Older questions are no longer valid. */
  notBefore: number;
}

/** `parked`: not permitted now (403). `unreachable`: gone (404). Both are called blocked. */
export type ChannelState = 'ready' | 'parked' | 'unreachable';

export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  attempts: number;
  since: number | null;
  /** The bot was removed from the guild. */
  removed: boolean;
}

export const GONE = 'channel or server is gone';

export interface UsedChannel {
  channelId: string;
  state: ChannelState | null;
}

/** Prefers the chosen channel, then one in which the bot has posted before. */
export function channelForNotices(
  troubledId: string,
  ofGuild: { chosen: UsedChannel | null; used: readonly UsedChannel[] },
): string | null {
  const isOpen = ({ channelId, state }: UsedChannel) => channelId !== troubledId && (state ?? 'ready') === 'ready';
  const open = ofGuild.used.filter(isOpen);
  const chosen = ofGuild.chosen && isOpen(ofGuild.chosen) ? ofGuild.chosen : undefined;
  return (chosen ?? open.find(({ state }) => state !== null) ?? open[0])?.channelId ?? null;
}

export type Shard = readonly [index: number, of: number];

/** By Discord's formula. */
const isInShard = ([index, of]: Shard, guildId: string): boolean =>
  of === 1 || (BigInt(guildId) >> 22n) % BigInt(of) === BigInt(index);

export interface KnownGuild {
  guildId: string;
  removed: boolean;
}

/** `back`: guilds that the bot is in again although they removed it. */
export function compareGuilds(
  known: readonly KnownGuild[],
  current: ReadonlySet<string>,
  shard: Shard,
): { gone: string[]; back: string[] } {
  const here = known.filter(({ guildId }) => isInShard(shard, guildId));
  const idsOf = (guilds: readonly KnownGuild[]) => guilds.map(({ guildId }) => guildId);
  return {
    gone: idsOf(here.filter(({ guildId }) => !current.has(guildId))),
    back: idsOf(here.filter(({ guildId, removed }) => removed && current.has(guildId))),
  };
}
