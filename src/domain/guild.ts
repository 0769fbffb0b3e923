import type { AddressText } from './address.ts';

/** A guild's own name of an address. */
export interface Label {
  address: AddressText;
  name: string;
  createdBy: string;
  at: number;
}

/** What a guild's admins chose; null where they chose nothing. */
export interface GuildSettings {
  defaultChannel: string | null;
  managerRole: string | null;
  timezone: string | null;
  language: string | null;
}

/** One thing that somebody did or asked for. */
export interface AuditEntry {
  guildId: string;
  userId: string;
  /** `webhook.remove`, `subscription.add`, … */
  action: string;
  /** Anything that becomes JSON. */
  detail: unknown;
  at: number;
}
