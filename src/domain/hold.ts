import { DAY } from './clock.ts';

/** Why an alert is not posted at once. */
export type Hold = 'hourly' | 'daily' | 'quiet';

/** The longest hold: a daily digest, then quiet hours. */
export const MAX_HOLD_MS = 3 * DAY;

/** Why alerts are posted as a digest. */
export type DigestReason = Hold | 'backlog' | 'burst';

/** When a subscription's alerts are posted. */
export interface DeliverySchedule {
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone. */
  quiet: string | null;
}

/** Whether alerts with this schedule may have to wait. */
export const mayHold = ({ digest, quiet }: DeliverySchedule): boolean => digest !== null || quiet !== null;

/** When an alert may be posted: at once (`hold` null, `dueAt` 0), or from `dueAt` on. */
export interface Due {
  hold: Hold | null;
  /** Milliseconds since 1970. */
  dueAt: number;
}
