import { expect, it } from 'vitest';
import { type Movement, readMovements } from '../../src/domain/activity.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { dryRun, type RecentTransfers } from '../../src/domain/history.ts';
import { latenessOf } from '../../src/domain/routing.ts';
import { GUILD, newSubscription, TREASURY, transfer } from '../store/contract/given.ts';

const proposal = { ...newSubscription(), direction: 'incoming' } as Parameters<typeof dryRun>[0];
const involved = (n: number, changed = {}) => ({
  network: 0,
  transfer: transfer(n, changed),
  seenAt: n,
  cataloged: true,
});

async function tried(max: number, pages: RecentTransfers[]) {
  const asked: [number, number][] = [];
  const period = { since: 0, until: 100, max, channelIds: null };
  const result = await dryRun(proposal, period, async ({ guildId, address, until }, limit) => {
    expect([guildId, address]).toEqual([GUILD, TREASURY]);
    asked.push([until, limit]);
    return pages[asked.length - 1] ?? { seen: 0, oldest: null, involved: [] };
  });
  return { result, asked };
}

it('counts in a dry run what would have been posted and what each rule would have hidden', async () => {
  const out = involved(5, { from: TREASURY, to: transfer(5).from });
  const unrelated = involved(6, { to: transfer(6).from });
  const first = { seen: 7, oldest: 50, involved: [involved(1), involved(2), out, out, unrelated] };
  const { result, asked } = await tried(1_000, [first, { seen: 2, oldest: 40, involved: [involved(3), involved(4)] }]);
  expect(asked).toEqual([
    [100, 1_000],
    [49, 993],
    [39, 991],
  ]);
  expect(result).toMatchObject({ related: 6, posted: 4, hidden: { direction: 2 }, since: 40, cut: null });
  expect(result.examples).toMatchObject([1, 2, 3].map((n) => ({ seenAt: n, perspective: 'incoming' })));
});

it('ends a dry run at its limit of transfers, and says so only if there were more', async () => {
  const page = { seen: 6_000, oldest: 50, involved: [] };
  const cut = await tried(6_000, [page, { seen: 1, oldest: 40, involved: [involved(1)] }]);
  expect(cut.asked).toEqual([
    [100, 5_000],
    [49, 1],
  ]);
  expect(cut.result).toMatchObject({ related: 0, since: 50, cut: 6_000 });
  expect((await tried(6_000, [page])).result).toMatchObject({ since: 50, cut: null });
});

it('reads movements page by page up to a limit, with the reason that came nearest to a match', async () => {
  const decided = (n: number, outcomes: string[], imitation = false) => ({
    transferId: n,
    network: 0,
    at: 100 - n,
    transfer: transfer(n),
    count: n,
    outcomes,
    warnings: [
      { kind: 'uncataloged' as const },
      ...(imitation ? [{ kind: 'imitation', symbol: 'X', genuine: null } as const] : []),
    ],
  });
  const pages = [
    [decided(1, ['matched', 'paused']), decided(2, ['paused', 'minimum'], true)],
    [decided(3, ['of a later version'])],
  ];
  const read = async (max: number) => {
    const asked: number[] = [];
    const found = readMovements(async (until) => pages[asked.push(until) - 1] ?? [], 100, max);
    const shown: Movement[] = [];
    for await (const movement of found.movements) shown.push(movement);
    return { shown, cut: found.cut(), asked };
  };
  const all = await read(3);
  expect(all).toMatchObject({ cut: null, asked: [100, 97, 96] });
  expect(
    all.shown.map(({ transferId, at, count, hidden, imitation }) => [transferId, at, count, hidden, imitation]),
  ).toEqual([
    [1, 99, 1, null, false],
    [2, 98, 2, 'minimum', true],
    [3, 97, 3, 'of a later version', false],
  ]);
  expect(all.shown[0]!.transfer).toEqual(transfer(1));
  expect(await read(2)).toMatchObject({ shown: { length: 2 }, cut: 2 });
});

it.each([
  [[1, 2], 12, 11],
  [[2, 1], 12, 11],
  [[1, 2], 11.99, null],
  [[], 60, null],
  [[0], 60, null],
])('calls a transfer late once two samples passed its block ten minutes before: %j, %s → %s', (samples, at, late) => {
  const passed = samples.map((minutes) => minutes * MINUTE);
  expect(latenessOf(passed, at * MINUTE)).toBe(late && late * MINUTE);
});
