import { beforeEach, describe, expect, it } from 'vitest';
import type { Asset } from '../../src/domain/address.ts';
import { forFile } from '../for-file.ts';
import { type Given, startUpstream } from '../upstream/server.ts';
import { storeTransfers } from './stored.ts';
import { A, B, buttonsOf, isPrivate, linksOf, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const upstream = await forFile(startUpstream(() => null));
const environment = { EXPLORER_API_URL: upstream.url, EXPLORER_API_KEY: 'query-key' };
const world = await forFile(startWorld({ environment }));
beforeEach(async () => {
  await world.reset();
  await world.forgetResponses();
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
  it('warns of a token that copies a cataloged one, as alerts do, in the server’s language', async () => {
    world.speak('de');
    upstream.set(() => frame({ ...RECORD, cataloged: false, symbol: 'USDC' }));
    const known = [{ token: lower(B), network: 0, symbol: 'USDC', cataloged: true, seen: true }];
    world.replace({ tokens: { known: async () => known } });
    const text = await world.read('token', { address: TOKEN });
    expect(text).toContain('⚠️ Imitation! `GoodDollar` `USDC`');
    expect(text).toContain(`This token only calls itself \`USDC\`. The known one is \`${B}\`.`);
  });

  it('shows what the explorer knows about a token, in public', async () => {
    upstream.set(() => frame(RECORD));
    const answer = await world.use('token', { address: lower(TOKEN) }, { as: seed.mia });
    expect(answer).not.toSatisfy(isPrivate);
    const supply = '12,345,678,901.23 G$\nraw `1234567890123`';
    for (const part of ['GoodDollar G$', TOKEN, 'ERC-20', supply, 'Cataloged\nyes'])
      expect(textOf(answer)).toContain(part);
    expect(linksOf(answer)).toEqual([{ label: 'Explorer', url: `https://explorer.example/token/${TOKEN}` }]);
  });

  it('works in direct messages for people who installed the app for themselves, and knows nothing of servers', async () => {
    await world.subscribe({ label: 'Treasury', token: lower(TOKEN) });
    upstream.set(() => frame(RECORD));
    const here = { as: seed.ada, in: world.discord.act({ do: 'dm.open', userId: seed.ada }).id! };
    const answer = await world.use('token', { address: TOKEN }, here);
    expect(textOf(answer)).toContain('12,345,678,901.23');
    expect(buttonsOf(answer)).toEqual([]);
    expect(await world.choices('token', 'address', {}, here)).toEqual([]);
  });

  it('shows a token’s supply in the number format of the server’s language', async () => {
    upstream.set(() => frame(RECORD));
    world.discord.act({ do: 'guild.update', guildId: harbor.id, locale: 'de' });
    const text = await world.read('token', { address: TOKEN }, { as: seed.mia });
    world.discord.act({ do: 'guild.update', guildId: harbor.id, locale: 'en-US' });
    expect(text).toMatch(/^12\.345\.678\.901,23 G\$\n.*`1234567890123`$/m);
  });

  it('omits what the explorer does not know, and shows names harmlessly', async () => {
    upstream.set(() => frame({ ...RECORD, decimals: '', name: null, symbol: '[x](https://evil.example) @everyone' }));
    const text = await world.read('token', { address: TOKEN });
    for (const part of [
      'Unnamed token `(name hidden: looks like a link)`',
      'Decimals\nnot given',
      'Total supply\nraw `1234567890123`',
      'doesn’t know this token’s decimals',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('evil');
  });

  it('shows a token whose name is longer than a title allows', async () => {
    const long = 'a\u0316\u0317\u0318\u0319\u031c\u031d\u031e\u031f'.repeat(40);
    upstream.set(() => frame({ ...RECORD, name: long, symbol: long.replaceAll('a', 'b') }));
    const answer = await world.use('token', { address: TOKEN });
    expect(textOf(answer)).toContain(TOKEN);
    expect(answer.reply!.message.embeds[0]!.title).toMatch(/^a.*…$/u);
  });

  it('shows the supply of NFTs, which have no decimals, as a count', async () => {
    upstream.set(() => frame({ ...RECORD, type: 'ERC-721', decimals: '', totalSupply: '9600' }));
    const text = await world.read('token', { address: TOKEN });
    expect(text).toContain('Total supply\n9,600 G$');
    expect(text).not.toContain('doesn’t know');
  });

  it.each([
    [{ body: JSON.stringify({ status: '1', result: RECORD }).replace('"1234567890123"', '1e27') }, '`1e27`'],
    [frame({ ...RECORD, totalSupply: '1e+27' }), '`1e+27`'],
  ])('marks a supply that the explorer rounded', async (given, raw) => {
    upstream.set(() => given);
    const text = await world.read('token', { address: TOKEN });
    expect(text).toContain(
      `Total supply\n10,000,000,000,000,000,000,000,000 G$\nraw ${raw}\n-# The explorer returns it rounded`,
    );
  });

  it.each<[string, Given, RegExp]>([
    ['not found', frame(null, 'Contract address not found', '0'), /has no token at .*0x5Df2.*wallet/],
    ['invalid', frame(null, 'Invalid contract address hash', '0'), /doesn’t accept/],
    ['429', { status: 429, body: {} }, /Wait a minute/],
    ['403', { status: 403, body: {} }, /EXPLORER_API_KEY/],
    ['308', { status: 308, body: {} }, /error 308.*If this continues, the bot’s operator.*`EXPLORER_API_URL`/s],
  ])('explains why a token cannot be shown: %s', async (_, given, sentence) => {
    upstream.set(() => given);
    const answer = await world.use('token', { address: TOKEN });
    expect(textOf(answer)).toMatch(sentence);
    expect(answer).toSatisfy(isPrivate);
    expect(JSON.stringify(answer)).not.toContain('query-key');
  });

  it('replies about the native coin without a lookup or a cooldown', async () => {
    for (let n = 0; n < 20; n++) {
      const answer = await world.use('token', { address: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE' });
      expect([textOf(answer), isPrivate(answer)]).toEqual([expect.stringMatching(/native coin.*no contract/), true]);
    }
    expect(upstream.requests).toEqual([]);
  });

  it('refuses an address with a wrong checksum without a lookup', async () => {
    expect(await world.read('token', { address: TOKEN.replace('Df', 'df') })).toMatch(/EIP-55/);
    expect(upstream.requests).toEqual([]);
  });

  it('shows who can turn the explorer on', async () => {
    world.replace({ explorer: null });
    expect(await world.read('token', { address: TOKEN })).toMatch(/ is off.*`EXPLORER_API_URL`/);
  });

  it('offers the tokens and labeled addresses of this server that the member can see', async () => {
    const offered = async (address: string, as: string) =>
      (await world.choices('token', 'address', { address }, { as })).map(({ value }) => value);
    await world.subscribe({ label: 'Treasury' });
    await world.subscribe({ channelId: harbor.treasury, label: 'Secret', address: lower(B) });
    await world.subscribe({ guildId: orchid.id, channelId: orchid.alerts, label: 'Foreign', address: lower(B) });
    expect(await offered('', seed.mia)).toEqual([A]);
    // Names of addresses that this member may not see, or that nobody watches, are offered to managers only.
    const [unwatched, watched] = [`0x${'7'.repeat(40)}`, `0x${'8'.repeat(40)}`] as const;
    await world.subscribe({ address: watched });
    for (const address of [B, unwatched, watched]) await world.name(address, `Named ${address}`);
    expect(await offered('named', seed.mia)).toEqual([watched]);
    expect((await offered('named', seed.ada)).sort()).toEqual([B, unwatched, watched]);
    expect(await offered('treas', seed.ada)).toEqual([A]);
    // The token may have moved at an address that this member cannot see.
    const bell = `0x${'b'.repeat(40)}` as const;
    await storeTransfers(world.store, Date.now(), [{}, { kind: 'erc20', token: bell, tokenSymbol: 'BELL' }]);
    expect(await offered('bell', seed.mia)).toEqual([]);
    const [coin] = await world.choices('token', 'address', { address: 'bell' });
    expect(coin).toEqual({ name: 'BELL · 0xbBbB…BBbB', value: expect.stringMatching(/^0xb{40}$/i) });
  });

  it('lets managers watch the token with a button, and nobody else', async () => {
    upstream.set(() => frame(RECORD));
    const shown = await world.use('token', { address: TOKEN }, { in: harbor.general });
    const press = (as: string) => world.press(shown, 'token:watch', { as, in: harbor.general });
    expect(textOf(await press(seed.mia))).toMatch(/Manage Server/);
    expect(await world.store.subscriptions.watching([lower(TOKEN)])).toEqual([]);
    const done = await press(seed.max);
    expect(done).toSatisfy(isPrivate);
    expect(textOf(done)).toContain('Watching');
    const added = { channelId: harbor.general, createdBy: seed.max };
    expect(await world.store.subscriptions.watching([lower(TOKEN)])).toMatchObject([added]);
  });
});

it('suggests genuine tokens first, by symbol and name, and calls one that copies a cataloged symbol an imitation', async () => {
  await world.use('subscription add', { address: TOKEN, label: 'Dollar' });
  const known = (token: string, symbol: string | null, cataloged: boolean) => ({
    token: (token.length > 1 ? token : `0x${token.repeat(40)}`) as Asset,
    network: 0,
    symbol,
    cataloged,
    seen: true,
  });
  const tokens = [
    known('1', 'HUSDX', false),
    known('2', 'HUSD', false),
    known(lower(TOKEN), 'HUSD', true),
    known('3', 'HUSD', true),
    known('4', null, true),
    known('5', null, false),
    known('6', 'ETH', true),
    known('native', 'ETH', false),
    known('7', 'DAI', false),
    known('8', 'USDC', true),
    // With a Cyrillic letter.
    known('9', 'USD\u0421', false),
  ];
  world.replace({ tokens: { ...world.services.tokens, known: async () => tokens } });
  const husd = await world.choices('token', 'address', { address: 'husd' });
  expect(husd.map(({ name }) => name)).toEqual([
    expect.stringMatching(/^Dollar · HUSD · 0x5Df2/),
    'HUSD · 0x3333…3333',
    'HUSDX · 0x1111…1111',
    '⚠️ Imitation! HUSD · 0x2222…2222',
  ]);
  const marked = (await world.choices('subscription add', 'token')).filter(({ name }) => name.includes('Imitation!'));
  expect(marked.map(({ name }) => name.slice(-11))).toEqual(['0x2222…2222', '0x9999…9999']);
  const [first, ...others] = await world.choices('subscription add', 'token', { token: 'husd' });
  expect([first!.value, others.length]).toEqual([TOKEN, 3]);
});
