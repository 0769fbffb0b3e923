import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { createExplorer } from '../../src/upstream/explorer.ts';
import { forFile } from '../for-file.ts';
import { type Given, HTML, startUpstream } from './server.ts';

const ADDRESS = '0x5df217d84e67a4aac9d130fc7afed5a94e873f0d';
const RECORD = {
  cataloged: true,
  contractAddress: ADDRESS,
  decimals: '2',
  name: 'GoodDollar',
  symbol: 'G$',
  totalSupply: '123456789012345678901234567890',
  type: 'ERC-20',
};

let time = 0;
const upstream = await forFile(startUpstream(() => null));
beforeEach(() => {
  upstream.requests.length = 0;
});

const explorer = (options: { apiKey?: string; addressParam?: string; timeoutMs?: number } = {}) =>
  createExplorer({
    url: `${upstream.url}/v0`,
    addressParam: 'contractaddress',
    apiKey: undefined,
    now: () => time,
    ...options,
  });
const frame = (result: unknown, message = 'OK', status = '1') => ({ message, result, status });

describe('the request', () => {
  it('sends module, action, address and key as specified', async () => {
    upstream.set(() => ({ body: frame(RECORD) }));
    await explorer({ apiKey: 'k&y', addressParam: 'address' }).token(ADDRESS);
    const { pathname, searchParams } = new URL(upstream.requests[0]!.url, upstream.url);
    expect(pathname).toBe('/v0/');
    expect(Object.fromEntries(searchParams)).toEqual({
      module: 'token',
      action: 'getToken',
      address: ADDRESS,
      apiKey: 'k&y',
    });
  });

  it('requests uncompressed responses from the service', async () => {
    const plain = JSON.stringify(frame(RECORD));
    const compressed = gzipSync(plain).toString('latin1');
    upstream.set(({ headers }) => ({ body: headers['accept-encoding'] === 'identity' ? plain : compressed }));
    expect(await explorer().token(ADDRESS)).toMatchObject({ status: 'found' });
  });

  it('uses the root without a slash if only that is served, and remembers it', async () => {
    upstream.set(({ url }) => (url.startsWith('/v0/') ? { status: 404, body: 'Not here' } : { body: frame(RECORD) }));
    const client = explorer();
    expect(await client.token(ADDRESS)).toMatchObject({ status: 'found' });
    await client.token('0x1111111111111111111111111111111111111111');
    expect(upstream.requests.map(({ url }) => url.split('?')[0])).toEqual(['/v0/', '/v0', '/v0']);
  });
});

