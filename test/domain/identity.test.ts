import { describe, expect, it } from 'vitest';
import { judge, type SeenDelivery, type Verdict } from '../../src/domain/identity.ts';

const KEYS = { delivery: 'd', transfer: 't' };

/** Judges equal deliveries one after the other: each `[received, acknowledged]` in seconds; null: never acknowledged. */
function verdictsOf(receipts: [number, number | null][]): Verdict[] {
  let known: SeenDelivery | undefined;
  return receipts.map(([received, answered]) => {
    const receipt = { receivedAt: received * 1000, ackedAt: answered === null ? null : answered * 1000 };
    const { verdict, delivery } = judge(known, known !== undefined, KEYS, receipt);
    known = delivery;
    return verdict;
  });
}

describe('equal deliveries', () => {
  it('counts an equal delivery within 10 s of an acknowledged one as a second transfer', () => {
    expect(
      verdictsOf([
        [0, 0],
        [9.9, 9.9],
      ]),
    ).toEqual(['new', 'second']);
  });

  it('counts an equal delivery from 10 s on as a repeat', () => {
    expect(
      verdictsOf([
        [0, 0],
        [10, 10],
      ]),
    ).toEqual(['new', 'repeat']);
  });

  it('counts one equal delivery after a never acknowledged one as its repeat, and only one', () => {
    expect(
      verdictsOf([
        [0, null],
        [1, 1],
        [2, 2],
      ]),
    ).toEqual(['new', 'repeat', 'second']);
  });

  it('expects a repeat until one of the equal deliveries is acknowledged', () => {
    expect(
      verdictsOf([
        [0, null],
        [15, null],
        [75, 75],
        [700, 700],
      ]),
    ).toEqual(['new', 'repeat', 'repeat', 'repeat']);
  });

  it('counts no third transfer for deliveries that may be the retry after a lost response, but only for one of them', () => {
    const times = [0, 7, 15, 16];
    expect(verdictsOf(times.map((at) => [at, at]))).toEqual(['new', 'second', 'repeat', 'second']);
  });

  it('counts no third transfer when two equal deliveries both come again', () => {
    expect(
      verdictsOf([
        [0, 0],
        [1, 1],
        [16, 16],
        [17, 17],
      ]),
    ).toEqual(['new', 'second', 'repeat', 'repeat']);
  });

  it('does not count a body from second 59 on as a transfer, because it may be a later retry', () => {
    const verdicts = (second: number) =>
      verdictsOf([
        [0, null],
        [second, second],
        [60, 60],
      ]);
    expect(verdicts(58)).toEqual(['new', 'repeat', 'second']);
    expect(verdicts(59)).toEqual(['new', 'repeat', 'repeat']);
  });

  it('measures the 10 s from the first acknowledgment, not from that of a repeat', () => {
    expect(
      verdictsOf([
        [0, 0],
        [1, null],
        [2, 2],
        [11, 11],
      ]),
    ).toEqual(['new', 'second', 'repeat', 'repeat']);
  });

  it('counts an equal delivery after the clock was set back as a repeat', () => {
    expect(
      verdictsOf([
        [1_000, 1_000],
        [900, 900],
      ]),
    ).toEqual(['new', 'repeat']);
  });
});

/** One of several equal transfers: when its first try begins, and what becomes of the tries. */
interface Copy {
  /** Seconds. */
  at: number;
  /** Each try's 200 is read (`r`), lost after it was written (`l`) or never written (`u`), or the try is refused (`n`). */
  tries: string;
  /** How long the sender waits for a response that does not come; seconds. */
  patience: number;
}

/** Returns how many equal transfers are counted when a sender with the real schedule reports them, and rescans at the end. */
function counted(copies: Copy[]): number {
  const RETRIES = [15, 60, 600];
  const RESCAN = 5_000;
  const posts = copies.flatMap(({ at, tries, patience }) => {
    let now = at;
    const sent = tries.split('').flatMap((answer, attempt): [number, number | null][] => {
      const post: [number, number | null] = [now, answer === 'u' ? null : now];
      now += patience + RETRIES[attempt]!;
      return answer === 'n' ? [] : [post];
    });
    return [...sent, [RESCAN + at, RESCAN + at] satisfies [number, number]];
  });
  const judged = verdictsOf(posts.sort(([a], [b]) => a - b));
  return judged.filter((verdict) => verdict === 'new' || verdict === 'second').length;
}

