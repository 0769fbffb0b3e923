import { SECOND } from '../domain/clock.ts';
import { PER_SECOND } from './request-window.ts';

/** Time constant of the average. */
const AVERAGE_MS = 400;
/** With no event for this long, no more are expected. */
const FLOOD_END_MS = 100;

/** Measures how many events arrive, as an average that decays. */
export function createEventRate() {
  let rate = 0;
  let latestAt = Number.NEGATIVE_INFINITY;

  return {
    record(events: number, now: number): void {
      rate = rate * Math.exp(Math.min(0, latestAt - now) / AVERAGE_MS) + events * (SECOND / AVERAGE_MS);
      latestAt = now;
    },
    /** Whether more events arrive than requests may start. */
    isFlood: (now: number): boolean => rate > PER_SECOND && now - latestAt < FLOOD_END_MS,
    /** Events per request, if each second's requests shared its events. */
    perRequest: (): number => Math.floor(rate / PER_SECOND),
    /** Milliseconds until no more events are expected. */
    untilFloodEnds: (now: number): number => latestAt + FLOOD_END_MS - now,
    setBack(ms: number): void {
      latestAt -= ms;
    },
  };
}
