import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createDiscovery } from '../../src/upstream/discovery.ts';
import { forFile } from '../for-file.ts';
import { type Given, HTML, startUpstream } from './server.ts';

const clock = createManualClock();
const upstream = await forFile(startUpstream(() => null));
beforeEach(() => {
  upstream.requests.length = 0;
});
const client = (timeoutMs = 60_000) => createDiscovery({ url: upstream.url, ...clock, timeoutMs });
const QUERY = { category: 'apis', search: null, providers: [] as string[] };
const asked = () => upstream.requests.map(({ url }) => new URL(url, upstream.url).searchParams);
/** Answers with what this gives for the number of a page. */
const serve = (reply: (page: number, params: URLSearchParams) => Given) =>
  upstream.set(({ url }) => {
    const { searchParams } = new URL(url, upstream.url);
    return reply(Number(searchParams.get('page')), searchParams);
  });
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ slug: `s${from + index}`, provider: `P${from + index}` }));

describe('categories', () => {
  const envelopes: [string, unknown][] = [
    ['an array of texts', ['apis', 'brandnew']],
    ['an array of objects', [{ key: 'apis', label: 'APIs' }, { key: 'brandnew' }]],
    ['`result`', { result: ['apis', 'brandnew'] }],
    ['`availableCategories`', { availableCategories: [{ key: 'apis' }, { key: 'brandnew' }] }],
    [
      'a list with one that is not active',
      [{ key: 'apis', active: true }, { key: 'old', active: false }, { key: 'brandnew' }],
    ],
    ['`data.categories`', { data: { categories: ['apis', 'brandnew'] } }],
  ];
  it.each(envelopes)('reads categories in the form of %s', async (_name, body) => {
    upstream.set(() => ({ body }));
    expect(await client().categories()).toEqual({ keys: ['apis', 'brandnew'], live: true });
  });

  const broken: [string, Given][] = [
    ['500', { status: 500, body: { error: { message: 'x' } } }],
    ['a page', HTML],
    ['nothing in it', { body: [] }],
    ['hanging', null],
  ];
  it.each(broken)('falls back to the twelve known categories: %s', async (_name, given) => {
    upstream.set(() => given);
    const { keys, live } = await client(given ? 60_000 : 50).categories();
    expect(live).toBe(false);
    expect(keys).toHaveLength(12);
    expect(keys).toContain('mcpservers');
  });

  it('caches categories, and returns the last known ones when the service is down later', async () => {
    upstream.set(() => ({ body: ['brandnew'] }));
    const discovery = client();
    await Promise.all([discovery.categories(), discovery.categories()]);
    expect(upstream.requests).toHaveLength(1);
    upstream.set(() => null);
    clock.advance(3_600_000);
    const read = discovery.categories(20);
    clock.advance(20);
    expect(await read).toEqual({ keys: ['brandnew'], live: false });
  });
});

