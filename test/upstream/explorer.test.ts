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
    const sent = { module: 'token', action: 'getToken', address: ADDRESS, apiKey: 'k&y' };
    expect(Object.fromEntries(searchParams)).toEqual(sent);
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
  const found = (token: object) => ({ status: 'found', token });
  const refusing = (message: string, status = 200, result: unknown = null): Given => ({
    status,
    body: frame(result, message, '0'),
  });
  const { contractAddress: address, ...same } = RECORD;
  const empty = { name: null, symbol: null, type: 'SOMETHING' };
  const RECORDS: [string, change: object, token: object][] = [
    ['a whole record', {}, { ...same, address, decimals: 2 }],
    ['null names and a new type', empty, empty],
    ['empty decimals and supply', { decimals: '', totalSupply: '' }, { decimals: null, totalSupply: null }],
    ['a name as long as a contract likes', { name: 'N'.repeat(1_000_000) }, { name: 'N'.repeat(300) }],
    ['a symbol as long as a contract likes', { symbol: 'S'.repeat(1_000_000) }, { symbol: 'S'.repeat(300) }],
    ['255 decimals', { decimals: '255' }, { decimals: 255 }],
    ['more decimals than a contract can have', { decimals: '256' }, { decimals: null }],
    ['a record that names another contract', { contractAddress: `0x${'6'.repeat(40)}` }, { address }],
  ];
  const cases: [string, Given, object][] = [
    ...RECORDS.map(([name, record, token]): [string, Given, object] => [
      name,
      { body: frame({ ...RECORD, ...record }) },
      found(token),
    ]),
    [
      'bare numbers, beyond 2^53 to the last digit',
      { body: '{"status":"1","message":"OK","result":{"decimals":18,"totalSupply":9007199254740993000000001}}' },
      found({ decimals: 18, totalSupply: '9007199254740993000000001', cataloged: null }),
    ],
    ['not found', refusing('Contract address not found'), { status: 'not-found' }],
    ['not found, with an empty record', refusing('Contract address not found', 200, {}), { status: 'not-found' }],
    ['not found as 404', refusing('Token not found', 404), { status: 'not-found' }],
    ['invalid', refusing('Invalid contract address hash'), { status: 'invalid' }],
    ['400 invalid', refusing('Invalid address', 400), { status: 'invalid' }],
    ['429', refusing('Too many requests', 429), { status: 'limited' }],
    ['a limit reported with 200', refusing('Max rate limit reached'), { status: 'limited' }],
    ['a limit reported in the result', refusing('NOTOK', 200, 'Max rate limit reached'), { status: 'limited' }],
    ['403', { status: 403, body: {} }, { status: 'forbidden' }],
    ['500', refusing('oops', 500), { status: 'broken', code: 500 }],
    ['HTML of a proxy', HTML, { status: 'broken', code: 502 }],
    ['HTML with 200', { body: '<html>', type: 'text/html' }, { status: 'unreadable' }],
    [
      'more than anybody reads',
      { body: JSON.stringify(frame(RECORD)).padEnd(2 ** 22 + 500) },
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
    const endless = 'x'.repeat(300_000);
    upstream.set(({ url }) => ({ body: frame({ ...RECORD, name: url + endless, symbol: `${endless}${url}` }) }));
    const client = explorer();
    const ask = (n: number) => client.token(`0x${n.toString(16).padStart(40, '0')}`);
    await ask(0);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 1; n <= 20; n++) expect(await ask(n)).toMatchObject({ status: 'found' });
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000);
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
