import { expect, it } from 'vitest';
import { writeDirectory } from '../../sandbox/directory.ts';
import { readCategories } from '../../services/discovery/providers.ts';
import { startServices } from '../../services/start.ts';
import { folderOfFile } from '../folder.ts';
import { forFile } from '../for-file.ts';

const KEYS = [
  'mcpservers',
  'analytics',
  'wallets',
  'explorers',
  'apis',
  'oracles',
  'bridges',
  'services',
  'sdks',
  'platforms',
  'security',
  'storages',
];

const providersFile = writeDirectory(folderOfFile());
const services = await forFile(
  startServices({ rpcUrl: 'http://127.0.0.1:1', dir: '', projects: [], only: 'discovery', providersFile }),
);

interface Page {
  rows: Record<string, unknown>[];
  total: number;
  page: number;
  pageSize: number;
}

type Body = Page & { result: { key: string }[] };

const get = async (path: string) => {
  const response = await fetch(`${services.discoveryUrl}${path}`);
  return { status: response.status, body: (await response.json()) as Body };
};
const rows = async (query: Record<string, string>): Promise<Page> =>
  (await get(`/api/infrastructure-providers/rows?${new URLSearchParams(query).toString()}`)).body;

it('lists the active categories', async () => {
  const { status, body } = await get('/api/infrastructure-providers/categories');
  expect(status).toBe(200);
  expect(body.result.map(({ key }) => key)).toEqual(KEYS);
});

it('has at least 60 providers, each row with the common columns', async () => {
  const providers = new Set<unknown>();
  for (const category of KEYS) {
    const page = await rows({ category, pageSize: '100' });
    for (const row of page.rows) {
      providers.add(row.provider);
      expect(Object.keys(row)).toEqual(
        expect.arrayContaining(['slug', 'offer', 'actionButtons', 'starred', 'tag', 'price', 'planType', 'planName']),
      );
    }
    expect(page.rows).toHaveLength(page.total);
  }
  expect(providers.size).toBeGreaterThanOrEqual(60);
});

it('starts pages at 1 and shows every row once', async () => {
  const all = await rows({ category: 'wallets', pageSize: '100' });
  const seen: unknown[] = [];
  for (let page = 1; page <= Math.ceil(all.total / 4); page++) {
    const one = await rows({ category: 'wallets', page: String(page), pageSize: '4' });
    expect(one).toMatchObject({ page, pageSize: 4, total: all.total });
    seen.push(...one.rows);
  }
  expect(seen).toEqual(all.rows);
  expect((await rows({ category: 'wallets', page: '99' })).rows).toEqual([]);
});

it('finds rows that contain all words of a search, in any case', async () => {
  const found = await rows({ category: 'apis', search: 'TRADING latency' });
  expect(new Set(found.rows.map(({ provider }) => provider))).toEqual(new Set(['Rapidlock']));
  expect((await rows({ category: 'apis', search: 'nothing has this' })).total).toBe(0);
});

it('matches any value of a filter and all filters together', async () => {
  const filter = (...filters: { id: string; value: string[] }[]) =>
    rows({ category: 'apis', filters: JSON.stringify(filters), pageSize: '100' });
  const two = await filter({ id: 'provider', value: ['Nodewharf', 'freshet rpc'] });
  expect(new Set(two.rows.map(({ provider }) => provider))).toEqual(new Set(['Nodewharf', 'Freshet RPC']));
  const one = await filter({ id: 'provider', value: ['Nodewharf'] }, { id: 'planType', value: ['free'] });
  expect(one.rows).toMatchObject([{ provider: 'Nodewharf', planName: 'Free' }]);
  expect((await filter({ id: 'nothing', value: ['x'] })).total).toBe(0);
});

it.each([
  [{}, /category is required, once/],
  [{ category: 'unknown' }, /category is not one of mcpservers/],
  [{ category: 'faucets' }, /category is not one of/],
  [{ category: 'apis', page: '0' }, /page must be a whole number from 1/],
  [{ category: 'apis', pageSize: '1000' }, /pageSize must be a whole number from 1 to 100/],
  [{ category: 'apis', filters: '{' }, /filters must be a JSON array/],
])('refuses to list rows of %o', async (query, message) => {
  const { status, body } = await get(`/api/infrastructure-providers/rows?${new URLSearchParams(query).toString()}`);
  expect(status).toBe(400);
  expect(body).toEqual({ error: { message: expect.stringMatching(message) } });
});

it('ignores empty parameters of a request for providers', async () => {
  const rows = async (query: string) => get(`/api/infrastructure-providers/rows?category=apis${query}`);
  expect(await rows('&search=&filters=&page=&pageSize=')).toEqual(await rows(''));
});

it('has only fictional, honest providers in the default data', () => {
  const categories = readCategories(new URL('../../services/discovery/providers.json', import.meta.url));
  const text = JSON.stringify(categories);
  const hosts = [...text.matchAll(/\w+:\/\/([^/)"]+)/g)].map(([, host]) => host!);
  expect(hosts.length).toBeGreaterThan(100);
  expect(hosts.filter((host) => !host.endsWith('.example'))).toEqual([]);
  expect(text).not.toMatch(/[\p{Cf}<@*`|]|javascript:|data:|http:/u);
});

it('responds to an unknown path in the documented format', async () => {
  expect(await get('/nothing')).toEqual({ status: 404, body: { error: { message: expect.any(String) } } });
  expect(await get('/toolbox/%zz')).toEqual({ status: 400, body: { error: { message: expect.any(String) } } });
  const headers = { 'content-type': 'application/json' };
  const posted = await fetch(`${services.discoveryUrl}/nothing`, { method: 'POST', headers, body: '{' });
  expect([posted.status, await posted.json()]).toEqual([400, { error: { message: expect.any(String) } }]);
});

it('searches on the directory page and escapes third-party text', async () => {
  const open = async (path: string) => (await fetch(`${services.discoveryUrl}${path}`)).text();
  const found = await open('/toolbox/wallets?search=keystone');
  expect(found).toContain('<h2>Keystone Cove</h2>');
  expect(found).not.toContain('Brassfob');
  expect(found).toContain('href="https://keystone-cove.example/"');
  const all = await open('/toolbox/wallets');
  expect(all).toContain('&#60;img src=x onerror=alert(1)&#62;');
  expect(all).not.toMatch(/<img|<script|<a href="(?!https:|\/discovery\/)/);
  expect(all).toMatch(/toolbox\/wallets" aria-current="page">/);
  const none = await open('/toolbox/wallets?search="><script>');
  expect(none).toContain('value="&#34;&#62;&#60;script&#62;"');
  expect(none).not.toContain('<script>');
  expect(none).toContain('No provider here has all these words');
  expect((await fetch(`${services.discoveryUrl}/toolbox/unknown`)).status).toBe(404);
});