describe('rows', () => {
  const envelopes: [string, (list: unknown[]) => unknown][] = [
    ['an array', (list) => list],
    ['`result`', (result) => ({ result })],
    ['`result` by category', (list) => ({ result: { apis: list } })],
    ['`rows` and `total`', (list) => ({ rows: list, total: list.length })],
    ['`data` and `pagination`', (data) => ({ data, pagination: { page: 1, total: data.length } })],
    ['`items`', (items) => ({ items, page: 1, pageSize: 50, total: items.length })],
  ];
  it.each(envelopes)('reads rows in the form of %s', async (_name, wrap) => {
    upstream.set(() => ({ body: wrap(rows(0, 3)) }));
    const answer = await client().rows(QUERY);
    expect(answer).toMatchObject({ status: 'ok', complete: true });
    if (answer.status === 'ok') expect(answer.rows.map(({ columns }) => columns.provider)).toEqual(['P0', 'P1', 'P2']);
  });

  it('reads rows only up to a size limit, however many the service has', async () => {
    serve((page) => ({
      body: rows(page * 50, page * 50 + 50).map((row) => ({ ...row, more: 'x'.repeat(30_000) })),
    }));
    const answer = await client().rows(QUERY);
    expect(answer).toMatchObject({ status: 'ok', complete: false });
    if (answer.status === 'ok') expect(answer.rows.length).toBeLessThan(70);
    expect(upstream.requests.length).toBeLessThan(5);
  });

  it('reads endless envelopes with the category’s name without blocking', async () => {
    upstream.set(() => ({ body: `${'{"data":'.repeat(26)}[]${'}'.repeat(26)}` }));
    expect(await client().rows({ ...QUERY, category: 'data' })).toEqual({ status: 'unreadable' });
  });

  it('encodes the filter once, and leaves out options that were not set', async () => {
    upstream.set(() => ({ body: [] }));
    await client().rows({ category: 'apis', search: 'a&b c', providers: ['Größe "1"', 'Two'] });
    expect(upstream.requests[0]!.url).toContain('search=a%26b%20c&');
    const [first] = asked();
    expect(first!.get('search')).toBe('a&b c');
    expect(JSON.parse(first!.get('filters')!)).toEqual([{ id: 'provider', value: ['Größe "1"', 'Two'] }]);
    await client().rows(QUERY);
    const keys = [...asked().at(-1)!.keys()];
    expect(keys).not.toContain('search');
    expect(keys).not.toContain('filters');
  });

  it('makes one request for a burst of the same search, and caches the result', async () => {
    upstream.set(() => ({ body: rows(0, 3) }));
    const one = client();
    await Promise.all(Array.from({ length: 20 }, () => one.rows(QUERY)));
    await one.rows(QUERY);
    const pages = asked().map((params) => params.get('page'));
    expect(pages).toEqual([...new Set(pages)]);
  });

  /** A service with 120 rows whose first page has the number `base`; lower numbers get the response of `below`. */
  const paged = (base: number, below: (size: number) => Given) => () =>
    serve((page, params) => {
      const size = Number(params.get('pageSize'));
      if (page < base) return below(size);
      return { body: rows(Math.min(120, (page - base) * size), Math.min(120, (page - base + 1) * size)) };
    });
  const services: [string, () => void][] = [
    ['from 0', paged(0, () => null)],
    ['from 1, 0 is an error', paged(1, () => ({ status: 400, body: { error: { message: 'page' } } }))],
    ['from 1, 0 breaks it', paged(1, () => ({ status: 500, body: {} }))],
    ['from 1, 0 is empty', paged(1, () => ({ body: [] }))],
    ['from 1, 0 is taken for 1', paged(1, (size) => ({ body: rows(0, size) }))],
  ];
  it.each(services)('returns every row once, in order, whether pages start at 0 or 1: %s', async (_name, prepare) => {
    prepare();
    const answer = await client().rows(QUERY);
    expect(answer).toMatchObject({ status: 'ok', complete: true });
    if (answer.status === 'ok')
      expect(answer.rows.map(({ columns }) => columns.slug)).toEqual(rows(0, 120).map(({ slug }) => slug));
  });

  it.each([0, 1])('asks for the first page once, as soon as responses show that its number is %i', async (base) => {
    const one = client();
    paged(base, () => ({ status: 400, body: {} }))();
    await one.rows(QUERY);
    upstream.requests.length = 0;
    expect(await one.rows({ ...QUERY, search: 'other' })).toMatchObject({ rows: { length: 120 }, complete: true });
    expect(asked().map((params) => Number(params.get('page')))).toEqual([base, base + 1, base + 2]);
  });

  it('leaves out the page size from then on where the service refuses it', async () => {
    const one = client();
    serve((page, params) => {
      if (params.has('pageSize')) return { status: 400, body: { error: { message: 'pageSize' } } };
      return { body: page < 3 ? rows(page * 20, page * 20 + 20) : [] };
    });
    expect(((await one.rows(QUERY)) as { rows?: unknown[] }).rows).toHaveLength(60);
    upstream.requests.length = 0;
    await one.rows({ ...QUERY, search: 'other' });
    expect(asked().map((params) => params.get('page'))).toEqual(['0', '1', '2', '3']);
    expect(asked().filter((params) => params.has('pageSize'))).toEqual([]);
  });

  it('leaves out the page size where the service refuses it and its pages start at 1', async () => {
    serve((page, params) => {
      if (params.has('pageSize') || page === 0) return { status: 400, body: {} };
      return { body: page === 1 ? rows(0, 20) : [] };
    });
    expect(await client().rows(QUERY)).toMatchObject({ status: 'ok', rows: { length: 20 }, complete: true });
  });

  it('keeps the page size, and reports no outage, when the service rejects a search with and without it', async () => {
    const reported: unknown[] = [];
    const one = createDiscovery({ url: upstream.url, ...clock, onResponse: (failure) => reported.push(failure) });
    upstream.set(() => ({ status: 400, body: {} }));
    expect(await one.rows(QUERY)).toEqual({ status: 'rejected' });
    expect(reported).toEqual([null]);
    upstream.requests.length = 0;
    upstream.set(() => ({ body: rows(0, 3) }));
    await one.rows(QUERY);
    expect(new Set(asked().map((params) => params.get('pageSize')))).toEqual(new Set(['50']));
  });

  it('stops reading pages of providers when the service ignores the page number', async () => {
    upstream.set(() => ({ body: rows(0, 50) }));
    const { rows: found } = (await client().rows(QUERY)) as { rows?: unknown[] };
    expect(found).toHaveLength(50);
    expect(upstream.requests.length).toBeLessThanOrEqual(3);
  });

  const LIMITED: Given = { status: 429, body: {} };
  const full = (page: number): Given => ({ body: rows(page * 50, page * 50 + 50) });
  const incomplete: [string, (page: number) => Given][] = [
    ['a later page', (page) => (page > 1 ? { status: 500, body: {} } : full(page))],
    ['page 0, which may be the first,', (page) => (page === 0 ? LIMITED : { body: rows(50, 55) })],
    ['page 1, which may be the first,', (page) => (page === 1 ? LIMITED : { body: rows(0, 5) })],
    [
      'page 0 before a full one, after which none follows,',
      (page) => (page === 0 ? LIMITED : page === 1 ? full(0) : { status: 404, body: {} }),
    ],
  ];
  it.each(incomplete)('reports an incomplete result when %s is missing', async (_name, reply) => {
    serve(reply);
    expect(await client().rows(QUERY)).toMatchObject({ status: 'ok', complete: false });
  });

  it.each([0, 1])('returns the failure when page %i fails and the other one is empty', async (missing) => {
    serve((page) => (page === missing ? LIMITED : { body: [] }));
    expect(await client().rows(QUERY)).toEqual({ status: 'limited' });
  });

  it.each([0, 1])(
    'returns a complete result when the page after the last full one is refused, from %i',
    async (base) => {
      serve((page) => (page - base === 0 || page - base === 1 ? full(page - base) : { status: 404, body: {} }));
      expect(await client().rows(QUERY)).toMatchObject({ status: 'ok', complete: true, rows: { length: 100 } });
    },
  );

  it('does not read a list of categories as rows', async () => {
    upstream.set(() => ({ body: { error: { message: 'no such category' }, availableCategories: ['wallets'] } }));
    expect(await client().rows(QUERY)).toEqual({ status: 'unreadable' });
  });

  it('omits placeholders and converts values to text', async () => {
    const placeholders = { tag: 'TBD', offer: null, planName: 'Custom', description: ' ' };
    const given = { provider: 'Acme', price: 29.5, starred: true, chains: ['A', 'B', 'NULL'] };
    const docs = '[Docs](https://acme.example)';
    upstream.set(() => ({ body: [{ ...given, ...placeholders, actionButtons: [docs, 7] }] }));
    const columns = { provider: 'Acme', price: '29.5', starred: '✓', chains: 'A, B' };
    expect(await client().rows(QUERY)).toMatchObject({ status: 'ok', rows: [{ columns, actions: [docs, '7'] }] });
  });
});

it('returns the web page of a category', () => {
  expect(client().directoryUrl('apis', 'a b')).toBe(`${upstream.url}/toolbox/apis?search=a%20b`);
});

it('keeps the thousand queries that were shown last', () => {
  const { keep, kept } = client();
  const keys = Array.from({ length: 1_000 }, (_, n) => keep({ ...QUERY, search: `${n}` }));
  expect(keep({ ...QUERY, search: '0' })).toBe(keys[0]);
  keep(QUERY);
  expect(keys.slice(0, 3).map((key) => kept(key)?.search)).toEqual(['0', undefined, '2']);
});
