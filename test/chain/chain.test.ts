import { expect, it } from 'vitest';
import { type Mined, startChain, startTraffic } from '../../sandbox/chain/index.ts';
import { readBlock, readLogs } from '../../services/chain/block.ts';
import { outerTransfers } from '../../services/chain/block-transfers.ts';
import { connect } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { forFile } from '../for-file.ts';
import { inTime } from '../until.ts';

const NOBODY = '0x0000000000000000000000000000000000000000';
const STRANGER = '0x00000000000000000000000000000000000ABc01';

const chain = await forFile(startChain());
const node = await forFile(Promise.resolve(connect(chain.rpcUrl)));

/** The transfers of tokens in a transaction. */
async function transfersOf({ hash, blockNumber }: Mined) {
  const block = await readBlock(node, blockNumber);
  const { transfers } = outerTransfers(block, (await readLogs(node, block)).logs, profileOf(''));
  return transfers.filter(({ txHash }) => txHash === hash);
}

it('describes each transfer in a sentence', async () => {
  const pair = { from: 'Alice', to: 'Treasury' } as const;
  const native = await chain.transfer({ kind: 'native', ...pair, amount: 5n });
  expect(native.summary).toBe('Alice sends 0.000000000000000005 HARBOR to Treasury');
  const internal = await chain.transfer({ kind: 'internal', ...pair, amount: 10n ** 18n });
  expect(internal.summary).toBe('Alice sends 1 HARBOR through a contract to Treasury');
});

it('lets a stranger send tokens that it never had', async () => {
  const sent = await chain.transfer({ kind: 'erc20', from: STRANGER, to: 'Treasury', amount: 9n });
  expect(await transfersOf(sent)).toMatchObject([{ from: STRANGER, to: chain.wallets.Treasury, value: 9n }]);
  const piece = await chain.transfer({ kind: 'erc721', from: STRANGER, to: 'Bob', id: 777n });
  expect(await transfersOf(piece)).toMatchObject([{ from: STRANGER, to: chain.wallets.Bob, tokenId: 777n }]);
});

it('sends a received NFT on, and no other one with its ID', async () => {
  await chain.transfer({ kind: 'erc721', from: 'Whale', to: STRANGER, id: 888n });
  const back = await chain.transfer({ kind: 'erc721', from: STRANGER, to: 'Whale', id: 888n });
  expect(await transfersOf(back)).toMatchObject([{ tokenId: 888n }]);
  const other = chain.transfer({ kind: 'erc721', from: 'Alice', to: 'Bob', id: 888n });
  await expect(other).rejects.toThrow(/^The transaction 0x[\da-f]{64} was reverted$/);
});

it('creates a look-alike that begins and ends like the address it copies', async () => {
  const sent = await chain.lookalike({ like: 'Payroll', to: 'Treasury' });
  const { Payroll, Treasury } = chain.wallets;
  expect(sent.address).not.toBe(Payroll);
  const ends = (address: string) => (address.slice(2, 6) + address.slice(-4)).toLowerCase();
  expect(ends(sent.address)).toBe(ends(Payroll));
  expect(await transfersOf(sent)).toMatchObject([{ from: sent.address, to: Treasury, value: 10_000n }]);
});

it.each(['dollar', 'keys', 'supplies'] as const)('mints and burns %s', async (token) => {
  const { Grants } = chain.wallets;
  const minted = await chain.mint({ to: 'Grants', token });
  expect(await transfersOf(minted)).toMatchObject([{ from: NOBODY, to: Grants }]);
  const burned = await chain.burn({ from: 'Grants', token });
  expect(await transfersOf(burned)).toMatchObject([{ from: Grants, to: NOBODY }]);
});

it('mines a burst in one block, in order, and mints nothing for it', async () => {
  const count = 30;
  const heard: string[] = [];
  const stop = chain.onMined(({ hash }) => heard.push(hash));
  const mined = await chain.burst(count);
  stop();
  expect(mined).toHaveLength(count);
  expect(heard).toEqual(mined.map(({ hash }) => hash));
  const block = await readBlock(node, mined[0]!.blockNumber);
  expect(block.transactions.map(({ hash }) => hash)).toEqual(heard);
});

it('refuses an empty burst', async () => {
  await expect(chain.burst(0)).rejects.toThrow(RangeError);
});

it('refuses to send more of a token than a wallet holds', async () => {
  const amount = 10n ** 15n;
  await expect(chain.transfer({ kind: 'erc20', from: 'Carol', to: 'Bob', amount })).rejects.toThrow(
    /^Carol holds only [\d.]+ HUSD\. Send less, or mint some first\.$/,
  );
});

it('sends every kind of traffic until it is stopped', async () => {
  const summaries: string[] = [];
  const turns = 40;
  const enough = new Promise<void>((resolve) => {
    chain.onMined(({ summary }) => summaries.push(summary) >= turns && resolve());
  });
  const failures: unknown[] = [];
  const stop = startTraffic(chain, { everyMs: 0, random: () => 0.5, onError: (error) => failures.push(error) });
  await inTime(`${turns} transactions are mined`, enough);
  await stop();
  expect(failures).toEqual([]);
  const text = summaries.join('\n');
  for (const part of ['through a contract', 'HUSD', 'BELL', 'HKEY #', 'HNAME #', '× HSUP', 'swaps', 'twice']) {
    expect(text).toContain(part);
  }
  expect(text).toMatch(/sends .* to Treasury/);
  expect(text).toMatch(/Treasury sends/);
});
