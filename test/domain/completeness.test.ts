import { expect, it } from 'vitest';
import {
  addUnchecked,
  BATCH_TOPIC,
  type ChainMovement,
  compare,
  difference,
  isCompared,
  isSameMovement,
  movementsOf,
  type StoredTransfer,
  TRANSFER_TOPIC,
  topicOf,
} from '../../src/domain/completeness.ts';

const addressOf = (digit: string) => `0x${digit.repeat(40)}` as const;
const [SENDER, RECEIVER, TOKEN] = [addressOf('1'), addressOf('2'), addressOf('f')];
const HASH = `0x${'a'.repeat(64)}`;
const movement: ChainMovement = {
  kind: 'erc20',
  txHash: HASH,
  from: SENDER,
  to: RECEIVER,
  token: TOKEN,
  value: '5',
  tokenId: null,
  tokenIdExact: true,
  internal: false,
  blockNumber: 5,
  blockHash: null,
  place: 'log:0',
};
const delivered = (change: Partial<StoredTransfer['transfer']> = {}, count = 1): StoredTransfer => {
  const unused = { tokenType: null, tokenName: null, tokenSymbol: null, decimals: null, gasFee: null };
  return { id: 1, scope: 0, count, transfer: { ...movement, ...unused, ...change } };
};
const coin = { kind: 'native', token: null } as const;
const piece = { kind: 'erc1155', tokenId: '7' } as const;
const alone = { kind: 'erc721', tokenId: '7', value: null } as const;

it.each<[string, ChainMovement[], StoredTransfer[], missed: number, wrong: number[]]>([
  ['one transfer, delivered', [movement], [delivered()], 0, []],
  // Each names its place: what was delivered is one of them.
  ['two equal ones, one delivered', [movement, { ...movement, place: 'log:1' }], [delivered()], 2, []],
  ['one, delivered as two', [movement], [delivered({}, 2)], 0, [1]],
  ['one, delivered in two forms', [{ ...movement, ...piece }], [delivered(piece), delivered(alone)], 0, [0]],
  ['another amount', [movement], [delivered({ value: '6' })], 1, [0]],
  ['the unexplained payment behind a delivery', [difference(RECEIVER, 5n, 5, null)], [delivered(coin)], 0, []],
  ['one of another amount', [difference(RECEIVER, 6n, 5, null)], [delivered(coin)], 1, [0]],
  ['one in another block', [difference(RECEIVER, 5n, 6, null)], [delivered(coin)], 1, [0]],
  ['one of another receiver', [difference(TOKEN, 5n, 5, null)], [delivered(coin)], 1, [0]],
  ['one that left', [difference(RECEIVER, -5n, 5, null)], [delivered(coin)], 1, [0]],
])('compares with what was delivered: %s', (_, movements, stored, missed, wrong) => {
  const found = compare(movements, stored, () => true);
  expect(found.missed).toHaveLength(missed);
  expect(found.wrong.map(({ count }) => count)).toEqual(wrong);
  // Transfers that could not be checked do not count as wrong.
  expect(compare(movements, stored, () => false).wrong).toEqual([]);
});

it('takes an unexplained payment only for one of the same block', () => {
  const same = [5, 6].map((block) => isSameMovement(difference(RECEIVER, 5n, block, null), delivered(coin).transfer));
  expect(same).toEqual([true, false]);
});

it('knows which blocks were compared completely', () => {
  const unchecked = [{ after: 2, upTo: 4, reason: 'pruned' as const, at: 0 }];
  const at = (block: number) => isCompared({ chainId: '1', block: 6, blockAt: 0, unchecked }, block);
  expect([2, 3, 4, 5, 6, 7].map(at)).toEqual([true, false, false, true, true, false]);
  expect(addUnchecked(unchecked, [{ after: 2, upTo: 4, reason: 'refused', at: 1 }])).toHaveLength(2);
});

it('reads no movement from a malformed log, because a contract may write anything', () => {
  const words = (...numbers: number[]) => numbers.map((number) => number.toString(16).padStart(64, '0')).join('');
  const where = { address: TOKEN, blockNumber: '0x5', transactionHash: HASH, logIndex: '0x0' };
  const parties = [SENDER, RECEIVER].map(topicOf);
  const read = (topics: string[], data: string) =>
    movementsOf({ ...where, topics, data: `0x${data}` }).map(({ place, value, tokenId }) => [place, value, tokenId]);
  const erc20 = (data: string) => read([TRANSFER_TOPIC, ...parties], data);
  const batch = (...data: number[]) => read([BATCH_TOPIC, topicOf(TOKEN), ...parties], words(...data));
  expect(erc20(words(5))).toEqual([['log:0', '5', null]]);
  for (const data of ['', words(5, 6), `${words(5)}ff`]) expect(erc20(data)).toEqual([]);
  expect(read([TRANSFER_TOPIC, `0x1${parties[0]!.slice(3)}`, parties[1]!], words(5))).toEqual([]);
  expect(batch(64, 160, 2, 7, 8, 2, 1, 3).flat()).toEqual(['log:0:0', '1', '7', 'log:0:1', '3', '8']);
  const [uneven, short] = [batch(64, 160, 2, 7, 8, 1, 3), batch(64, 160, 2, 7, 8, 2, 1)];
  const [odd, far, bare] = [batch(63, 160, 1, 7, 1, 3), batch(64, 999, 1, 7, 1), batch(64)];
  expect([uneven, short, odd, far, bare].flat()).toEqual([]);
  const list = (length: number) => [length, ...Array<number>(length).fill(1)];
  const long = (length: number) => batch(64, 96 + length * 32, ...list(length), ...list(length)).length;
  expect([long(10_000), long(10_001)]).toEqual([10_000, 0]);
});

it('finds the pieces that one transaction of a stranger moved without comparing each with each (one transaction)', () => {
  let looks = 0;
  const moved = Array.from(
    { length: 1_000 },
    (_, index): ChainMovement => ({
      ...movement,
      kind: 'erc1155',
      place: `log:0:${index}`,
      get tokenId() {
        looks++;
        return String(index);
      },
    }),
  );
  const inForm = ({ tokenId }: ChainMovement, exact: boolean) =>
    delivered({ ...piece, tokenId: exact ? tokenId : `${tokenId}.0`, tokenIdExact: exact });
  const stored = [...moved.slice(0, 500).map((one) => inForm(one, true)), inForm(moved[500]!, false)];
  const { missed, wrong } = compare(moved, stored, () => true);
  expect(wrong).toEqual([]);
  expect(missed.map(({ place }) => place)).toEqual(moved.slice(501).map(({ place }) => place));
  expect(looks).toBeLessThan(10 * moved.length);
});
