import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, type Receipt, type SeenDelivery, seenAgain, type Verdict } from '../../src/domain/identity.ts';
import { transfer } from '../store/contract/given.ts';

const KEYS = { delivery: 'd', transfer: 't' };

/** When a body arrived, in seconds, and at which run of a process. */
type Arrival = [seconds: number, run?: string];

const receipt = ([seconds, run = 'first']: Arrival): Receipt => ({
  receivedAt: 1_000_000 + seconds * 1_000,
  run,
  runMs: seconds * 1_000,
  identity: null,
});

function verdictsOf(...arrivals: Arrival[]): Verdict[] {
  let known: SeenDelivery | undefined;
  return arrivals.map((arrival) => {
    const { verdict, delivery } = judge(known, known !== undefined, KEYS, receipt(arrival));
    known = delivery;
    return verdict;
  });
}

describe('equal deliveries', () => {
  it.each<[string, Arrival[], string]>([
    ['equal deliveries of one run within 10 s as different transfers', [[0], [0], [9.999]], 'new second second'],
    ['an equal delivery from 10 s on as a repeat', [[0], [10]], 'new repeat'],
    ['an equal delivery of another run as a repeat, even at once', [[0], [0, 'second'], [0]], 'new repeat repeat'],
    ['no third transfer when both come again', [[0], [1], [16], [17], [76]], 'new second repeat repeat repeat'],
    ['none in another run, either', [[0], [1], [16, 'second'], [17, 'second']], 'new second repeat repeat'],
    ['a second transfer whose first delivery failed, found by a rescan', [[0], [600], [601]], 'new repeat second'],
    ['the same in whatever order the bodies are stored', [[2], [0], [9], [15]], 'new second second repeat'],
  ])('counts %s', (_, arrivals, verdicts) => {
    expect(verdictsOf(...arrivals).join(' ')).toBe(verdicts);
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
  /** Judges deliveries with these IDs, `id` or `id@place`, a second after each other. */
  function named(...names: string[]) {
    let known: SeenDelivery | undefined;
    const verdicts = names.map((name, n) => {
      const [id, place = null] = name.split('@') as [string, string?];
      const identity = name === 'unsigned' ? null : { id, chainId: '1', place };
      const { verdict, delivery } = judge(known, known !== undefined, KEYS, { ...receipt([n]), identity });
      known = delivery;
      return verdict;
    });
    return { verdicts, count: known!.count };
  }

  it.each([
    ['a known ID as a repeat, even at another place', ['a@1', 'a@1', 'a@2'], 'new repeat repeat'],
    [
      'a new ID of a known place as a repeat, because it was requested again',
      ['a@1', 'b@1', 'b@1', 'b@2'],
      'new repeat repeat repeat',
    ],
    [
      'signed ones among unsigned ones, apart from whose times they are judged',
      ['unsigned', 'unsigned', 'a@1', 'b@2', 'unsigned'],
      'new second repeat repeat second',
    ],
    ['no more than places when the first came unsigned', ['unsigned', 'a@1'], 'new repeat'],
    ['every place beyond an unsigned one', ['unsigned', 'a@1', 'b@2'], 'new repeat second'],
    ['what has no place by its time, and its repeats by their ID', ['a', 'a', 'b'], 'new repeat second'],
  ])('counts %s', (_, names, verdicts) => {
    expect(named(...names).verdicts.join(' ')).toBe(verdicts);
  });

  it('counts as many transfers as there are places, whatever the order and the repeats, and however late', () => {
    const bodies = [0, 1, 2, 3].map((n) => `${n}@log:${n}`);
    expect(named(...bodies, ...bodies.toReversed(), ...bodies)).toMatchObject({ count: 4 });
    expect(named(...Array<string>(71).fill('a@1'), 'b@2')).toMatchObject({ count: 2 });
  });

  it('stores long IDs and places as hashes', () => {
    const place = `trace:${'0.'.repeat(2000)}1`;
    const identity = { id: 'a', chainId: '1', place };
    const { delivery } = judge(undefined, false, KEYS, { ...receipt([0]), identity });
    expect([...delivery.ids, ...delivery.places].filter((name) => name.length >= 80)).toEqual([]);
  });
});

it('forgets what was read from the chain about a block that the chain has left', () => {
  const before = { ...transfer(1), settled: 0, balances: { block: 1, of: {} } };
  const seen = { id: 1, key: 't', scope: 0, network: 0, seenAt: 0, count: 0, reorganized: false, isWorthless: false };
  const moved = { ...transfer(1), blockHash: '0xnew', blockNumber: 9 };
  const after = seenAgain({ ...seen, transfer: before }, moved, 'twin', 1, () => false);
  const leftBlocks = [before.blockHash];
  expect(after).toEqual({ ...seen, count: 1, reorganized: true, transfer: { ...moved, leftBlocks } });
});
