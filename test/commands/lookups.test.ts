import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { linksOf as linksToShow } from '../../commands/provider/show.ts';
import { translator } from '../../src/languages/index.ts';
import { createDiscovery } from '../../src/upstream/discovery.ts';
import { createExplorer } from '../../src/upstream/explorer.ts';
import { type Given, HTML, startUpstream } from '../upstream/server.ts';
import { remember } from './ledger.ts';
import { A, B, buttonsOf, type CommandWorld, isPrivate, linksOf, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
let world: CommandWorld;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
beforeAll(async () => {
  upstream = await startUpstream(() => null);
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});
beforeEach(() => {
  // Fresh clients, so that no test lives on what another one made them remember.
  const { now } = world.parts;
  const timeoutMs = 200;
  world.parts.explorer = createExplorer({
    url: upstream.url,
    addressParam: 'contractaddress',
    apiKey: 'query-key',
    now,
    timeoutMs,
  });
  world.parts.discovery = createDiscovery({ url: upstream.url, now, timeoutMs });
  upstream.requests.length = 0;
});

const RECORD = {
  cataloged: true,
  contractAddress: TOKEN,
  decimals: '2',
  name: 'GoodDollar',
  symbol: 'G$',
  totalSupply: '1234567890123',
  type: 'ERC-20',
};
const frame = (result: unknown, message = 'OK', status = '1'): Given => ({ body: { message, result, status } });

describe('/token', () => {
  it('shows what the explorer knows, publicly', async () => {
    upstream.set(() => frame(RECORD));
    const answer = await world.use('token', { address: TOKEN.toLowerCase() }, { as: seed.mia });
    const text = textOf(answer);
    expect(isPrivate(answer)).toBe(false);
    for (const part of [
      '`GoodDollar` `G$`',
      TOKEN,
      'ERC-20',
      '12,345,678,901.23 `G$`\nraw `1234567890123`',
      'Catalogued\nyes',
    ]) {
      expect(text).toContain(part);
    }
    expect(linksOf(answer)).toEqual([{ label: 'Explorer', url: `https://explorer.example/token/${TOKEN}` }]);
  });

  it('leaves open what the explorer does not know, and disarms names', async () => {
    upstream.set(() => frame({ ...RECORD, decimals: '', name: null, symbol: '[x](https://evil.example) @everyone' }));
    const text = textOf(await world.use('token', { address: TOKEN }));
    expect(text).toContain('Unnamed token `(name hidden: looks like a link)`');
    expect(text).toContain('Decimals\nnot given');
    expect(text).toContain('Total supply\nraw `1234567890123`');
    expect(text).toContain('does not know this token’s decimals');
    expect(text).not.toContain('evil');
  });

  it('shows a token whose name is longer than a title may be', async () => {
    upstream.set(() => frame({ ...RECORD, name: 'a\u0316\u0317\u0318\u0319\u031c\u031d\u031e\u031f'.repeat(40) }));
    const answer = await world.use('token', { address: TOKEN });
    expect(textOf(answer)).toContain(TOKEN);
    expect(answer.reply!.message.embeds[0]!.title).toMatch(/^`a.*…`$/u);
  });

  it('counts NFTs, which have no decimals', async () => {
    upstream.set(() => frame({ ...RECORD, type: 'ERC-721', decimals: '', totalSupply: '9600' }));
    const text = textOf(await world.use('token', { address: TOKEN }));
    expect(text).toContain('Total supply\n9,600 `G$`');
    expect(text).not.toContain('does not know');
  });

  it.each([
    [{ body: JSON.stringify({ status: '1', result: RECORD }).replace('"1234567890123"', '1e27') }, '`1e27`'],
    [frame({ ...RECORD, totalSupply: '1e+27' }), '`1e+27`'],
  ])('says of a supply that the explorer rounded that it is', async (given, raw) => {
    upstream.set(() => given);
    const text = textOf(await world.use('token', { address: TOKEN }));
    expect(text).toContain(
      `Total supply\n10,000,000,000,000,000,000,000,000 \`G$\`\nraw ${raw}\n-# The explorer gives it rounded`,
    );
  });

  const wrong: [string, Given, RegExp][] = [
    ['not found', frame(null, 'Contract address not found', '0'), /knows no token at .*0x5Df2.*wallet/],
    ['invalid', frame(null, 'Invalid contract address hash', '0'), /does not take/],
    ['429', { status: 429, body: {} }, /Wait a minute/],
    ['403', { status: 403, body: {} }, /EXPLORER_API_KEY/],
    ['500', { status: 500, body: {} }, /fault of its own \(error 500\)/],
    ['HTML', { body: '<html>', type: 'text/html' }, /not data/],
    ['hanging', null, /did not answer in time/],
  ];
  it.each(wrong)('explains: %s', async (_name, given, sentence) => {
    upstream.set(() => given);
    const answer = await world.use('token', { address: TOKEN });
    expect(textOf(answer)).toMatch(sentence);
    expect(isPrivate(answer)).toBe(true);
    expect(JSON.stringify(answer)).not.toContain('query-key');
  });

  it('refuses a bad checksum with the reason, without asking', async () => {
    expect(textOf(await world.use('token', { address: TOKEN.replace('Df', 'df') }))).toMatch(/EIP-55/);
    expect(upstream.requests).toEqual([]);
  });

  it('says who can turn it on', async () => {
    world.parts.explorer = null;
    expect(textOf(await world.use('token', { address: TOKEN }))).toMatch(/off here.*`EXPLORER_API_URL`/);
  });

  it('offers the tokens and labelled addresses of this server that the member can see', async () => {
    const lower = (text: string) => text.toLowerCase() as `0x${string}`;
    await world.subscribe({ label: 'Treasury', token: lower(TOKEN) });
    await world.subscribe({ channelId: harbor.treasury, label: 'Secret', address: lower(B) });
    await world.subscribe({ guildId: orchid.id, channelId: orchid.alerts, label: 'Foreign', address: lower(B) });
    const offered = await world.choices('token', 'address', {}, { as: seed.mia });
    expect(offered.map(({ value }) => value)).toEqual([A, TOKEN]);
    // The address book names what this member may not see, and what nobody watches.
    const unwatched = `0x${'7'.repeat(40)}` as const;
    for (const address of [lower(B), unwatched]) {
      await world.store.labels.set(harbor.id, { address, name: 'Named', createdBy: seed.ada, at: 0 }, 10);
    }
    const named = (as: string) => world.choices('token', 'address', { address: 'named' }, { as });
    expect((await named(seed.mia)).map(({ value }) => value)).toEqual([unwatched]);
    expect(await world.choices('token', 'address', { address: 'treas' })).toMatchObject([{ value: A }]);
    // What moved may have moved at an address that this member may not see.
    const bell = `0x${'b'.repeat(40)}` as const;
    remember(world.file, Date.now(), [{}, { kind: 'erc20', token: bell, tokenSymbol: 'BELL' }]);
    const coins = (as: string) => world.choices('token', 'address', { address: 'bell' }, { as });
    expect(await coins(seed.mia)).toEqual([]);
    expect(await coins(seed.ada)).toEqual([{ name: 'BELL · 0xbBbB…BBbB', value: expect.stringMatching(/^0xb{40}$/i) }]);
  });

  it('lets managers watch it with a button, and others not', async () => {
    upstream.set(() => frame(RECORD));
    const shown = await world.use('token', { address: TOKEN }, { in: harbor.general });
    expect(textOf(await world.press(shown, 'token:watch', { as: seed.mia, in: harbor.general }))).toMatch(
      /Manage Server/,
    );
    expect(await world.store.subscriptions.watching([TOKEN.toLowerCase()])).toEqual([]);
    const done = await world.press(shown, 'token:watch', { as: seed.max, in: harbor.general });
    expect(isPrivate(done)).toBe(true);
    expect(textOf(done)).toContain('Watching');
    expect(await world.store.subscriptions.watching([TOKEN.toLowerCase()])).toMatchObject([
      { channelId: harbor.general, createdBy: seed.max },
    ]);
  });
});

const providers = (n: number) =>
  Array.from({ length: n }, (_, index) => ({
    slug: `p${index}`,
    provider: `Provider ${index + 1}`,
    planName: 'Free',
    price: '0',
    actionButtons: [`[Docs](https://p${index}.example/docs)`],
  }));
/** Answers the list of categories and these rows. */
const directory = (rows: unknown, categories: unknown = ['apis', 'brandnew']) =>
  upstream.set(({ url }) => ({ body: url.includes('/categories') ? categories : rows }));

describe('/provider search', () => {
  it('groups plans by provider and makes columns readable', async () => {
    directory([
      {
        provider: 'Acme',
        planName: 'Free',
        price: '0',
        tag: 'RPC',
        supportedChains: ['A', 'B'],
        description: 'Fast nodes',
      },
      { provider: 'Beta', planName: 'TBD', price: 'NULL' },
      { provider: 'Acme', planName: 'Growth', price: '$49', starred: true },
    ]);
    const text = textOf(await world.use('provider search', { category: 'apis' }, { as: seed.mia }));
    expect(text).toContain('### 1. `Acme` `RPC`');
    expect(text).toContain('`Fast nodes`');
    expect(text).toContain('Plans: `Free` `0` · `Growth` `$49`');
    expect(text).toContain('Supported chains: `A, B`');
    expect(text).toContain('### 2. `Beta`');
    expect(text).not.toMatch(/TBD|NULL/);
    expect(text).toContain('2 providers');
  });

  it('passes search and provider on, and a new category', async () => {
    directory([]);
    const answer = await world.use('provider search', { category: 'BrandNew', search: 'a:b', provider: 'Acme' });
    const { searchParams } = new URL(upstream.requests.at(-1)!.url, upstream.url);
    expect(searchParams.get('category')).toBe('brandnew');
    expect(searchParams.get('search')).toBe('a:b');
    expect(JSON.parse(searchParams.get('filters')!)).toEqual([{ id: 'provider', value: ['Acme'] }]);
    expect(textOf(answer)).toContain('No provider fits');
    expect(linksOf(answer)).toEqual([
      { label: 'Browse on the web', url: `${upstream.url}/toolbox/brandnew?search=a%3Ab` },
    ]);
  });

  it('turns pages with buttons that outlive a restart; others get their own copy', async () => {
    directory(providers(12));
    const first = await world.use('provider search', { category: 'apis', search: '100%: x' });
    expect(textOf(first)).toContain('12 providers · page 1 of 3');
    expect(buttonsOf(first).every((id) => id.length <= 100)).toBe(true);
    await world.restart();
    const second = await world.press(first, 'provider:page:apis:1');
    expect(textOf(second)).toContain('`Provider 6`');
    expect(new URL(upstream.requests.at(-1)!.url, upstream.url).searchParams.get('search')).toBe('100%: x');
    const copy = await world.press(second, 'provider:page:apis:2', { as: seed.mia });
    expect(isPrivate(copy)).toBe(true);
    expect(textOf(copy)).toContain('`Provider 11`');
    expect(copy.reply!.id).not.toBe(first.reply!.id);
    expect(textOf(await world.use('provider search', { category: 'apis', page: 99 }))).toContain('page 3 of 3');
  });

  it('links only to https, and names the host', async () => {
    directory([
      {
        provider: 'Acme',
        actionButtons: [
          '[Docs](https://acme.example/docs "t")',
          '[discord.com](https://evil.example/x)',
          '[js](javascript:alert(1))',
          '[plain](http://acme.example)',
          '[user](https://discord.com@evil.example)',
        ],
      },
    ]);
    const links = linksOf(await world.use('provider search', { category: 'apis' }));
    expect(links.slice(1)).toEqual([
      { label: '1 · Docs · acme.example', url: 'https://acme.example/docs' },
      { label: '1 · discord.com · evil.example', url: 'https://evil.example/x' },
    ]);
  });

  it('disarms third-party text, however much of it there is', async () => {
    const hostile = `**b** @everyone <@1> [x](https://evil.example) \`\`\` \u202egnp ${'𝔸́'.repeat(400)}`;
    directory(
      Array.from({ length: 5 }, (_, index) => ({
        provider: `${index} ${hostile}`,
        description: hostile,
        offer: hostile,
        tag: hostile,
        planName: hostile,
        more: hostile,
        'bad `name`': 'x',
      })),
    );
    const answer = await world.use('provider search', { category: 'apis' });
    expect(answer.reply!.message.embeds).toHaveLength(1);
    const text = answer.reply!.message.embeds[0]!.description!;
    const outside = text.replace(/`[^`]*`/g, '');
    expect(outside).not.toMatch(/everyone|evil|<@|\]\(/);
    expect(text).not.toContain('\u202e');
    expect(answer.reply!.message.mention_everyone).toBe(false);
  });

  it('is not held up by links without end', () => {
    const actions = ['[]('.repeat(1_000_000), '[Docs]( <https://acme.example> )'];
    const links = linksToShow(translator('en-US'), { name: 'Acme', rows: [{ columns: {}, actions }] }, 1, 5);
    expect(links).toMatchObject([{ label: '1 · Docs · acme.example', url: 'https://acme.example/' }]);
  });

  const wrong: [string, Given, RegExp][] = [
    ['500', { status: 500, body: { error: { message: 'x' } } }, /fault of its own/],
    ['400', { status: 400, body: { error: { message: 'x' } } }, /did not accept this search/],
    ['a page', HTML, /fault of its own/],
    ['hanging', null, /did not answer in time/],
  ];
  it.each(wrong)('explains: %s', async (_name, given, sentence) => {
    upstream.set(() => given);
    expect(textOf(await world.use('provider search', { category: 'apis' }))).toMatch(sentence);
  });

  it('names the categories when there is no such one, and who can turn it on', async () => {
    directory([]);
    const refused = await world.use('provider search', { category: 'apiz' });
    expect(textOf(refused)).toMatch(/no category `apiz`.*`apis`, `brandnew`/);
    expect(isPrivate(refused)).toBe(true);
    world.parts.discovery = null;
    expect(textOf(await world.use('provider search', { category: 'apis' }))).toMatch(/off here.*`DISCOVERY_URL`/);
  });

  it('offers the active categories, and the known ones when the service hangs', async () => {
    directory([]);
    expect(await world.choices('provider search', 'category', { category: 'bra' })).toEqual([
      { name: 'brandnew', value: 'brandnew' },
    ]);
    world.parts.discovery = createDiscovery({ url: upstream.url, now: world.parts.now, timeoutMs: 50 });
    upstream.set(() => null);
    expect(await world.choices('provider search', 'category')).toHaveLength(12);
  });
});

describe('/provider categories', () => {
  it('lists the active ones, or says that these are the generally known ones', async () => {
    directory([]);
    expect(textOf(await world.use('provider categories'))).toContain('`apis` · `brandnew`');
    world.parts.discovery = createDiscovery({ url: upstream.url, now: world.parts.now, timeoutMs: 50 });
    upstream.set(() => HTML);
    expect(textOf(await world.use('provider categories'))).toMatch(/12 categories[\s\S]*generally known/);
  });
});

describe('/help', () => {
  it('tells of every command there is, and no other', async () => {
    const answer = await world.use('help', {}, { as: seed.mia });
    expect(isPrivate(answer)).toBe(true);
    const told = [...textOf(answer).matchAll(/^`\/([a-z ]+)` – .+$/gm)].map(([, path]) => path!);
    const known = commands.flatMap((command) => {
      if ('kind' in command) return [];
      const { name, options = [] } = command.data.toJSON();
      const subs = options.filter((option) => option.type === 1).map((option) => `${name} ${option.name}`);
      return subs.length > 0 ? subs : [name];
    });
    expect(told.toSorted()).toEqual(known.filter((path) => path !== 'help').toSorted());
  });
});
