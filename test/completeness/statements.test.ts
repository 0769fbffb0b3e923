import pino from 'pino';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { postStatements } from '../../src/completeness/statement-posts.ts';
import { createStatements } from '../../src/completeness/statement-reader.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { AssetWords, StatementOutcome, StatementPlan, StatementRequest } from '../../src/domain/balance.ts';
import { ChainError, type ChainFailure } from '../../src/domain/chain-node.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import type { BlockRange, StoredTransfer } from '../../src/domain/completeness.ts';
import type { Transfer } from '../../src/domain/transfer.ts';

const [WALLET, ALICE] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`) as [AddressText, AddressText];
/** Blocks are ten seconds apart, but none is mined between 200 and 201 for an hour. */
const timeOf = (block: number) => (block + (block > 200 ? 360 : 0)) * 10_000;
const COMPARED = 5_000;

const moved = (block: number, value: string, change: Partial<Transfer> = {}, more: Partial<StoredTransfer> = {}) =>
  ({
    id: block,
    scope: 0,
    count: 1,
    ...more,
    transfer: {
      kind: 'native',
      txHash: `0x${block}`,
      from: ALICE,
      to: WALLET,
      token: null,
      value,
      blockNumber: block,
      ...change,
    },
  }) as StoredTransfer;
const paid = { from: WALLET, to: ALICE, gasFee: '1' };

/** A wallet's movements between two blocks' times. `failure`: why the balances at the beginning cannot be read. */
async function read(
  change: Partial<StatementRequest> = {},
  stored: StoredTransfer[] = [],
  failure: ChainFailure | null = null,
) {
  const progress = { chainId: '1', block: COMPARED, blockAt: timeOf(COMPARED), unchecked: [] };
  const chainChecks = {
    progress: async () => ({ progress, balances: new Map() }),
    stored: async (_: number, { after, upTo }: BlockRange) =>
      stored.filter(({ transfer: { blockNumber } }) => blockNumber! > after && blockNumber! <= upTo),
  };
  const chain = {
    header: async (block: number) => ({ number: block, hash: '', at: timeOf(block) }),
    holdings: async (block: number, wanted: unknown[]) => {
      if (failure && block < 150) throw new ChainError(failure, 'eth_getBalance');
      return wanted.map(() => BigInt(block));
    },
    transaction: async () => null,
    sent: async () => 0,
  };
  const statements = createStatements({ chainChecks } as never, new Map([[0, chain as never]]));
  const period = { since: timeOf(100), until: timeOf(200) };
  return statements({ network: 0, scope: 0, address: WALLET, max: 5, wants: () => true, ...period, ...change });
}
const readSums = async (...given: Parameters<typeof read>) => {
  const outcome = await read(...given);
  return outcome.status === 'read' ? outcome.statement.sums[0] : outcome.status;
};

it.each<[string, Partial<StatementRequest>, BlockRange | string]>([
  ['begins and ends before the blocks of its times', {}, { after: 99, upTo: 199 }],
  ['ends between blocks', { until: timeOf(150) + 1 }, { after: 99, upTo: 150 }],
  ['is about times without blocks', { since: timeOf(200) + 1, until: timeOf(200) + 9_999 }, { after: 200, upTo: 200 }],
  ['began long ago', { since: timeOf(3), until: timeOf(4_321) }, { after: 2, upTo: 4_320 }],
  ['ends later than was compared', { until: timeOf(COMPARED) + 1 }, { after: 99, upTo: COMPARED }],
  ['is later than what was compared', { since: timeOf(COMPARED) }, 'unknown'],
  ['goes on where the one before ended', { before: { block: 70, of: {} } }, { after: 70, upTo: 199 }],
])('knows the blocks of a statement that %s', async (_, change, range) => {
  const outcome = await read(change);
  expect(outcome.status === 'read' ? outcome.statement.range : outcome.status).toEqual(range);
});

it('sums up what moved, in the scope, as often as the chain has it', async () => {
  const sums = await readSums({}, [
    moved(99, '1000'),
    moved(100, '5', {}, { count: 2 }),
    moved(110, '3', paid),
    moved(120, '70', paid, { count: 0 }),
    moved(130, '70', {}, { scope: 8 }),
    moved(199, '94'),
    moved(200, '1000'),
  ]);
  expect(sums).toMatchObject({ transfers: 4, opening: 99n, incoming: 104n, outgoing: 3n, fees: 1n, closing: 199n });
});

it('takes balances that were kept, and knows that others are unknown', async () => {
  expect(await readSums({ before: { block: 90, of: { native: '7' } } }, [], 'pruned')).toMatchObject({ opening: 7n });
  expect(await readSums({}, [], 'pruned')).toMatchObject({ opening: null, closing: 199n });
  expect(await readSums({}, [], 'away')).toBe('away');
});

const WORDS: AssetWords = {
  kind: 'erc20',
  token: ALICE,
  tokenName: 'Alice Dollar',
  tokenSymbol: 'ALD',
  tokenType: 'ERC-20',
  decimals: 6,
};

it('goes on with an asset that did not move', async () => {
  const before = { block: 90, of: { native: '7', [ALICE]: '9' }, words: { [ALICE]: WORDS } };
  const outcome = await read({ before }, [moved(110, '3')]);
  const unmoved = { asset: ALICE, transfer: WORDS, opening: 9n, incoming: 0n, closing: 199n };
  expect(outcome).toMatchObject({ statement: { sums: [{ asset: 'native', opening: 7n }, unmoved] } });
});

const [BEGAN, ENDS] = [Date.parse('2026-03-22T23:00Z'), Date.parse('2026-03-29T22:00Z')];
const [KEY, KEPT] = [`0 ${WALLET}`, { block: 70, of: {} }];
interface Given extends Pick<StatementPlan, 'until'> {
  since: number;
  blockAt: number;
  now: number;
  outcome: StatementOutcome['status'];
}
const USUAL: Given = { since: BEGAN, blockAt: ENDS, now: ENDS, outcome: 'read', until: BEGAN };

/** The statement of a wallet that has been watched since then, and the requests to the node. */
async function post(change: Partial<Given> = {}) {
  const { since, blockAt, now, outcome, until } = { ...USUAL, ...change };
  const manual = createManualClock();
  const weekly = { guildId: '1', period: 'weekly', timezone: 'Europe/Berlin' } as const;
  const plan: StatementPlan = { ...weekly, until, closing: { [KEY]: KEPT } };
  const asked: unknown[] = [];
  const posted: unknown[] = [];
  const sum = { asset: ALICE, transfer: { ...WORDS, txHash: '0x1' }, closing: 9n };
  const work = postStatements({
    store: {
      balances: {
        statements: async () => [plan],
        beginStatements: async (_: string, at: number) => void posted.push(at),
        wallets: async () => ({ scope: 0, wallets: [{ address: WALLET, label: null, since }] }),
        postStatement: async (one: object, notice: object | null) => {
          posted.push({ ...one, posts: notice !== null });
          return null;
        },
      },
      tokens: { known: async () => [] },
      chainChecks: { progress: async () => ({ progress: { blockAt } }) },
      guilds: { language: async () => null },
    } as never,
    read: async (request) => {
      asked.push([request.since, request.before ?? null]);
      const statement = { network: 0, address: WALLET, range: { after: 70, upTo: 80 }, sums: [sum], others: null };
      return { status: outcome, statement } as never;
    },
    chains: new Map([[0, null]]),
    renderStatement: () => ({}),
    statementCsv: () => '',
    outbox: { wake: () => undefined, rescan: async () => undefined },
    clock: { ...manual, now: () => now },
    log: pino({ level: 'silent' }),
  });
  manual.advance(MINUTE);
  await new Promise((resolve) => setImmediate(resolve));
  await work.close();
  return { asked, posted };
}

const DONE = {
  guildId: '1',
  since: BEGAN,
  until: ENDS,
  posts: true,
  closing: { [KEY]: { block: 80, of: { [ALICE]: '9' }, words: { [ALICE]: WORDS } } },
};
it.each<[string, Partial<Given>, asked: unknown[], posted: unknown[]]>([
  ['at the end of the week in the server’s time zone', {}, [[BEGAN, KEPT]], [DONE]],
  ['not before', { now: ENDS - 1 }, [], []],
  ['not before everything was compared', { blockAt: ENDS - 1 }, [], []],
  ['not while the node is away', { outcome: 'away' }, [[BEGAN, KEPT]], []],
  ['from the beginning of the week on', { until: null, now: BEGAN + 1 }, [], [BEGAN]],
  ['of a wallet since it is watched, again', { since: BEGAN + 5 }, [[BEGAN + 5, null]], [DONE]],
  ['of no wallet that is watched since then', { since: ENDS }, [], [{ ...DONE, posts: false, closing: {} }]],
])('posts a statement %s', async (_, given, asked, posted) => {
  expect(await post(given)).toEqual({ asked, posted });
});
