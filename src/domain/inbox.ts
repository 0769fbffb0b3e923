/** A delivery as it came. */
export interface NewDelivery {
  scope: number;
  receivedAt: number;
  body: Uint8Array;
}

/** A delivery that waits for the router, with its bytes read as UTF-8. */
export interface InboxRow extends Omit<NewDelivery, 'body'> {
  id: number;
  body: string;
  /** When it had been answered, of one that was set aside and put back; null where that is not known. */
  answeredAt?: number | null;
}

/** A delivery that could not be understood, with its bytes as they came. */
export interface Quarantined {
  id: number;
  scope: number;
  /** The guild whose own project's URL it came to; null for the operator's, and for a project that is gone. */
  guildId: string | null;
  receivedAt: number;
  reason: string;
  body: Uint8Array;
}
