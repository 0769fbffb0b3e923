import type { AddressText } from './address.ts';
import type { AlertStyle } from './subscription.ts';

/** How many addresses a guild may name. */
export const MAX_LABELS = 1_000;

/** A guild's own name for an address; unique in the guild by its {@link nameKey}. */
export interface Label {
  address: AddressText;
  name: string;
  createdBy: string;
  at: number;
}

/** The person who names an address, and the time. */
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
  /** The webhook that gets new addresses, if the project's list does not show which one it is. */
  webhook: string | null;
}

/** Returns the language of posts in a guild: the one its admins chose, or else its own at Discord; null: unknown. */
export const languageOfGuild = (guild: { language: string | null; locale: string | null }): string | null =>
  guild.language ?? guild.locale;

/** Settings of a guild whose admins chose nothing. */
export const NO_SETTINGS: GuildSettings = {
  defaultChannel: null,
  managerRole: null,
  timezone: null,
  language: null,
  style: null,
  webhook: null,
};

/** One thing that somebody did. */
export interface AuditEntry {
  guildId: string;
  userId: string;
  /** `webhook.remove`, `subscription.add`, … */
  action: string;
  /** Anything that becomes JSON. */
  detail: unknown;
  at: number;
}
