import type { AddressText } from './address.ts';
import type { AlertStyle, Choices, SubscriptionChange, SubscriptionImport } from './subscription.ts';

export const MAX_LABELS = 1_000;

/** A guild's own name for an address; unique in the guild by its {@link nameKey}. */
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

/** What a name is compared by: the case of the letters from A to Z makes no difference. */
export const nameKey = (name: string): string => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Why an address did not get a name: another one has it, or the guild names as many addresses as it may. */
export type LabelRefusal = { status: 'label-taken'; name: string; address: AddressText } | { status: 'labels-full' };

/**
 * Why a guild's addresses do not get these names (null: no name); null: they do. Addresses may swap their names. A book
 * that is over the limit may still change, as long as it does not grow.
 */
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

/** The name that an address has in a guild's address book; null: none. */
export const nameIn = (book: readonly Pick<Label, 'address' | 'name'>[], address: AddressText): string | null =>
  book.find((label) => label.address === address)?.name ?? null;

/** What a guild's admins chose; null: nothing. */
export interface GuildSettings {
  defaultChannel: string | null;
  managerRole: string | null;
  timezone: string | null;
  language: string | null;
  /** How alerts look where a subscription does not say; null: compact. */
  style: AlertStyle | null;
  /** How often a statement of all wallets is posted; null: never. */
  statement: StatementPeriod | null;
}

export const STATEMENT_PERIODS = ['weekly', 'monthly'] as const;
export type StatementPeriod = (typeof STATEMENT_PERIODS)[number];

/** Returns the language of posts in a guild: the one its admins chose, or else its own at Discord; null: unknown. */
export const languageOfGuild = (guild: { language: string | null; locale: string | null }): string | null =>
  guild.language ?? guild.locale;

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

/** What waits, what is in quarantine and what cannot be posted, at one moment. Times in milliseconds since 1970. */
export interface Backlog {
  inbox: { waiting: number; oldest: number | null };
  quarantine: { rows: number; bytes: number };
  /**
   * Alerts that wait for their message: `due` now, `held` until a chosen time, or kept for a blocked channel (`closed`, as
   * in the metric). `oldest`: since when the oldest one that is due, or whose message is not confirmed, could
   * have been posted.
   */
  alerts: { due: number; held: number; closed: number; oldest: number | null };
  /** Messages that are frozen and not confirmed, in channels that are not blocked. */
  frozen: number;
  deadLetters: number;
  channels: { parked: number; unreachable: number };
}

export interface GuildOverview {
  lastEventAt: number | null;
  waiting: number;
  /** Those that a digest or quiet hours hold. */
  held: number;
  deadLetters: number;
  lastDeadLetter: { channelId: string; reason: string; at: number } | null;
  /** Channels with waiting alerts that the bot cannot post in now, and since when. */
  blocked: { channelId: string; state: 'parked' | 'unreachable'; since: number | null }[];
}

export interface StoredCounts {
  subscriptions: number;
  labels: number;
  tokenMutes: number;
  /** A notification project of its own, with its receiver URLs. */
  project: boolean;
  webhookNames: number;
  settings: boolean;
  waiting: number;
  /** Past alerts, and the reasons recorded for transfers that were not posted. */
  history: number;
  audit: number;
}

export interface WebhookRemoval {
  webhook: string;
  addresses: AddressText[];
  /** The scope of the webhook's events; an earlier version did not store it. */
  scope?: number;
}

/** What a question is about, by the action that its button confirms. */
export interface Questions {
  'webhook.remove': WebhookRemoval;
  /** Removes these subscriptions too, whose addresses the webhook no longer has. */
  'webhook.forget': WebhookRemoval & { silent: number[] };
  'webhook.restore': WebhookRemoval;
  'subscription.import': Pick<SubscriptionImport, 'added' | 'changed' | 'labels'>;
  'subscription.group': {
    channelId: string;
    /** null, and by default: on any. */
    network?: number | null;
    choices: Omit<Choices, 'label'>;
    entries: { address: AddressText; label: string | null }[];
  };
  'subscription.panel': { id: number; change: SubscriptionChange };
}

export type Action = keyof Questions;

/** A question, such as "Remove these?", that one person may confirm. */
export interface NewConfirmation<Asked extends Action = Action> {
  guildId: string;
  userId: string;
  action: Asked;
  /** It is returned as it is after JSON: without fields that are `undefined`. */
  detail: Questions[Asked];
  askedAt: number;
}

export interface Confirmation<Asked extends Action = Action>
  extends Pick<NewConfirmation<Asked>, 'guildId' | 'userId' | 'action'> {
  id: number;
  /** Older questions are no longer valid. */
  notBefore: number;
}

/** Whether the bot can post in a channel. Blocked ones are `parked` (not permitted now, 403) or `unreachable` (gone, 404). */
export type ChannelState = 'ready' | 'parked' | 'unreachable';

export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  /** How often it was tried since it is parked or unreachable. */
  attempts: number;
  /** Since when it is parked or unreachable; null: it is ready. */
  since: number | null;
}

/** The reason that people read while a channel is blocked because it was deleted or its guild removed the bot. */
export const GONE = 'channel or server is gone';

/** A channel that a guild uses; `state` null: nothing was posted there yet. */
export interface UsedChannel {
  channelId: string;
  state: ChannelState | null;
}

/**
 * Returns where a guild's admins are notified of trouble in a channel: in the guild's default channel, or else in one in
 * use, preferably one in which the bot has posted before. Null: there is no other channel that the bot can post in.
 */
export function channelForNotices(
  troubledId: string,
  ofGuild: { chosen: UsedChannel | null; used: readonly UsedChannel[] },
): string | null {
  const isOpen = ({ channelId, state }: UsedChannel) => channelId !== troubledId && (state ?? 'ready') === 'ready';
  const open = ofGuild.used.filter(isOpen);
  const chosen = ofGuild.chosen && isOpen(ofGuild.chosen) ? ofGuild.chosen : undefined;
  return (chosen ?? open.find(({ state }) => state !== null) ?? open[0])?.channelId ?? null;
}

/** One of the bot's connections to Discord, which gets a part of the guilds: shard `index` of `of`. */
export type Shard = readonly [index: number, of: number];

/** Whether a guild is in a shard, by Discord's formula. */
const isInShard = ([index, of]: Shard, guildId: string): boolean =>
  of === 1 || (BigInt(guildId) >> 22n) % BigInt(of) === BigInt(index);

/** A guild about which something is stored; `removed`: it has removed the bot. */
export interface KnownGuild {
  guildId: string;
  removed: boolean;
}

/** Of a shard's known guilds: those that the bot is not in, and those that it is in again although they removed it. */
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
