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
