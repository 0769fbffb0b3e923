import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createRateLimit } from '../../src/delivery/rate-limit.ts';
import type { SlotPolicy } from '../../src/delivery/request-window.ts';
import { SECOND } from '../../src/domain/clock.ts';

const AT_ONCE: SlotPolicy = { spacingMs: 0, reservedSlots: 0, recheckMs: Number.POSITIVE_INFINITY };

describe('the rate limit', () => {
  /**
   * Sends whenever it may. The n-th request travels for `takes(n)` milliseconds, and so does its response. Returns when
   * the requests were sent, and when they arrived.
   */
  function sendGreedily(policy: SlotPolicy, takes: (n: number) => number, seconds = 10, step = 7) {
    const clock = createManualClock();
    const rateLimit = createRateLimit(clock);
    const sent: number[] = [];
    const arrived: number[] = [];
    for (const end = clock.now() + seconds * SECOND; clock.now() < end; clock.advance(step)) {
      for (let slot = rateLimit.take(policy); typeof slot !== 'number'; slot = rateLimit.take(policy)) {
        slot.countRequest();
        const ms = takes(sent.length);
        sent.push(clock.now());
        arrived.push(clock.now() + ms);
        clock.after(2 * ms, slot.release);
      }
    }
    return { sent, arrived };
  }
  /** The most within this many milliseconds. */
  const most = (times: number[], ms: number) =>
    Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

  it('allows 40 requests at once and in any second', () => {
    const { sent } = sendGreedily(AT_ONCE, () => 3);
    expect(sent.filter((at) => at === sent[0])).toHaveLength(40);
    expect(most(sent, SECOND)).toBe(40);
    expect(sent.length).toBeGreaterThan(390);
  });

  it.each([
    ['are slow', () => 200],
    ['become faster', (n: number) => Math.max(1, 200 - n)],
    ['are sometimes slow', (n: number) => (n % 40 < 25 ? 200 : 0)],
    ['differ in how slow they are', (n: number) => (n % 3) * 100],
  ])('lets at most 50 requests arrive at Discord in any second when they %s', (_name, takes) => {
    const { sent, arrived } = sendGreedily(AT_ONCE, takes);
    expect(most(arrived, SECOND)).toBeLessThanOrEqual(50);
    expect(sent.length).toBeGreaterThan(380);
  });

  it('keeps the spacing between requests that their policy asks for', () => {
    const { sent } = sendGreedily({ ...AT_ONCE, spacingMs: 25 }, () => 3, 2, 5);
    expect(sent).toHaveLength(80);
    expect(most(sent, 25)).toBe(1);
  });

  it('leaves the slots free that a policy reserves for others', () => {
    const { sent } = sendGreedily({ ...AT_ONCE, reservedSlots: 20 }, () => 3);
    expect(most(sent, SECOND)).toBe(20);
    expect(sent.length).toBeGreaterThan(195);
  });

  it('counts a request from when it is sent, and keeps its slot until then', () => {
    const clock = createManualClock();
    const rateLimit = createRateLimit(clock);
    const slots = Array.from({ length: 40 }, () => rateLimit.take(AT_ONCE));
    clock.advance(5 * SECOND);
    expect(rateLimit.take(AT_ONCE)).toBe(SECOND);
    for (const slot of slots) if (typeof slot !== 'number') slot.countRequest();
    clock.advance(999);
    expect(rateLimit.take(AT_ONCE)).toBe(1);
  });
});