describe('the root', () => {
  it('finds the root without a slash with several lookups at once, and drops it when only the other one is served', async () => {
    let served = /^\/v0\?/;
    upstream.set(({ url }) => (served.test(url) ? { body: frame(RECORD) } : { status: 404, body: 'Not here' }));
    const client = explorer();
    const some = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}` as const);
    const answers = await Promise.all(some.map((address) => client.token(address)));
    expect(answers.map(({ status }) => status)).toEqual(['found', 'found', 'found']);
    served = /^\/v0\/\?/;
    expect(await client.token(ADDRESS)).toMatchObject({ status: 'found' });
  });

  it('tries the root with a slash again after neither was served for a moment', async () => {
    let down = true;
    upstream.set(({ url }) =>
      down || !url.startsWith('/v0/') ? { status: 404, body: 'Not here' } : { body: frame(RECORD) },
    );
    const client = explorer();
    expect((await client.token(ADDRESS)).status).not.toBe('found');
    down = false;
    expect(await client.token(ADDRESS)).toMatchObject({ status: 'found' });
  });
});

describe('the response', () => {
  const cases: [string, Given, object][] = [
    [
      'a whole record',
      { body: frame(RECORD) },
      {
        status: 'found',
        token: {
          address: ADDRESS,
          name: 'GoodDollar',
          symbol: 'G$',
          type: 'ERC-20',
          decimals: 2,
          totalSupply: '123456789012345678901234567890',
          cataloged: true,
        },
      },
    ],
    [
      'empty decimals and supply, null names, a new type',
      { body: frame({ ...RECORD, decimals: '', totalSupply: '', name: null, symbol: null, type: 'SOMETHING' }) },
      {
        status: 'found',
        token: { decimals: null, totalSupply: null, name: null, symbol: null, type: 'SOMETHING' },
      },
    ],
    [
      'texts as long as a contract likes',
      { body: frame({ ...RECORD, name: 'N'.repeat(1_000_000), symbol: 'S'.repeat(1_000_000) }) },
      { status: 'found', token: { name: 'N'.repeat(300), symbol: 'S'.repeat(300) } },
    ],
    [
      'bare numbers, beyond 2^53 to the last digit',
      { body: '{"status":"1","message":"OK","result":{"decimals":18,"totalSupply":9007199254740993000000001}}' },
      { status: 'found', token: { decimals: 18, totalSupply: '9007199254740993000000001', cataloged: null } },
    ],
    ['255 decimals', { body: frame({ ...RECORD, decimals: '255' }) }, { status: 'found', token: { decimals: 255 } }],
    [
      'more decimals than a contract can have',
      { body: frame({ ...RECORD, decimals: '256' }) },
      { status: 'found', token: { decimals: null } },
    ],
    [
      'a record that names another contract',
      { body: frame({ ...RECORD, contractAddress: `0x${'6'.repeat(40)}` }) },
      { status: 'found', token: { address: ADDRESS } },
    ],
    ['not found', { body: frame(null, 'Contract address not found', '0') }, { status: 'not-found' }],
    [
      'not found, with an empty record',
      { body: frame({}, 'Contract address not found', '0') },
      { status: 'not-found' },
    ],
    ['not found as 404', { status: 404, body: frame(null, 'Token not found', '0') }, { status: 'not-found' }],
    ['invalid', { body: frame(null, 'Invalid contract address hash', '0') }, { status: 'invalid' }],
    ['400 invalid', { status: 400, body: frame(null, 'Invalid address', '0') }, { status: 'invalid' }],
    ['429', { status: 429, body: frame(null, 'Too many requests', '0') }, { status: 'limited' }],
    ['a limit reported with 200', { body: frame(null, 'Max rate limit reached', '0') }, { status: 'limited' }],
    ['a limit reported in the result', { body: frame('Max rate limit reached', 'NOTOK', '0') }, { status: 'limited' }],
    ['403', { status: 403, body: {} }, { status: 'forbidden' }],
    ['500', { status: 500, body: frame(null, 'oops', '0') }, { status: 'broken', code: 500 }],
    ['HTML of a proxy', HTML, { status: 'broken', code: 502 }],
    ['HTML with 200', { body: '<html>', type: 'text/html' }, { status: 'unreadable' }],
    [
      'more than anybody reads',
      { body: `${JSON.stringify(frame(RECORD))}${' '.repeat(4 * 1024 * 1024)}` },
      { status: 'unreadable' },
    ],
    ['something else', { body: [1, 2] }, { status: 'unreadable' }],
  ];
  it.each(cases)('reads the explorer’s response: %s', async (_name, given, expected) => {
    upstream.set(() => given);
    expect(await explorer().token(ADDRESS)).toMatchObject(expected);
  });

  it('distinguishes a hanging service (timeout) from an unreachable one', async () => {
    upstream.set(() => null);
    expect(await explorer({ timeoutMs: 50 }).token(ADDRESS)).toEqual({ status: 'timeout' });
    const gone = await startUpstream(() => null);
    await gone.close();
    const client = createExplorer({ url: gone.url, addressParam: 'a', apiKey: 'secret', now: () => 0 });
    expect(await client.token(ADDRESS)).toEqual({ status: 'unreachable' });
  });
});

describe('the cache', () => {
  it('makes one request for a burst of the same lookup, and again when the cache is old', async () => {
    upstream.set(() => ({ body: frame(RECORD) }));
    const client = explorer();
    const burst = await Promise.all(Array.from({ length: 20 }, () => client.token(ADDRESS)));
    expect(new Set(burst.map((one) => one.status))).toEqual(new Set(['found']));
    await client.token(ADDRESS);
    expect(upstream.requests).toHaveLength(1);
    time += 60_001;
    await client.token(ADDRESS);
    expect(upstream.requests).toHaveLength(2);
  });

  it('caches only the shown part of an endless name', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const endless = 'x'.repeat(2_000_000);
    upstream.set(({ url }) => ({ body: frame({ ...RECORD, name: url + endless, symbol: `${endless}${url}` }) }));
    const client = explorer();
    const ask = (n: number) => client.token(`0x${n.toString(16).padStart(40, '0')}`);
    await ask(0);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 1; n <= 20; n++) expect(await ask(n)).toMatchObject({ status: 'found' });
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
  });

  it('caches missing tokens for 15 seconds, and five hundred results', async () => {
    upstream.set(() => ({ body: frame(null, 'Token not found', '0') }));
    const client = explorer();
    const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;
    const ask = async (n: number) => {
      const before = upstream.requests.length;
      expect(await client.token(address(n))).toMatchObject({ status: 'not-found' });
      return upstream.requests.length - before;
    };
    for (let n = 0; n <= 500; n++) await ask(n);
    expect([await ask(500), await ask(1), await ask(0)]).toEqual([0, 0, 1]);
    time += 15_001;
    expect(await ask(500)).toBe(1);
  });

  it('caches no failed lookup of a token', async () => {
    upstream.set(() => ({ status: 500, body: {} }));
    const client = explorer();
    await client.token(ADDRESS);
    upstream.set(() => ({ body: frame(RECORD) }));
    expect(await client.token(ADDRESS)).toMatchObject({ status: 'found' });
  });
});
