import { beforeEach, describe, expect, it } from 'vitest';
import { linksOf as linksToShow } from '../../commands/provider/show.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { translator } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { type Given, HTML, startUpstream } from '../upstream/server.ts';
import { buttonsOf, isPrivate, linksOf, seed, startWorld, textOf } from './world.ts';

const upstream = await forFile(startUpstream(() => null));
const world = await forFile(startWorld({ environment: { DISCOVERY_URL: upstream.url } }));
beforeEach(async () => {
  await world.forgetResponses();
  upstream.requests.length = 0;
});

const providers = (n: number) =>
  Array.from({ length: n }, (_, index) => ({
    slug: `p${index}`,
    provider: `Provider ${index + 1}`,
    planName: 'Free',
    price: '0',
    actionButtons: [`[Docs](https://p${index}.example/docs)`],
  }));
const directory = (rows: unknown, categories: unknown = ['apis', 'brandnew']) =>
  upstream.set(({ url }) => ({ body: url.includes('/categories') ? categories : rows }));

const search = (options: Record<string, string | number>) =>
  world.read('provider search', { category: 'apis', ...options });

describe('/provider search', () => {
  it('groups providers’ plans and makes their columns readable', async () => {
    const about = { tag: 'RPC', supportedChains: ['A', 'B'], description: 'Fast nodes' };
    directory([
      { provider: 'Acme', planName: 'Free', price: '0', ...about },
      { provider: 'Beta', planName: 'TBD', price: 'NULL', region: 'EU' },
      { provider: 'Acme', planName: 'Growth', price: '$49', starred: true, queryPrice: 'Custom pricing' },
      { provider: 'Beta', planName: 'Pro', region: 'EU' },
    ]);
    const text = await world.read('provider search', { category: 'apis' }, { as: seed.mia });
    for (const part of [
      '2 providers',
      '### 1. `Acme` `RPC`',
      '`Fast nodes`',
      'Plans: `Free` `0` · `Growth` `$49`',
      // A feature of only some plans is not shown for all.
      'Supported chains: `Free` `A, B` · Query price: `Growth` `Custom pricing`',
      '### 2. `Beta`',
      'Region: `EU`',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/TBD|NULL/);
  });

  it('omits a link to the directory that would make Discord refuse the whole reply', async () => {
    const discovery = world.services.discovery!;
    for (const [category, rows] of [
      ['apis', providers(1)],
      ['brandnew', []],
    ] as const) {
      directory(rows);
      for (const page of ['http://directory:4000/toolbox/none', `https://directory.example/?${'s'.repeat(490)}`]) {
        world.replace({ discovery: { ...discovery, directoryUrl: () => page } });
        const shown = linksOf(await world.use('provider search', { category }));
        expect(shown.map(({ url }) => url)).toEqual(rows.map(() => 'https://p0.example/docs'));
      }
    }
  });

  it('passes the search, the provider and a new category on to the service', async () => {
    directory([]);
    const answer = await world.use('provider search', { category: 'BrandNew', search: 'a:b', provider: 'Acme, Beta' });
    const asked = Object.fromEntries(new URL(upstream.requests.at(-1)!.url, upstream.url).searchParams);
    expect(asked).toMatchObject({ category: 'brandnew', search: 'a:b' });
    expect(JSON.parse(asked.filters!)).toEqual([{ id: 'provider', value: ['Acme, Beta', 'Acme', 'Beta'] }]);
    expect(textOf(answer)).toContain('No provider matches');
    const url = `${upstream.url}/toolbox/brandnew?search=a%3Ab`;
    expect(linksOf(answer)).toEqual([{ label: 'Browse on the web', url }]);
  });

  it('reports when the directory has more rows than were read', async () => {
    // After a restart it is unknown which page is the first: both are asked for.
    await world.restart();
    const answer = (url: string): Given => {
      if (url.includes('/categories')) return { body: ['apis'] };
      return url.includes('page=1&') ? { status: 429, body: {} } : { body: providers(3) };
    };
    upstream.set(({ url }) => answer(url));
    expect(await search({})).toContain('Not all results could be loaded');
    directory(providers(3));
    const whole = await search({ search: 'other' });
    expect(whole).toContain('3 providers');
    expect(whole).not.toContain('more than');
  });

  it('turns pages of providers with buttons that work after a restart, and gives others their own copy', async () => {
    directory(providers(12));
    const first = await world.use('provider search', { category: 'apis', search: '100%: x' });
    expect(textOf(first)).toContain('12 providers · page 1 of 3');
    expect(buttonsOf(first).filter((id) => id.length > 100)).toEqual([]);
    await world.restart();
    const second = await world.press(first, 'provider:page:apis:1');
    expect(textOf(second)).toContain('`Provider 6`');
    expect(new URL(upstream.requests.at(-1)!.url, upstream.url).searchParams.get('search')).toBe('100%: x');
    const copy = await world.press(second, 'provider:page:apis:2', { as: seed.mia });
    expect(copy).toSatisfy(isPrivate);
    expect(textOf(copy)).toContain('`Provider 11`');
    expect(copy.reply!.id).not.toBe(first.reply!.id);
    const last = await search({ page: 99 });
    expect(last).toMatch(/There is no page 99\. This is the last one of 3[\s\S]*page 3 of 3/);
  });

  it('counts only searches that no cache answers, and no turned page', async () => {
    directory(providers(12));
    let counted = 0;
    const cooldown = { take: () => (++counted > 1 ? ({ who: 'person', until: 0 } as const) : null) };
    world.replace({ cooldown });
    const first = await world.use('provider search', { category: 'apis', search: 'cached' });
    expect(await search({ search: 'cached' })).toContain('12 providers');
    world.clock.advance(10 * MINUTE);
    expect(textOf(await world.press(first, 'provider:page:apis:1'))).toContain('`Provider 6`');
    expect(await search({ search: 'new' })).toContain('many lookups');
    expect(await world.read('provider categories')).toContain('`brandnew`');
    expect(counted).toBe(2);
  });

  it('works in direct messages for people who installed the app for themselves', async () => {
    directory(providers(12));
    const here = { as: seed.mia, in: world.discord.act({ do: 'dm.open', userId: seed.mia }).id! };
    const first = await world.use('provider search', { category: 'apis' }, here);
    expect(textOf(first)).toContain('12 providers · page 1 of 3');
    expect(textOf(await world.press(first, 'provider:page:apis:1', here))).toContain('`Provider 6`');
    expect(await world.choices('provider search', 'category', { category: 'bra' }, here)).toHaveLength(1);
  });

  it('offers providers with long names, and filters by them on each page', async () => {
    const long = `Endpoints of a very long name ${'x'.repeat(20)}`;
    directory([...providers(12), { provider: long }, { provider: 'Acme, Inc.' }]);
    const filters = () => new URL(upstream.requests.at(-1)!.url, upstream.url).searchParams.get('filters')!;
    const offered = (provider: string) => world.choices('provider search', 'provider', { category: 'apis', provider });
    await expect
      .poll(() => offered('acme'), { message: 'the choices for “acme”', timeout: 120_000 })
      .toEqual([{ name: 'Acme, Inc.', value: 'Acme, Inc.' }]);
    expect(await offered('Provider 1, endp')).toMatchObject([{ value: `Provider 1, ${long}` }]);
    const answer = await world.use('provider search', { category: 'apis', provider: long });
    expect(JSON.parse(filters())).toEqual([{ id: 'provider', value: [long] }]);
    upstream.requests.length = 0;
    world.clock.advance(3_600_000);
    await world.press(answer, 'provider:page:apis:1');
    expect(JSON.parse(filters())).toEqual([{ id: 'provider', value: [long] }]);
  });

  it('turns pages of a search that is too long for a button, until a restart', async () => {
    directory(providers(12));
    const provider = Array.from({ length: 10 }, (_, n) => `Provider ${n}`).join(', ');
    const first = await world.use('provider search', { category: 'apis', search: 'x'.repeat(32), provider });
    const second = await world.press(first, buttonsOf(first).find((id) => id.endsWith(':1'))!);
    expect(textOf(second)).toContain('`Provider 6`');
    await world.restart();
    expect(textOf(await world.press(second, 'provider:page'))).toContain(
      'This page doesn’t exist. Run `/provider search` again.',
    );
  });

  it('offers names without invisible characters and links, and finds them by what the directory calls them', async () => {
    const bidi = '\u202eemcA\u200b';
    directory([{ provider: bidi }, { provider: 'Free at evil.example' }, { provider: 'x'.repeat(90) }]);
    const options = { category: 'apis', provider: '' };
    expect(await world.choices('provider search', 'provider', options)).toEqual([
      { name: 'emcA', value: bidi },
      { name: '(name hidden: looks like a link)', value: 'Free at evil.example' },
      { name: 'x'.repeat(90), value: 'x'.repeat(90) },
    ]);
  });

  it('links providers only to https pages, with the host in the label', async () => {
    const actionButtons = [
      '[Docs](https://acme.example/docs "t")',
      '[discord.com](https://evil.example/x)',
      '[js](javascript:alert(1))',
      '[plain](http://acme.example)',
      '[user](https://discord.com@evil.example)',
      // Discord refuses these two with the whole reply.
      '[A](https://intranet/docs)',
      '[B](https://[::1]/docs)',
    ];
    directory([{ provider: 'Acme', actionButtons }]);
    const links = linksOf(await world.use('provider search', { category: 'apis' }));
    expect(links.slice(1)).toEqual([
      { label: '1 · Docs · acme.example', url: 'https://acme.example/docs' },
      { label: '1 · Open · evil.example', url: 'https://evil.example/x' },
    ]);
  });

  it('shows any amount of third-party text from providers harmlessly', async () => {
    const hostile = `**b** @everyone <@1> [x](https://evil.example) \`\`\` \u202egnp ${'𝔸́'.repeat(400)}`;
    const texts = { description: hostile, offer: hostile, tag: hostile, planName: hostile, more: hostile };
    directory(Array.from({ length: 5 }, (_, n) => ({ provider: `${n} ${hostile}`, ...texts, 'bad `name`': 'x' })));
    const { message } = (await world.use('provider search', { category: 'apis' })).reply!;
    expect(message.embeds).toHaveLength(1);
    const text = message.embeds[0]!.description!;
    expect(text.replace(/`[^`]*`/g, '')).not.toMatch(/everyone|evil|<@|\]\(/);
    expect(text).not.toContain('\u202e');
    expect(message).toHaveProperty('mention_everyone', false);
  });

  it('shows providers with endless links without blocking', () => {
    const actions = ['[]('.repeat(1_000_000), '[Docs]( <https://acme.example> )'];
    const links = linksToShow(translator('en-US'), { name: 'Acme', rows: [{ columns: {}, actions }] }, 1, 5);
    expect(links).toMatchObject([{ label: '1 · Docs · acme.example', url: 'https://acme.example/' }]);
  });

  it.each<[string, Given, RegExp]>([
    ['a redirect', { status: 301, body: {} }, /error 301.*If this continues, the bot’s operator.*`DISCOVERY_URL`/s],
    ['400', { status: 400, body: { error: { message: 'x' } } }, /rejected this search/],
    ['a page', HTML, /failed with error/],
  ])('explains why providers cannot be shown: %s', async (_, given, sentence) => {
    upstream.set(() => given);
    expect(await search({})).toMatch(sentence);
  });

  it('lists the categories when one does not exist, and who can turn the directory on', async () => {
    directory([]);
    const refused = await world.use('provider search', { category: 'apiz' });
    expect(textOf(refused)).toMatch(/no category `apiz`.*`apis`, `brandnew`.*Did you mean `apis`\?/);
    expect(refused).toSatisfy(isPrivate);
    world.replace({ discovery: null });
    expect(await world.read('provider search', { category: 'apis' })).toMatch(/ is off.*`DISCOVERY_URL`/);
  });

  it('offers the active categories, and the known ones when the service hangs', async () => {
    directory([]);
    // The service may take longer than choices may wait; then its response is used by the next try.
    const offered = () => world.choices('provider search', 'category', { category: 'bra' });
    await expect
      .poll(offered, { message: 'the choices for “bra”', timeout: 120_000 })
      .toEqual([{ name: 'brandnew', value: 'brandnew' }]);
    await world.restart({ upstreamTimeoutMs: 50 });
    upstream.set(() => null);
    expect(await world.choices('provider search', 'category')).toHaveLength(12);
    expect(await search({})).toContain('did not respond in time');
  });
});

it('lists the active categories, as many as fit into a reply, or marks them as the default ones', async () => {
  directory(
    [],
    Array.from({ length: 400 }, (_, n) => `category-${n}`),
  );
  const text = await world.read('provider categories');
  expect(text).toContain('`category-0`\n`category-1`');
  expect(text).toMatch(/… \+\d+/);
  await world.restart();
  upstream.set(() => HTML);
  expect(await world.read('provider categories')).toMatch(/12 categories[\s\S]*default categories/);
});
