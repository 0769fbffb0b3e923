import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { createPageCache } from '../../services/explorer/cache.ts';
import { limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false, only: 'explorer' });
const { advance } = here;

const ask = async (query: string, slash = '') => {
  const response = await fetch(`${here.services.explorerApiUrl}${slash}?${query}`);
  return { status: response.status, body: (await response.json()) as { result: unknown } };
};
const token = (address: string) => ask(`module=token&action=getToken&contractaddress=${address}`);
const open = async (path: string) => {
  const response = await fetch(`${here.services.explorerUrl}${path}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const textOf = async (path: string) => (await open(path)).text;

describe('the explorer', () => {
  beforeEach(() => here.restart({ cataloged: [here.chain.tokens.dollar.address.toLowerCase()] }));

  it('shows a cataloged ERC-20', async () => {
    const { address } = here.chain.tokens.dollar;
    const answer = {
      status: 200,
      body: {
        status: '1',
        message: 'OK',
        result: {
          cataloged: true,
          contractAddress: address.toLowerCase(),
          decimals: '6',
          name: 'Harbor Dollar',
          symbol: 'HUSD',
          totalSupply: '9000000000000',
          type: 'ERC-20',
        },
      },
    };
    expect(await token(address.toLowerCase())).toEqual(answer);
    expect(await ask(`module=token&action=getToken&contractaddress=${address}`, '/')).toEqual(answer);
  });

  it.each([
    [
      'a copy of a cataloged token as not cataloged',
      'fake',
      { cataloged: false, name: 'Harbor Dollar', symbol: 'HUSD' },
    ],
    ['an ERC-721', 'keys', { decimals: '', symbol: 'HKEY', totalSupply: '96', type: 'ERC-721' }],
    ['an ERC-1155', 'supplies', { decimals: '', symbol: 'HSUP', totalSupply: '', type: 'ERC-1155' }],
  ] as const)('shows %s', async (_what, name, shown) => {
    expect((await token(here.chain.tokens[name].address)).body.result).toMatchObject(shown);
  });

  const GET_TOKEN = 'module=token&action=getToken';
  it.each([
    ['a wallet', () => `${GET_TOKEN}&contractaddress=${here.chain.wallets.Alice}`, 200, 'Contract address not found'],
    [
      'no token',
      () => `${GET_TOKEN}&contractaddress=${here.chain.contracts.splitter}`,
      200,
      'Contract address not found',
    ],
    ['no address', () => `${GET_TOKEN}&contractaddress=0x12`, 200, 'Invalid contract address hash'],
    ['nothing', () => GET_TOKEN, 200, 'Query parameter contract address is required'],
    [
      'nothing in other cases',
      () => 'module=TOKEN&action=gettoken&contractaddress=',
      200,
      'Query parameter contract address is required',
    ],
    ['another action', () => 'module=account&action=balance', 400, expect.any(String)],
  ])('refuses to look up %s in the documented format', async (_what, query, status, message) => {
    expect(await ask(query())).toEqual({ status, body: { status: '0', message, result: null } });
  });

  it('refuses other paths in the documented format', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const [path, init, status] of [
      ['/tokens', {}, 404],
      ['/%zz', {}, 400],
      ['', { method: 'POST', headers, body: '{' }, 400],
    ] as const) {
      const response = await fetch(here.services.explorerApiUrl + path, init);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ status: '0', message: expect.any(String), result: null });
    }
  });

  it('shows a transaction with its transfers', async () => {
    const { hash } = await here.chain.swap('Treasury');
    const { status, headers, text } = await open(`/tx/${hash}`);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(`/explorer/address/${here.chain.wallets.Treasury}`);
    expect(text).toContain(`<strong>150</strong> <code>HUSD</code>`);
    expect(text).toContain(`<strong>120</strong> <code>BELL</code>`);
    expect((await open(`/tx/0x${'0'.repeat(64)}`)).status).toBe(404);
    expect((await open('/tx/0x12')).status).toBe(404);
  });

  it('shows pages of addresses and tokens', async () => {
    const wallet = await open(`/address/${here.chain.wallets.Treasury.toLowerCase()}`);
    expect(wallet).toMatchObject({ status: 200, text: expect.stringContaining(here.chain.wallets.Treasury) });
    expect((await open(`/token/${here.chain.tokens.bell.address}`)).text).toContain('9000000');
    expect((await open(`/token/${here.chain.wallets.Alice}`)).status).toBe(404);
    expect((await open('/address/nobody')).status).toBe(400);
  });

  it('escapes text of a contract', async () => {
    const { text } = await open(`/token/${here.chain.tokens.hostile.address}`);
    expect(text).toContain('**Claim 5,000 HUSD** [here](https://claim.example/now) @everyone');
    expect(text).toContain('&#60;@&#38;1&#62;');
    expect(text).not.toMatch(/[\u202e\u200b]/);
  });
});

it('reports an unresponsive node without its URL', async () => {
  await here.restart({ rpcUrl: 'http://127.0.0.1:1/secret-key' });
  const address = `0x${'1'.repeat(40)}`;
  const api = await token(address);
  expect(api).toMatchObject({ status: 500, body: { status: '0', result: null } });
  const page = await open(`/address/${address}`);
  expect(page.status).toBe(500);
  expect(JSON.stringify(api) + page.text).not.toContain('secret-key');
});

const TRACE_METHODS = ['trace_transaction', 'debug_traceTransaction'];

it('shows on a transaction’s page that no node traces it', async () => {
  const { hash } = await here.chain.swap('Treasury');
  const openLater = async () => {
    advance(10_000);
    return await textOf(`/tx/${hash}`);
  };
  here.node.setAway(true);
  expect(await openLater()).toContain('The chain cannot be read');
  here.node.setAway(false);
  expect(await openLater()).not.toContain('does not trace');
  here.node.refuse(TRACE_METHODS, { code: -32000, message: 'missing trie node' });
  expect(await openLater()).toMatch(/<strong>150<\/strong>.*does not trace this transaction/s);
});

it('renders a page at most once in ten seconds', async () => {
  let calls = 0;
  here.node.change('eth_getBalance', (result) => {
    calls++;
    return result;
  });
  const path = `/address/${here.chain.wallets.Alice}`;
  await Promise.all([open(path), open(path), open(path)]);
  expect(calls).toBe(1);
  advance(10_000);
  await open(path);
  expect(calls).toBe(2);
});

const WHOLE_BLOCK = ['trace_block', 'debug_traceBlockByNumber', 'eth_getBlockByNumber', 'eth_getLogs'];

it.each(TRACE_METHODS)('shows internal payments by %s alone, without reading the whole block', async (method) => {
  const others = [...WHOLE_BLOCK, ...TRACE_METHODS.filter((one) => one !== method)];
  here.node.refuse(others, { code: -32601, message: 'the method is not available' });
  const { hash } = await here.chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: 10n ** 18n });
  const text = await textOf(`/tx/${hash}`);
  expect(text).toMatch(/<strong>1 NATIVE<\/strong>.*<strong>1 NATIVE<\/strong>, sent by a contract/s);
});

it('shows no transfers of a failed transaction, and includes blobs in its fee', async () => {
  const { hash } = await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 10n ** 18n });
  const fees = { gasUsed: '0x2', effectiveGasPrice: '0xde0b6b3a7640000' };
  const blobs = { blobGasUsed: '0x3', blobGasPrice: '0xde0b6b3a7640000' };
  here.node.change('eth_getTransactionReceipt', (receipt: object) => ({
    ...receipt,
    ...fees,
    ...blobs,
    status: '0x0',
  }));
  const text = await textOf(`/tx/${hash}`);
  expect(text).toContain('<dd>failed</dd>');
  expect(text).toMatch(/<h2>Transfers<\/h2>\s*<p>None\.<\/p>/);
  expect(text).toContain('<dt>Fee</dt><dd>5 NATIVE</dd>');
});

it('shows a payment once that the chain repeats as a log, and reads logs of null as none', async () => {
  const amount = 10n ** 18n;
  const { hash } = await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount });
  const parties = ['Alice', 'Treasury'].map(
    (name) => `0x${here.chain.wallets[name as 'Alice'].slice(2).padStart(64, '0')}`,
  );
  const topics = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', ...parties];
  const data = `0x${amount.toString(16).padStart(64, '0')}`;
  const log = { address: `0x${'F'.repeat(39)}e`, topics, data, logIndex: '0x0', transactionHash: hash };
  for (const logs of [[log], null]) {
    here.node.change('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, logs }));
    expect((await textOf(`/tx/${hash}`)).match(/<article>/g)).toHaveLength(1);
    advance(10_000);
  }
});

it('shows a wallet with delegated code as a wallet, and a contract as a contract', async () => {
  const [wallet, contract] = [`/address/${here.chain.wallets.Alice}`, `/address/${here.chain.contracts.splitter}`];
  expect(await textOf(wallet)).toContain('<dd>a wallet</dd>');
  expect(await textOf(contract)).toContain('<dd>a contract');
  here.node.change('eth_getCode', () => `0xef0100${here.chain.contracts.splitter.slice(2)}`);
  advance(10_000);
  expect(await textOf(wallet)).toContain('<dd>a wallet</dd>');
});

it('shows a contract that affirms every interface as an ERC-20', async () => {
  here.node.change('eth_call', (result, [call]) =>
    (call as { data: string }).data.startsWith('0x01ffc9a7') ? `0x${'1'.padStart(64, '0')}` : result,
  );
  const { body } = await token(here.chain.tokens.dollar.address);
  expect(body).toMatchObject({ result: { type: 'ERC-20', decimals: '6' } });
});

it('does not report a token as unknown when the node’s rate is used up', async () => {
  here.node.refuse('eth_call', { code: -32005, message: 'daily request count exceeded' });
  expect(await token(here.chain.tokens.dollar.address)).toEqual({
    status: 500,
    body: { status: '0', message: 'The chain cannot be read at the moment', result: null },
  });
});

it('renders at most 8 pages at the same time, keeps 64 waiting, and refuses more until there is room', async () => {
  const cache = createPageCache<string>(createManualClock());
  const release = Promise.withResolvers<void>();
  let underWay = 0;
  const make = async () => {
    underWay++;
    await release.promise;
    return 'page';
  };
  const pages = Array.from({ length: 72 }, (_, n) => cache.get(`${n}`, make));
  await expect(cache.get('one more', make)).rejects.toThrow('Too many pages');
  expect(underWay).toBe(8);
  release.resolve();
  expect(new Set(await Promise.all(pages))).toEqual(new Set(['page']));
  expect(await cache.get('one more', make)).toBe('page');
});
