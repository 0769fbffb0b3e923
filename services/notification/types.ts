/** Coins are external and internal payments; NFTs are ERC-721 and ERC-1155. */
export const EVENT_TYPES = ['ALL', 'NATIVE', 'ERC20', 'ERC721'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A chain's own tag for its newest block that is unlikely (`safe`) or unable (`finalized`) to leave the chain. */
export type BlockTag = 'safe' | 'finalized';

/** A number of later blocks, or the tag that must reach the block. */
export type Confirmations = number | BlockTag;

export interface Project {
  id: string;
  /** Query parameter `apiKey`. */
  key: string;
  /** Header `API-SECRET`. */
  secret: string;
  /** Accepted too, while one is rotated. */
  otherSecrets?: readonly string[];
  /** `whsec_…`; two while one is rotated. */
  signingSecrets?: readonly string[];
}

export interface DeliveryRef {
  deliveryId: number;
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  /** In milliseconds since 1970. */
  at: number;
}

/** `attempt` counts from 1 to 7. */
export type DeliveryProgress =
  | (DeliveryRef & { type: 'matched'; body: string })
  | (DeliveryRef & { type: 'attempted'; attempt: number })
  /** `status` is null without a response; `error` is then the reason. */
  | (DeliveryRef & { type: 'answered'; attempt: number; status: number | null; error?: string })
  | (DeliveryRef & { type: 'scheduled'; reason: 'retry' | 'repeat'; dueAt: number })
  /** The end: the receiver returned 200, or the last retry failed. */
  | (DeliveryRef & { type: 'ended'; outcome: 'delivered' | 'exhausted' });

export interface Faults {
  /** How often each delivery is sent again after its 200. */
  repeat: number;
  repeatAfterMs: number;
  delayMs: number;
  /** true: in random order instead of newest first. */
  reorder: boolean;
  /** Scanning continues meanwhile. */
  paused: boolean;
  /** true: events of the blocks that are read meanwhile are lost. */
  lose: boolean;
  /** One event in three is followed by one of a transaction that does not exist. */
  invent: boolean;
}

export interface Notification {
  onProgress(listener: (progress: DeliveryProgress) => void): () => void;
  faults(): Faults;
  setFaults(faults: Partial<Faults>): void;
  /** Up to the chain's newest block, without waiting for the next poll. */
  scan(): Promise<void>;
  deliverNow(): void;
  pending(): number;
}
