import { describe, expect, it } from 'vitest';
import { judge, type SeenDelivery, type Verdict } from '../../src/domain/identity.ts';
import { deliveryKey, type TransferEvent, transferKey } from '../../src/domain/transfer.ts';

const keys = { delivery: 'd', transfer: 't' };

/** Judges equal deliveries one after the other: each `[received, answered]` in seconds, null = never answered. */
function story(receipts: [number, number | null][]): Verdict[] {
  let known: SeenDelivery | undefined;
  return receipts.map(([received, answered]) => {
    const receipt = { receivedAt: received * 1000, answeredAt: answered === null ? null : answered * 1000 };
    const { verdict, delivery } = judge(known, known !== undefined, keys, receipt);
    known = delivery;
    return verdict;
  });
}

describe('equal deliveries', () => {
  it('count as a second transfer within 10 s of an answered one', () => {
    expect(
      story([
        [0, 0],
        [9.9, 9.9],
      ]),
    ).toEqual(['new', 'second']);
  });
  it('count as a repeat from 10 s on', () => {
    expect(
      story([
        [0, 0],
        [10, 10],
      ]),
    ).toEqual(['new', 'repeat']);
  });
  it('pay the debt of one that was never answered, and only once', () => {
    expect(
      story([
        [0, null],
        [1, 1],
        [2, 2],
      ]),
    ).toEqual(['new', 'repeat', 'second']);
  });
  it('stay owed until one of them is answered', () => {
    expect(
      story([
        [0, null],
        [15, null],
        [75, 75],
        [700, 700],
      ]),
    ).toEqual(['new', 'repeat', 'repeat', 'repeat']);
  });
  it('do not make a third transfer of two that both come again', () => {
    expect(
      story([
        [0, 0],
        [1, 1],
        [16, 16],
        [17, 17],
      ]),
    ).toEqual(['new', 'second', 'repeat', 'repeat']);
  });
});

/**
 * Every story of equal transfers in one transaction, one second apart, that a sender with the real schedule can tell:
 * each try's 200 is read (`r`), lost after it was written (`l`), or never written (`u`); at the end all of it is scanned
 * again. Gives what the receiver counts.
 */
function stories(copies: number): { tries: string[]; counted: number }[] {
  const RETRIES = [15, 60, 600];
  const RESCAN = 5_000;
  const fates = ['', 'l', 'u', 'll', 'lu', 'ul', 'uu'].map((lost) => `${lost}r`);
  const chosen = Array.from({ length: copies }).reduce<string[][]>(
    (list) => list.flatMap((tries) => fates.map((fate) => [...tries, fate])),
    [[]],
  );
  return chosen.map((tries) => {
    const posts = tries.flatMap((fate, copy) => {
      let at = copy;
      const sent = fate.split('').map((answer, attempt): [number, number | null] => {
        const post: [number, number | null] = [at, answer === 'u' ? null : at];
        at += RETRIES[attempt]!;
        return post;
      });
      return [...sent, [RESCAN + copy, RESCAN + copy] satisfies [number, number]];
    });
    const verdicts = story(posts.sort(([a], [b]) => a - b));
    return { tries, counted: verdicts.filter((verdict) => verdict === 'new' || verdict === 'second').length };
  });
}

describe('equal transfers in one transaction, whatever becomes of their answers', () => {
  it('one is never counted as two', () => {
    expect(stories(1).filter(({ counted }) => counted !== 1)).toEqual([]);
  });
  it('two or three are never counted as more', () => {
    for (const copies of [2, 3]) expect(stories(copies).filter(({ counted }) => counted > copies)).toEqual([]);
  });
  it('two are counted as two, unless the second one pays what the first one’s lost answer owes', () => {
    const owing = ({ tries: [first, second] }: { tries: string[] }) => {
      const lost = (fate: string) => /^u*/.exec(fate)![0].length;
      return lost(first!) > lost(second!);
    };
    for (const told of stories(2)) expect([told.tries, told.counted]).toEqual([told.tries, owing(told) ? 1 : 2]);
  });
});

describe('keys', () => {
  const event: TransferEvent = {
    transfer: {
      kind: 'erc20',
      txHash: '0x1',
      from: '0x1111111111111111111111111111111111111111',
      to: '0x2222222222222222222222222222222222222222',
      token: '0x3333333333333333333333333333333333333333',
      value: '5',
      tokenId: null,
      tokenIdExact: true,
      tokenType: 'ERC-20',
      tokenName: 'One',
      tokenSymbol: 'ONE',
      decimals: 18,
      internal: false,
      blockNumber: 1,
      blockHash: '0xb1',
      gasFee: '1',
    },
    direction: 'incoming',
    addressType: 'wallet',
    projectId: 'p',
  };
  const other = (change: Partial<TransferEvent['transfer']>) => ({
    ...event,
    transfer: { ...event.transfer, ...change },
  });

  it('ignore what does not name the transfer', () => {
    const same = other({
      tokenName: 'Two',
      tokenSymbol: null,
      decimals: 6,
      gasFee: null,
      blockHash: '0xb2',
      blockNumber: 2,
    });
    expect(transferKey(0, same.transfer)).toBe(transferKey(0, event.transfer));
  });
  it.each([
    { value: '6' },
    { txHash: '0x2' },
    { from: null },
    { to: null },
    { token: null },
    { kind: 'native' as const },
  ])('differ with %j', (change) => {
    expect(transferKey(0, other(change).transfer)).not.toBe(transferKey(0, event.transfer));
  });
  it('keep scopes apart', () => {
    expect(transferKey(1, event.transfer)).not.toBe(transferKey(0, event.transfer));
  });
  it('tell deliveries of one transfer apart', () => {
    const variants: TransferEvent[] = [
      event,
      { ...event, direction: 'outgoing' },
      { ...event, addressType: 'token' },
      { ...event, projectId: 'q' },
      other({ blockHash: '0xb2' }),
      other({ internal: true }),
    ];
    expect(new Set(variants.map((variant) => deliveryKey(transferKey(0, variant.transfer), variant))).size).toBe(
      variants.length,
    );
  });
});
