import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Mined } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { type DeliveryProgress, EVENT_TYPES } from '../../services/notification/types.ts';
import { limitedSurroundings } from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const SENTINEL = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';
const MISSING = { code: -32601, message: 'the method does not exist' };
const NOBODY = '0x0000000000000000000000000000000000000000';

const here = limitedSurroundings({ watches: false });
const { scan } = here;

describe('events of a chain', () => {
  async function delivered(): Promise<string[]> {
    await scan();
    await here.services.sent();
    return here.receiver.received.map(({ body }) => body).reverse();
  }
  const events = async () => (await delivered()).map((body) => JSON.parse(body));

  /** The content of a transaction's events, as read from the chain in another way. */
  async function common(mined: Mined) {
    const rpc = rpcOf(here.chain.rpcUrl);
    const transaction = await rpc<Record<'blockHash' | 'gas' | 'value', string>>('eth_getTransactionByHash', [
      mined.hash,
    ]);
    const receipt = await rpc<Record<'gasUsed' | 'effectiveGasPrice', string>>('eth_getTransactionReceipt', [
      mined.hash,
    ]);
    const decimal = (hex: string) => BigInt(hex).toString();
    return {
      txHash: mined.hash,
      blockNumber: mined.blockNumber,
      blockHash: transaction.blockHash,
      projectId: 'harbor',
      addressType: 'Wallet',
      direction: 'incoming',
      gasPrice: decimal(receipt.effectiveGasPrice),
      gasUsed: decimal(receipt.gasUsed),
      gasFee: (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString(),
      gasLimit: decimal(transaction.gas),
      txnValue: decimal(transaction.value),
    };
  }

  it('reports a native transfer', async () => {
    const { Alice, Treasury } = here.chain.wallets;
    await here.services.watch(here.receiver.url, [Treasury]);
    const mined = await here.chain.transfer({
      kind: 'native',
      from: 'Alice',
      to: 'Treasury',
      amount: 1_500_000_000_000_000_001n,
    });
    expect(await events()).toEqual([
      {
        ...(await common(mined)),
        from: Alice,
        to: Treasury,
        value: '1500000000000000001',
        valueEth: '1.500000000000000001',
        tokenType: 'NATIVE',
        tokenAddress: SENTINEL,
      },
    ]);
    expect(here.receiver.received[0]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
  });

  it('reports an internal transfer as coming from the contract', async () => {
    const { Alice, Treasury } = here.chain.wallets;
    const { splitter } = here.chain.contracts;
    await here.services.watch(here.receiver.url, [Treasury, splitter]);
    const mined = await here.pay(7n, 'internal');
    const bodies = await events();
    const same = {
      ...(await common(mined)),
      value: '7',
      valueEth: '0.000000000000000007',
      tokenType: 'NATIVE',
      tokenAddress: SENTINEL,
    };
    expect(bodies).toEqual([
      { ...same, from: Alice, to: splitter },
      { ...same, from: splitter, to: Treasury, isInternalTransaction: true },
      { ...same, from: splitter, to: Treasury, isInternalTransaction: true, direction: 'outgoing' },
    ]);
  });

  it('reports an ERC-20 transfer for its token, receiver and sender', async () => {
    const { Alice, Treasury } = here.chain.wallets;
    const { address } = here.chain.tokens.dollar;
    await here.services.watch(here.receiver.url, [Alice, Treasury, address]);
    const mined = await here.pay(12_500_000n, 'erc20');
    const bodies = await events();
    const same = {
      ...(await common(mined)),
      from: Alice,
      to: Treasury,
      value: '12500000',
      tokenDecimals: '6',
      tokenType: 'ERC-20',
      tokenAddress: address,
      tokenName: 'Harbor Dollar',
      tokenSymbol: 'HUSD',
    };
    expect(bodies).toEqual([
      { ...same, addressType: 'Token', direction: null },
      same,
      { ...same, direction: 'outgoing' },
    ]);
  });

  it('writes an NFT’s id beyond 2^53 with every digit, as a bare integer', async () => {
    const { Alice, Treasury } = here.chain.wallets;
    await here.services.watch(here.receiver.url, [Treasury]);
    const id = 2n ** 255n + 12345n;
    const mined = await here.chain.transfer({ kind: 'erc721', token: 'names', from: 'Alice', to: 'Treasury', id });
    const [body = '', ...more] = await delivered();
    expect(more).toEqual([]);
    expect(body).toContain(`"tokenId":${id},`);
    const { tokenId: _, ...rest } = JSON.parse(body);
    expect(rest).toEqual({
      ...(await common(mined)),
      from: Alice,
      to: Treasury,
      tokenType: 'ERC-721',
      tokenAddress: here.chain.tokens.names.address,
      tokenName: 'Harbor Names',
      tokenSymbol: 'HNAME',
    });
  });

  it('reports single and batched ERC-1155 transfers with id and quantity', async () => {
    const { Alice, Treasury } = here.chain.wallets;
    await here.services.watch(here.receiver.url, [Treasury]);
    const single = await here.chain.transfer({ kind: 'erc1155', from: 'Alice', to: 'Treasury', id: 2n, amount: 3n });
    const batch = await here.chain.transfer({
      kind: 'erc1155',
      from: 'Alice',
      to: 'Treasury',
      amount: 4n,
      batch: true,
    });
    const bodies = await events();
    const same = {
      from: Alice,
      to: Treasury,
      tokenType: 'ERC-1155',
      tokenAddress: here.chain.tokens.supplies.address,
      tokenName: 'Harbor Supplies',
      tokenSymbol: 'HSUP',
    };
    expect(bodies).toHaveLength(4);
    expect(bodies).toContainEqual({ ...(await common(single)), ...same, tokenId: 2, quantity: '3' });
    for (const tokenId of [1, 2, 3]) {
      expect(bodies).toContainEqual({ ...(await common(batch)), ...same, tokenId, quantity: '4' });
    }
  });

  it('reports a mint from and a burn to the zero address', async () => {
    await here.services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
    await here.chain.mint({ to: 'Treasury', token: 'bell' });
    await scan();
    await here.chain.burn({ from: 'Treasury', token: 'bell' });
    const bodies = await events();
    expect(bodies).toHaveLength(2);
    expect(bodies).toContainEqual(expect.objectContaining({ from: NOBODY, direction: 'incoming' }));
    expect(bodies).toContainEqual(expect.objectContaining({ to: NOBODY, direction: 'outgoing' }));
  });

  it('sends a webhook only events of its eventType', async () => {
    const receivers = { NATIVE: here.receiver, ERC20: await startReceiver(), ERC721: await startReceiver() };
    for (const eventType of ['NATIVE', 'ERC20', 'ERC721'] as const) {
      await here.services.watch(receivers[eventType].url, [here.chain.wallets.Grants], { eventType });
    }
    for (const kind of ['native', 'internal', 'erc20', 'erc721', 'erc1155'] as const) {
      await here.chain.transfer({ kind, from: 'Alice', to: 'Grants' });
    }
    await scan();
    await here.services.sent();
    const typesOf = (one: Receiver) => one.received.map(({ body }) => JSON.parse(body).tokenType).sort();
    expect(typesOf(receivers.NATIVE)).toEqual(['NATIVE', 'NATIVE']);
    expect(typesOf(receivers.ERC20)).toEqual(['ERC-20']);
    expect(typesOf(receivers.ERC721)).toEqual(['ERC-1155', 'ERC-721']);
    await receivers.ERC20.close();
    await receivers.ERC721.close();
  });
});

/**
 * Byte code of a token that logs whatever three words it is sent, all of it in the data, returns this number for the
 * function with this selector and knows no other.
 */
function unindexed(selector: string, answered: number): string {
  const topic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const isTransfer = '36606014602557';
  const isAsked = `60003560e01c63${selector}14601a57600080fd`;
  const answer = `5b60${answered.toString(16).padStart(2, '0')}60005260206000f3`;
  const log = `5b606060006000377f${topic}60606000a100`;
  return `0x${isTransfer}${isAsked}${answer}${log}`;
}

describe('transactions out of the ordinary', () => {
  const { events } = here;

  it.each([
    {
      what: 'an ERC-20 where its contract has decimals',
      selector: '313ce567',
      answered: 18,
      heard: ['ALL', 'ERC20'],
      event: { tokenType: 'ERC-20', value: '42', tokenDecimals: '18' },
      shown: '<strong>0.000000000000000042</strong>',
    },
    {
      what: 'an ERC-20 where its contract says that it has no decimals',
      selector: '313ce567',
      answered: 0,
      heard: ['ALL', 'ERC20'],
      event: { tokenType: 'ERC-20', value: '42', tokenDecimals: '0' },
      shown: '<strong>42</strong>',
    },
    {
      what: 'an NFT older than its standard where its contract knows of none',
      selector: 'deadbeef',
      answered: 18,
      heard: ['ALL', 'ERC721'],
      event: { tokenType: 'ERC-721', tokenId: 42 },
      shown: '<strong>#42</strong>',
    },
  ])('reports a Transfer that indexes nothing as $what', async ({ selector, answered, heard, event, shown }) => {
    const { Alice, Grants } = here.chain.wallets;
    const rpc = rpcOf(here.chain.rpcUrl);
    const typeOf = new Map<string, string>();
    for (const eventType of EVENT_TYPES) {
      typeOf.set(await here.services.watch(here.receiver.url, [Grants], { eventType }), eventType);
    }
    const types: (string | undefined)[] = [];
    here.services.notification.onProgress((step) => step.type === 'matched' && types.push(typeOf.get(step.webhookId)));
    const to = `0x${selector.padStart(40, 'c')}`;
    const words = [Alice, Grants, 42n].map((word) => BigInt(word).toString(16).padStart(64, '0'));
    await rpc('anvil_setCode', [to, unindexed(selector, answered)]);
    const call = { from: Alice, to, data: `0x${words.join('')}`, gas: '0x100000' };
    const hash = await rpc<string>('eth_sendTransaction', [call]);
    await rpc('evm_mine');
    await scan();
    expect(types).toEqual(heard);
    const arrived = await events();
    expect(arrived).toMatchObject([event, event].map((one) => ({ ...one, from: Alice, to: Grants, txHash: hash })));
    expect(['value', 'tokenId'].filter((key) => arrived.some((one) => key in one))).toHaveLength(1);
    expect(await (await fetch(`${here.services.explorerUrl}/tx/${hash}`)).text()).toContain(shown);
  });

  it('reports nothing of a failed transaction', async () => {
    const matched: DeliveryProgress[] = [];
    here.services.notification.onProgress((progress) => progress.type === 'matched' && matched.push(progress));
    const { Alice, Treasury } = here.chain.wallets;
    await here.services.watch(here.receiver.url, [Alice, Treasury]);
    // The dollar contract takes no coins; the transaction is mined, and reverted.
    const { address } = here.chain.tokens.dollar;
    await expect(here.chain.transfer({ kind: 'native', from: 'Alice', to: address })).rejects.toThrow(/reverted/);
    const mined = await here.chain.transfer({ kind: 'native', from: 'Bob', to: 'Treasury' });
    await scan();
    expect(matched.map(({ txHash }) => txHash)).toEqual([mined.hash]);
  });

  it('logs that a node has no traces, and reports everything else', async () => {
    here.node.refuse(['trace_block', 'debug_traceBlockByNumber'], MISSING);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    await here.restart({ log });
    await here.watch();
    await here.pay(7n, 'internal');
    await here.pay(11n);
    await scan();
    expect(await events()).toMatchObject([{ value: '11' }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('coins sent by contracts are reported later');
  });
});
