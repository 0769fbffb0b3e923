import { describe, expect, it } from 'vitest';
import { createLimits, type RequestSlot } from '../../src/delivery/limits.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { SendOutcome } from '../../src/domain/sender.ts';

const FAULT: SendOutcome = { status: 'breaker', reason: 'HTTP 403' };
const FORBIDDEN: SendOutcome = { status: 'forbidden', code: 50013 };

/** Limits with a clock; `send` makes a request, or returns how long it would have to wait. */
function create() {
  let now = 50_000;
  const limits = createLimits({ elapsed: () => now });
  return {
    now: () => now,
    pass(ms: number): void {
      now += ms;
    },
    take: (): RequestSlot | number => limits.take('guild'),
    guildWait: (guildId = 'guild') => limits.guildWait(guildId),
    send(): number {
      const slot = limits.take('guild');
      if (typeof slot === 'number') return slot;
      slot.countRequest();
      slot.release();
      return 0;
    },
    record: (outcome: SendOutcome, guildId = 'guild') => limits.record(outcome, guildId),
    state: limits.state,
  };
}

describe('requests', () => {
  it('begin at most 40 times in any second, and as often as that', () => {
    const { send, pass, now } = create();
    const begun: number[] = [];
    for (const end = now() + 10 * SECOND; now() < end; pass(7)) while (send() === 0) begun.push(now());
    const inSecondFrom = (from: number) => begun.filter((at) => at >= from && at < from + SECOND).length;
    expect(Math.max(...begun.map(inSecondFrom))).toBe(40);
    expect(begun.length).toBeGreaterThan(390);
  });

  it('count from when they are sent; a turn without one leaves its room to others', () => {
    const { take, send, pass } = create();
    const slots = Array.from({ length: 39 }, () => take() as RequestSlot);
    expect(send()).toBe(0);
    pass(5 * SECOND);
    expect(send()).toBe(0);
    expect(send()).toBe(SECOND);
    for (const slot of slots.slice(1)) slot.countRequest();
    slots[0]!.release();
    expect(send()).toBe(0);
    expect(send()).toBe(SECOND);
  });
});

describe('the breaker', () => {
  it('lengthens its pause once for a fault that all requests in flight report', () => {
    const { record, send, pass } = create();
    for (let n = 0; n < 3; n++) record(FAULT);
    expect(send()).toBe(MINUTE);
    pass(MINUTE);
    record(FAULT);
    expect(send()).toBe(2 * MINUTE);
  });

  it('is unmoved when the library itself held a request back', () => {
    const { record, state } = create();
    record({ status: 'rate-limited', global: false, local: true, retryAfterMs: 100 });
    expect(state()).toEqual({ authorized: true, breaker: false, invalidRequests: 0, pausedGuilds: 0 });
  });

  it('opens after 500 invalid requests in ten minutes, until the first of them is ten minutes old', () => {
    const { record, state, send, pass } = create();
    for (let n = 0; n < 499; n++) record(FORBIDDEN);
    expect(state()).toMatchObject({ breaker: false });
    record(FORBIDDEN);
    expect([state().breaker, send()]).toEqual([true, 10 * MINUTE]);
    pass(10 * MINUTE);
    expect([state().breaker, send()]).toEqual([false, 0]);
  });

  it('allows one probe at a time once its pause is over', () => {
    const { record, state, take, pass } = create();
    record({ status: 'unauthorized' });
    pass(MINUTE);
    expect([state().authorized, typeof take(), take()]).toEqual([false, 'object', Number.POSITIVE_INFINITY]);
    record({ status: 'sent', messageId: null });
    expect([state().authorized, typeof take()]).toEqual([true, 'object']);
  });
});

describe('a server', () => {
  it('has at most half of the requests in flight, and fewer the more of them Discord refuses', () => {
    const { guildWait, take, record, pass } = create();
    const inFlight = () => {
      const slots: RequestSlot[] = [];
      while (guildWait() === 0) slots.push(take() as RequestSlot);
      for (const slot of slots) slot.release();
      return slots.length;
    };
    expect(inFlight()).toBe(20);
    for (let n = 0; n < 4; n++) record(FORBIDDEN, 'guild');
    expect(inFlight()).toBe(16);
    for (let n = 0; n < 6; n++) record(FORBIDDEN, 'guild');
    pass(MINUTE);
    expect(inFlight()).toBe(1);
  });

  it('pauses after ten refusals in ten minutes, and probes one channel each minute', () => {
    const { guildWait, record, pass, state } = create();
    // The last two were in flight when the pause began.
    for (let n = 0; n < 12; n++) record(FORBIDDEN, 'guild');
    expect([state().pausedGuilds, guildWait('another')]).toEqual([1, 0]);
    const gaps = Array.from({ length: 9 }, () => {
      const wait = guildWait();
      pass(wait);
      record(FORBIDDEN, 'guild');
      return wait / MINUTE;
    });
    expect(gaps).toEqual(Array(9).fill(1));
    pass(10 * MINUTE);
    expect([state().pausedGuilds, guildWait()]).toEqual([0, 0]);
  });
});
