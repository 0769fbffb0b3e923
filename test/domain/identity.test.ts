import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, type Receipt, type SeenDelivery, type Verdict } from '../../src/domain/identity.ts';

const KEYS = { delivery: 'd', transfer: 't' };

/** When a body arrived, in seconds, and at which run of a process. */
type Arrival = [seconds: number, run?: string];

const receipt = ([seconds, run = 'first']: Arrival): Receipt => ({
  receivedAt: 1_000_000 + seconds * 1_000,
  run,
  runMs: seconds * 1_000,
  identity: null,
});

/** Judges equal deliveries one after the other. */
function verdictsOf(...arrivals: Arrival[]): Verdict[] {
  let known: SeenDelivery | undefined;
  return arrivals.map((arrival) => {
    const { verdict, delivery } = judge(known, known !== undefined, KEYS, receipt(arrival));
    known = delivery;
    return verdict;
  });
}

describe('equal deliveries', () => {
  it('counts equal deliveries of one run within 10 s as different transfers', () => {
    expect(verdictsOf([0], [0], [9.999])).toEqual(['new', 'second', 'second']);
  });

  it('counts an equal delivery from 10 s on as a repeat', () => {
    expect(verdictsOf([0], [10])).toEqual(['new', 'repeat']);
  });

  it('counts an equal delivery of another run as a repeat, even at once', () => {
    expect(verdictsOf([0], [0, 'second'])).toEqual(['new', 'repeat']);
    expect(verdictsOf([0], [0, 'second'], [0])).toEqual(['new', 'repeat', 'repeat']);
  });

  it('counts no third transfer when two equal deliveries both come again', () => {
    expect(verdictsOf([0], [1], [16], [17], [76], [77])).toEqual(['new', 'second', ...Array(4).fill('repeat')]);
    expect(verdictsOf([0], [1], [16, 'second'], [17, 'second'])).toEqual(['new', 'second', 'repeat', 'repeat']);
  });

  it('counts a second transfer later if its first delivery failed and both are found by a rescan', () => {
    expect(verdictsOf([0], [600], [601])).toEqual(['new', 'repeat', 'second']);
  });

  it('counts equal transfers the same way when their bodies are stored in another order', () => {
    expect(verdictsOf([2], [0], [9], [15])).toEqual(['new', 'second', 'second', 'repeat']);
  });

  it('counts a hundred equal transfers at once as a hundred, also when they all come again', () => {
    const all = Array.from({ length: 100 }, (_, n): Arrival => [n / 50]);
    const verdicts = verdictsOf(...all, ...all.map(([seconds]): Arrival => [seconds + 18]));
    expect(verdicts.filter((verdict) => verdict === 'second')).toHaveLength(99);
  });
});

/** Equal transfers of a transaction: the sender tries each, and again after each response that is lost, then scans again. */
const copies = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 20, noNaN: true }),
    /** Whether each try was stored, and how many seconds the sender waited for its response. */
    tries: fc.array(fc.tuple(fc.boolean(), fc.double({ min: 0, max: 3, noNaN: true })), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('equal transfers in one transaction', () => {
  it('never counts more equal transfers than there are, whatever happens to their responses and runs', () => {
    const runs = fc.array(fc.constantFrom('first', 'second'), { maxLength: 30 });
    fc.assert(
      fc.property(copies, runs, (transfers, names) => {
        const RETRIES = [15, 60, 600];
        const arrivals = transfers.flatMap(({ at, tries }) => {
          let now = at;
          const tried = tries.flatMap(([isStored, patience], n) => {
            const arrival = now;
            now += patience + RETRIES[n]!;
            return isStored ? [arrival] : [];
          });
          return [...tried, now, 5_000 + at];
        });
        const sorted = arrivals.toSorted((a, b) => a - b).map((at, n): Arrival => [at, names[n] ?? 'first']);
        const counted = verdictsOf(...sorted).filter((verdict) => verdict === 'new' || verdict === 'second');
        expect(counted.length).toBeLessThanOrEqual(transfers.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('signed deliveries', () => {
  /** Judges deliveries with these names, a second after each other: `[id, place]`; null: not signed. */
  function named(...names: ([string, string | null] | null)[]) {
    let known: SeenDelivery | undefined;
    const verdicts = names.map((name, n) => {
      const identity = name && { id: name[0], chainId: '1', place: name[1] };
      const { verdict, delivery } = judge(known, known !== undefined, KEYS, { ...receipt([n]), identity });
      known = delivery;
      return verdict;
    });
    return { verdicts, count: known!.count };
  }

  it('counts one more transfer for each further place of signed deliveries, however late', () => {
    const judged = named(['a', 'log:1'], ...Array<['a', 'log:1']>(70).fill(['a', 'log:1']), ['b', 'log:2']);
    expect(judged.verdicts.at(-1)).toBe('second');
    expect(judged.count).toBe(2);
  });

  it('counts a signed body with a known ID as a repeat, even if it names another place', () => {
    expect(named(['a', 'log:1'], ['a', 'log:1'], ['a', 'log:2'])).toEqual({
      verdicts: ['new', 'repeat', 'repeat'],
      count: 1,
    });
  });

  it('counts a signed body with a known place and a new ID as a repeat, because it was requested again', () => {
    expect(named(['a', 'log:1'], ['b', 'log:1'], ['b', 'log:1'])).toMatchObject({ count: 1 });
  });

  it('counts as many transfers as there are places, whatever the order and the repeats', () => {
    const bodies: [string, string][] = [0, 1, 2, 3].map((n) => [`id ${n}`, `log:${n}`]);
    expect(named(...bodies, ...bodies.toReversed(), ...bodies)).toMatchObject({ count: 4 });
  });

  it('never counts more transfers than places when some bodies came before signing was turned on', () => {
    expect(named(null, ['a', 'log:1'])).toEqual({ verdicts: ['new', 'repeat'], count: 1 });
    expect(named(null, ['a', 'log:1'], ['b', 'log:2'])).toMatchObject({ count: 2 });
  });

  it('distinguishes signed deliveries without a place by their time, and repeats by their ID', () => {
    expect(named(['a', null], ['a', null], ['b', null]).verdicts).toEqual(['new', 'repeat', 'second']);
  });

  it('stores long IDs and places as hashes', () => {
    const place = `trace:${'0.'.repeat(2000)}1`;
    const { delivery } = judge(undefined, false, KEYS, {
      ...receipt([0]),
      identity: { id: 'a', chainId: '1', place },
    });
    expect([...delivery.ids, ...delivery.places].filter((name) => name.length >= 80)).toEqual([]);
  });
});
