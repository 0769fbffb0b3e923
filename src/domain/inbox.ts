/** A delivery as it came. */
export interface NewDelivery {
  scope: number;
  receivedAt: number;
  body: Uint8Array;
  /** How its verified headers name it; null or absent: it was not signed. */
  identity?: DeliveryIdentity | null;
}

/** How a signed delivery names itself. */
export interface DeliveryIdentity {
  /** The sender's id of the delivery, the same in every retry. The signature covers it. */
  id: string;
  chainId: string | null;
  /** Where the transfer is: `transaction`, `log:5`, `trace:0.1`. */
  place: string | null;
}

/** How much of the inbox and of the disk one scope uses. */
export interface InboxUsage {
  scope: number;
  waiting: number;
  /** Of what waits. */
  waitingBytes: number;
  /** Of what was stored in the latest day (UTC, counted from 1970) in which there was something. */
  day: number;
  dayBytes: number;
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
