import { MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause } from '../domain/hold.ts';
import { createRefusals } from './refusals.ts';

const FIRST_PAUSE_MS = MINUTE;
const LONGEST_PAUSE_MS = 15 * MINUTE;
const UNAUTHORIZED_PAUSE_MS = 5 * MINUTE;

/** What a response says about all sending: `refused` counts as invalid at Discord, `fault` concerns every channel. */
export type Verdict = 'fine' | 'unsure' | 'refused' | 'global-limit' | 'fault' | 'unauthorized';

/** Pauses all sending after faults that concern every channel; then one request probes whether they are over. */
export function createBreaker() {
  const refusals = createRefusals();
  let pausedUntil = 0;
  let pauseMs = 0;
  let isOpen = false;
  let isProbing = false;
  let isAuthorized = true;

  function pauseUntil(until: number): void {
    pausedUntil = Math.max(pausedUntil, until);
  }

  function open(now: number, retryAfterMs: number): void {
    // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
    if (now >= pausedUntil) {
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs === 0 ? FIRST_PAUSE_MS : pauseMs * 2);
      pauseUntil(now + pauseMs);
    }
    pauseUntil(now + retryAfterMs);
    isOpen = true;
  }

  function close(): void {
    isAuthorized = true;
    isOpen = false;
    pauseMs = 0;
  }

  const needsProbe = () => isOpen || !isAuthorized;

  return {
    /** Milliseconds until a request may start; 0: now. */
    wait(now: number): number {
      if (now < pausedUntil) return pausedUntil - now;
      return needsProbe() && isProbing ? SECOND : 0;
    },
    /** A request starts. */
    begin(): void {
      if (needsProbe()) isProbing = true;
    },
    /** A request ended, with or without a response. */
    end(): void {
      isProbing = false;
    },
    answered(verdict: Verdict, retryAfterMs: number, now: number): void {
      isProbing = false;
      if (verdict !== 'fine' && verdict !== 'unsure') {
        refusals.add(now);
        if (refusals.isOver(now)) pauseUntil(refusals.until());
      }
      switch (verdict) {
        case 'fine':
        case 'refused':
          // Discord itself responded.
          if (now >= pausedUntil) close();
          break;
        case 'global-limit':
          pauseUntil(now + retryAfterMs);
          break;
        case 'fault':
          open(now, retryAfterMs);
          break;
        case 'unauthorized':
          isAuthorized = false;
          pauseUntil(now + UNAUTHORIZED_PAUSE_MS);
          break;
        case 'unsure':
      }
    },
    /** The gateway reports whether Discord accepts the token; the next request shows whether that holds for sending. */
    tokenChecked(isAccepted: boolean, now: number): void {
      if (!isAccepted) isAuthorized = false;
      else if (now >= pausedUntil) isAuthorized = true;
    },
    /** `breaker`: all sending is paused, after a fault of everything or too many refusals. */
    state(now: number) {
      const breaker = isOpen || refusals.isOver(now);
      return { authorized: isAuthorized, breaker, invalidRequests: refusals.count(now) };
    },
    /** Why nothing is sent now, and until when; null: sending goes on. */
    pause(now: number): Pick<SendingPause, 'reason' | 'until'> | null {
      if (now >= pausedUntil) return null;
      return { reason: !isAuthorized ? 'token' : isOpen ? 'breaker' : 'rate', until: pausedUntil };
    },
    setBack(ms: number): void {
      refusals.setBack(ms);
      pausedUntil -= ms;
    },
  };
}
