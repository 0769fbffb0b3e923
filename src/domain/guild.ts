import type { AddressText } from './address.ts';
import type { AlertStyle } from './subscription.ts';

/** How many addresses a guild may name. */
export const MOST_LABELS = 1_000;

/** Why an address did not get a name: another one has it, or the guild names as many addresses as it may. */
export type LabelRefusal = { status: 'label-taken'; name: string; address: AddressText } | { status: 'labels-full' };

/** A guild's own name for an address; unique in the guild, where A to Z count as a to z. */
export interface Label {
  address: AddressText;
  name: string;
  createdBy: string;
  at: number;
}

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
