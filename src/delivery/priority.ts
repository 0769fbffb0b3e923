import { MAX_ALERTS } from '../domain/batch.ts';
import { SECOND } from '../domain/clock.ts';
import { createEventRate } from './event-rate.ts';
import { createFairShare } from './fair-share.ts';
import { PER_SECOND, type SlotPolicy } from './request-window.ts';

/** A channel that waited longer is served before every one that did not. */
const MAX_WAIT_MS = 5 * SECOND;

const AT_ONCE: SlotPolicy = { spacingMs: 0, reservedSlots: 0, recheckMs: Number.POSITIVE_INFINITY };

/** What the order of channels depends on. */
export interface Waiting {
  /** null: not known yet. */
  readonly guildId: string | null;
  /** Waiting alerts, as far as is known. */
  readonly alerts: number;
  /** Since when it waits for a slot. */
  readonly queuedAt: number;
}

/** The order of channels. */
export type Priority = ReturnType<typeof createPriority>;

/** Orders channels: urgent ones first, then guilds within their share; and spaces out what is not urgent in a flood. */
export function createPriority() {
  const share = createFairShare();
  const events = createEventRate();

  return {
    recordEvents: events.record,
    recordSlot: share.record,
    /**
     * While there are more channels than requests, full messages come first: a request should carry much. Then the most
     * alerts, then the latest arrival: what already waits is likely to be joined by its channel's next alert. Guilds
     * within their fair share come before others, except for what is not urgent in a flood.
     */
    comesBefore(a: Waiting, b: Waiting, now: number): boolean {
      const [urgent, other] = [urgency(a, now), urgency(b, now)];
      const [isGreedy, isOtherGreedy] = [share.isExceeded(a.guildId), share.isExceeded(b.guildId)];
      if (isGreedy !== isOtherGreedy && (!events.isFlood(now) || (urgent === other && urgent > 0))) {
        return isOtherGreedy;
      }
      if (urgent !== other) return urgent > other;
      if (urgent > 0) return a.queuedAt < b.queuedAt;
      return a.alerts === b.alerts ? a.queuedAt > b.queuedAt : a.alerts > b.alerts;
    },
    /**
     * In a flood a channel with few alerts is not urgent: its next alerts then need no request of their own. When even
     * full messages hardly hold what arrives, half of the requests are reserved for these.
     */
    policyOf(channel: Waiting, now: number): SlotPolicy {
      if (!events.isFlood(now) || urgency(channel, now) > 0) return AT_ONCE;
      const worth = Math.min(MAX_ALERTS, events.perRequest());
      return {
        spacingMs: Math.ceil((SECOND / PER_SECOND) * Math.max(1, worth / Math.max(1, channel.alerts))),
        reservedSlots: worth < MAX_ALERTS ? 0 : PER_SECOND / 2,
        recheckMs: events.untilFloodEnds(now),
      };
    },
    setBack: events.setBack,
  };
}

/** 2: waited too long, 1: has a full message. */
function urgency({ queuedAt, alerts }: Waiting, now: number): number {
  if (now - queuedAt > MAX_WAIT_MS) return 2;
  return alerts >= MAX_ALERTS ? 1 : 0;
}
