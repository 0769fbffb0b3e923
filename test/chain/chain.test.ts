import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chain, type Mined, startChain, startTraffic, WALLET_NAMES } from '../../sandbox/chain/index.ts';
import { readBlock, readLogs } from '../../services/chain/block.ts';
import { innerTransfers, outerTransfers } from '../../services/chain/block-transfers.ts';
import type { Node } from '../../services/chain/node.ts';
import { connect } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { readToken } from '../../services/chain/token.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import type { Transfer } from '../../services/chain/transfers.ts';
import { inTime } from '../until.ts';

const ORDINARY = profileOf('');
const NOBODY = '0x0000000000000000000000000000000000000000';
const STRANGER = '0x00000000000000000000000000000000000ABc01';
const COIN = 10n ** 18n;

describe('the local chain', () => {
  let chain: Chain;
  let node: Node;

  beforeAll(async () => {
    chain = await startChain();
    node = connect(chain.rpcUrl);
  });
  afterAll(() => chain.close());

  async function transfersOf({ hash, blockNumber }: Mined) {
    const transfers = await readTransfers(blockNumber);
    const own = transfers.filter(({ txHash }) => txHash === hash);
    return own.map((transfer) => {
      const { txHash: _txHash, place: _place, from, to, ...rest } = transfer;
      return { ...rest, from: nameOf(from), to: nameOf(to) };
    });
  }

  async function readTransfers(blockNumber: number): Promise<Transfer[]> {
    const block = await readBlock(node, blockNumber);
    const { logs } = await readLogs(node, block);
    const outer = outerTransfers(block, logs, ORDINARY).transfers;
    const isPayment = ({ kind }: Transfer) => kind === 'native';
    const inner = innerTransfers(await coinMoves(node, block)).transfers;
    return [...outer.filter(isPayment), ...inner, ...outer.filter((one) => !isPayment(one))];
  }

  function nameOf(address: string): string {
    const known = { ...chain.wallets, ...chain.contracts, nobody: NOBODY };
    return Object.entries(known).find(([, one]) => one === address)?.[0] ?? address;
  }

  it('sends native and internal transfers', async () => {
    const native = await chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 5n });
    expect(await transfersOf(native)).toEqual([
      { kind: 'native', from: 'Alice', to: 'Treasury', value: 5n, internal: false },
    ]);
    expect(native.summary).toBe('Alice sends 0.000000000000000005 HARBOR to Treasury');
    const internal = await chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: COIN });
    expect(await transfersOf(internal)).toEqual([
      { kind: 'native', from: 'Alice', to: 'splitter', value: COIN, internal: false },
      { kind: 'native', from: 'splitter', to: 'Treasury', value: COIN, internal: true },
    ]);
    expect(internal.summary).toBe('Alice sends 1 HARBOR through a contract to Treasury');
  });

  it('sends token transfers of every kind', async () => {
    const { dollar, bell, names, supplies } = chain.tokens;
    const pair = { from: 'Bob', to: 'Treasury' } as const;
    const moved = { from: 'Bob', to: 'Treasury' };
    expect(await transfersOf(await chain.transfer({ kind: 'erc20', ...pair, amount: 7n }))).toEqual([
      { kind: 'erc20', ...moved, token: dollar.address, value: 7n },
    ]);
    expect(await transfersOf(await chain.transfer({ kind: 'erc20', token: 'bell', ...pair, amount: 8n }))).toEqual([
      { kind: 'erc20', ...moved, token: bell.address, value: 8n },
    ]);
    const [name] = await transfersOf(await chain.transfer({ kind: 'erc721', token: 'names', ...pair }));
    expect(name).toMatchObject({ kind: 'erc721', ...moved, token: names.address });
    expect((name as { tokenId: bigint }).tokenId).toBeGreaterThan(2n ** 200n);
    expect(await transfersOf(await chain.transfer({ kind: 'erc1155', ...pair, amount: 2n, batch: true }))).toEqual(
      [1n, 2n, 3n].map((tokenId) => ({ kind: 'erc1155', ...moved, token: supplies.address, tokenId, value: 2n })),
    );
  });

  it('lets a stranger send tokens that it never had', async () => {
    const sent = await chain.transfer({ kind: 'erc20', from: STRANGER, to: 'Treasury', amount: 9n });
    expect(await transfersOf(sent)).toMatchObject([{ from: STRANGER, to: 'Treasury', value: 9n }]);
    const piece = await chain.transfer({ kind: 'erc721', from: STRANGER, to: 'Bob', id: 777n });
    expect(await transfersOf(piece)).toMatchObject([{ from: STRANGER, to: 'Bob', tokenId: 777n }]);
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
    const { Payroll } = chain.wallets;
    expect(sent.address).not.toBe(Payroll);
    const ends = (address: string) => (address.slice(2, 6) + address.slice(-4)).toLowerCase();
    expect(ends(sent.address)).toBe(ends(Payroll));
    expect(await transfersOf(sent)).toMatchObject([{ from: sent.address, to: 'Treasury', value: 10_000n }]);
  });

  it.each(['dollar', 'keys', 'supplies'] as const)('mints and burns %s', async (token) => {
    const { address } = chain.tokens[token];
    const [minted] = await transfersOf(await chain.mint({ to: 'Grants', token }));
    expect(minted).toMatchObject({ from: 'nobody', to: 'Grants', token: address });
    const [burned] = await transfersOf(await chain.burn({ from: 'Grants', token }));
    expect(burned).toMatchObject({ from: 'Grants', to: 'nobody', token: address });
  });

  it('returns the tokens’ own metadata from the contracts', async () => {
    for (const { address, name, symbol, type, decimals } of Object.values(chain.tokens)) {
      const token = await readToken(node, address);
      expect(token).toMatchObject({ name, symbol, type, decimals: type === 'ERC-20' ? decimals : null });
    }
    expect(await readToken(node, chain.wallets.Alice)).toBeNull();
    expect(await readToken(node, chain.contracts.mover)).toBeNull();
  });

  it.each([30, 500])('mines a burst of %i in one block, in order, and mints nothing for it', async (count) => {
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

  it('runs simultaneous actions without conflicts', async () => {
    const all = await Promise.all(WALLET_NAMES.map((from) => chain.transfer({ kind: 'erc721', from, to: 'Treasury' })));
    expect(new Set(all.map(({ hash }) => hash)).size).toBe(WALLET_NAMES.length);
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
});
