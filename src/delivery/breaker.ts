import { MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause } from '../domain/sending-pause.ts';
import { createRefusals } from './refusals.ts';

/** The breaker: a fault that concerns every channel pauses all sending. */

const FIRST_PAUSE_MS = MINUTE;
const MAX_PAUSE_MS = 15 * MINUTE;
const UNAUTHORIZED_PAUSE_MS = 5 * MINUTE;

/** What a response says about all sending: `refused` counts as invalid at Discord, `fault` concerns every channel. */
export type ResponseKind = 'fine' | 'unsure' | 'refused' | 'global-limit' | 'fault' | 'unauthorized';

/** Pauses all sending after faults that concern every channel; then one request probes whether they are over. */
export function createBreaker() {
  const refusals = createRefusals();
  const pause = createPause();
  let isOpen = false;
  let isProbing = false;
  let isAuthorized = true;

  function open(now: number, retryAfterMs: number): void {
    // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
    if (pause.left(now) === 0) pause.lengthen(now);
    pause.extend(now + retryAfterMs);
    isOpen = true;
  }

  function close(): void {
    isAuthorized = true;
    isOpen = false;
    pause.forgetLength();
  }

  const needsProbe = () => isOpen || !isAuthorized;

  return {
    /** Milliseconds until a request may start; 0: now. */
    wait(now: number): number {
      return pause.left(now) || (needsProbe() && isProbing ? SECOND : 0);
    },
    /** Records that a request starts. */
    begin(): void {
      if (needsProbe()) isProbing = true;
    },
    /** Records that a request ended, with or without a response. */
    end(): void {
      isProbing = false;
    },
    recordResponse(kind: ResponseKind, retryAfterMs: number, now: number): void {
      isProbing = false;
      if (kind !== 'fine' && kind !== 'unsure') {
        refusals.add(now);
        if (refusals.isOver(now)) pause.extend(refusals.until());
      }
      switch (kind) {
        case 'fine':
        case 'refused':
          // Discord itself responded.
          if (pause.left(now) === 0) close();
          break;
        case 'global-limit':
          pause.extend(now + retryAfterMs);
          break;
        case 'fault':
          open(now, retryAfterMs);
          break;
        case 'unauthorized':
          isAuthorized = false;
          pause.extend(now + UNAUTHORIZED_PAUSE_MS);
          break;
        case 'unsure':
      }
    },
    /** Records whether the gateway's token was accepted; the next request shows whether that holds for sending. */
    recordTokenCheck(isAccepted: boolean, now: number): void {
      if (!isAccepted) isAuthorized = false;
      else if (pause.left(now) === 0) isAuthorized = true;
    },
    /** `breaker`: all sending is paused, after a fault of everything or too many refusals. */
    state(now: number) {
      const breaker = isOpen || refusals.isOver(now);
      return { authorized: isAuthorized, breaker, invalidRequests: refusals.count(now) };
    },
    /** Why nothing is sent now, and until when; null: sending goes on. */
    pause(now: number): Pick<SendingPause, 'reason' | 'until'> | null {
      if (pause.left(now) === 0) return null;
      return { reason: !isAuthorized ? 'token' : isOpen ? 'breaker' : 'rate', until: pause.until() };
    },
    setBack(ms: number): void {
      refusals.setBack(ms);
      pause.setBack(ms);
    },
  };
}

/** A pause that gets twice as long each time, until it is no longer needed. */
function createPause() {
  let until = 0;
  let lastMs = 0;
  return {
    /** Milliseconds until it ends; 0: it has ended. */
    left: (now: number): number => Math.max(0, until - now),
    until: (): number => until,
    /** Makes it end at this time, or later if it would anyway. */
    extend(to: number): void {
      until = Math.max(until, to);
    },
    /** Begins one that is twice as long as the last one. */
    lengthen(now: number): void {
      lastMs = Math.min(MAX_PAUSE_MS, lastMs === 0 ? FIRST_PAUSE_MS : lastMs * 2);
      until = now + lastMs;
    },
    /** Makes the next one a first one. */
    forgetLength(): void {
      lastMs = 0;
    },
    setBack(ms: number): void {
      until -= ms;
    },
  };
}
