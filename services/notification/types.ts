/** The events a webhook receives: all, coins (external and internal), ERC-20, or NFTs (ERC-721 and ERC-1155). */
export const EVENT_TYPES = ['ALL', 'NATIVE', 'ERC20', 'ERC721'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A chain's own tag for its newest block that is unlikely (`safe`) or unable (`finalized`) to leave the chain. */
export type BlockTag = 'safe' | 'finalized';

/** How final a block must be before its events are sent: a number of later blocks, or the tag that must reach it. */
export type Confirmations = number | BlockTag;

/** A project and its two keys, from configuration. */
export interface Project {
  id: string;
  /** The public key: query parameter `apiKey`. */
  key: string;
  /** The secret key: header `API-SECRET`. */
  secret: string;
  /** Another secret key that is accepted too, while one is rotated. */
  otherSecrets?: readonly string[];
  /** Secrets that deliveries are signed with (`whsec_…`); two while one is rotated. */
  signingSecrets?: readonly string[];
}

/** Identifies the delivery of a progress report. */
export interface DeliveryRef {
  deliveryId: number;
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  /** When it happened, in milliseconds since 1970. */
  at: number;
}

/** One step of a delivery. `attempt` counts from 1 to 7. */
export type DeliveryProgress =
  | (DeliveryRef & { type: 'matched'; body: string })
  | (DeliveryRef & { type: 'attempted'; attempt: number })
  /** `status` is null without a response; `error` is then the reason. */
  | (DeliveryRef & { type: 'answered'; attempt: number; status: number | null; error?: string })
  /** It is sent again at `dueAt`: after a failure, or as a repetition that was asked for. */
  | (DeliveryRef & { type: 'scheduled'; reason: 'retry' | 'repeat'; dueAt: number })
  /** The end: the receiver returned 200, or the last retry failed. */
  | (DeliveryRef & { type: 'ended'; outcome: 'delivered' | 'exhausted' });

/** Faults to inject; all are off at first. */
export interface Faults {
  /** How often each delivery is sent again after its 200. */
  repeat: number;
  /** How long after a 200 the repetition is sent. */
  repeatAfterMs: number;
  /** How long a new event waits before its first attempt. */
  delayMs: number;
  /** true: in random order instead of newest first. */
  reorder: boolean;
  /** true: nothing is sent until it is false again; scanning continues. */
  paused: boolean;
  /** true: events of the blocks that are read meanwhile are lost. */
  lose: boolean;
  /** true: one event in three is followed by one of a transaction that does not exist. */
  invent: boolean;
}

/** The running notification service, for those in the same process. */
export interface Notification {
  /** Calls the listener with every step of every delivery. Returns a stop function. */
  onProgress(listener: (progress: DeliveryProgress) => void): () => void;
  /** The faults in force. */
  faults(): Faults;
  /** Changes some faults; the others stay. */
  setFaults(faults: Partial<Faults>): void;
  /** Reads all blocks up to the chain's newest now, without waiting for the next poll. */
  scan(): Promise<void>;
  /** Makes all retries and repetitions due now. */
  deliverNow(): void;
  /** How many deliveries are waiting or being sent. */
  pending(): number;
}