const FATES = ['', 'l', 'u', 'll', 'lu', 'ul', 'uu'].map((lost) => `${lost}r`);
const SECONDS = Array.from({ length: 13 }, (_, n) => n);

/** Every choice of one of each list. */
function product<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((all, list) => all.flatMap((chosen) => list.map((one) => [...chosen, one])), [[]]);
}

/** Equal transfers, each this many seconds after the previous one, for every choice of what becomes of their tries. */
function reports(gaps: number[], fates: string[], patience = 0): Copy[][] {
  const begins = [0, ...gaps].map((_, copy) => gaps.slice(0, copy).reduce((sum, gap) => sum + gap, 0));
  return product(begins.map(() => fates)).map((chosen) =>
    chosen.map((tries, copy) => ({ at: begins[copy]!, tries, patience })),
  );
}

describe('equal transfers in one transaction', () => {
  it('never counts more equal transfers than there are, whatever happens to their responses', () => {
    const wrong: Copy[][] = [];
    for (const copies of [0, 1, 2]) {
      const fates = copies < 2 ? [...FATES, 'nr', 'nlr', 'lnr'] : ['r', 'lr', 'ur', 'nr', 'lur', 'ulr'];
      for (const gaps of product(Array.from({ length: copies }, () => SECONDS))) {
        for (const patience of copies < 2 ? [0, 1, 2, 3] : [0, 3]) {
          wrong.push(...reports(gaps, fates, patience).filter((one) => counted(one) > one.length));
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('counts all equal transfers when each response arrived within ten seconds of the previous one, except for possible retries', () => {
    for (const gaps of product([SECONDS, SECONDS])) {
      const close = gaps.filter((gap) => gap < 10).length;
      const apart = gaps[0]! + gaps[1]!;
      const doubtful = close === 2 && apart >= 14 && apart <= 19;
      if (gaps[0]! < 10)
        expect([gaps, counted(reports(gaps, ['r'])[0]!)]).toEqual([gaps, 1 + close - (doubtful ? 1 : 0)]);
    }
  });

  it('counts two equal transfers a second apart as two, unless the second may repeat the first', () => {
    const lost = ({ tries }: Copy) => /^u*/.exec(tries)![0].length;
    for (const reported of reports([1], FATES)) {
      const [first, second] = reported as [Copy, Copy];
      expect([reported, counted(reported)]).toEqual([reported, lost(first) > lost(second) ? 1 : 2]);
    }
  });

  it('counts a hundred equal transfers at once as a hundred, also when they all come again', () => {
    const copies = Array.from({ length: 100 }, (_, n) => ({ at: n / 50, tries: 'lr', patience: n % 4 }));
    expect(counted(copies)).toBe(100);
  });

  it('counts equal transfers the same way when their bodies are stored in another order', () => {
    // The first one came two seconds after the second. The response to the second is lost, so it comes again after 15 s.
    expect(
      verdictsOf([
        [2, 2],
        [0, 2],
        [9, 9],
        [15, 15],
      ]),
    ).toEqual(['new', 'second', 'second', 'repeat']);
  });
});

describe('signed deliveries', () => {
  /** Judges deliveries with these names, a second after each other: `[id, place]`; null: not signed. */
  function named(...names: ([string, string | null] | null)[]) {
    let known: SeenDelivery | undefined;
    const verdicts = names.map((name, n) => {
      const receipt = { receivedAt: n * 1000, ackedAt: n * 1000 };
      const identity = name && { id: name[0], chainId: '1', place: name[1] };
      const { verdict, delivery } = judge(known, known !== undefined, KEYS, receipt, identity);
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
    const { delivery } = judge(undefined, false, KEYS, { receivedAt: 0, ackedAt: 0 }, { id: 'a', chainId: '1', place });
    expect([...delivery.ids, ...delivery.places].filter((name) => name.length >= 80)).toEqual([]);
  });
});
