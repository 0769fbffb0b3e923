import type { HiddenReason } from './match.ts';
import type { Choices, Perspective, Subscription } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** A subscription as far as it decides what is told. */
export type Wish = Choices & Pick<Subscription, 'guildId' | 'address'>;

/** What a subscription would have told of what was seen. */
export interface Rehearsal {
  /** Transfers at its address. */
  related: number;
  told: number;
  /** How many each rule would have left out. */
  hidden: Partial<Record<HiddenReason, number>>;
  /** The latest that it would have told. */
  examples: { transfer: Transfer; perspective: Perspective; seenAt: number }[];
  /** When the oldest transfer that was looked at came; null: there was none. */
  since: number | null;
  /** How many were looked at, where there were more; else null. */
  cut: number | null;
}
