import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { DEFAULT_CHOICES, DEFAULT_FILTERS } from '../../src/domain/subscription.ts';
import { wordingsOf } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { PAYER, storeToken, storeTransfers } from './stored.ts';
import { A, B, buttonsOf, lower, type Shown, seed, startWorld, TOKEN, textOf } from './world.ts';

type Options = Record<string, OptionInput>;

const { harbor } = seed;
/** Two tokens of one symbol: the explorer's catalog lists the first. */
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const FAKE = '0x00000000000000000000000000000000000FA4E0'.toLowerCase();
const world = await forFile(startWorld());
const erc20 = { kind: 'erc20', tokenType: 'ERC-20' } as const;
await storeTransfers(world.store, world.clock.now(), [
  {},
  { ...erc20, token: lower(FAKE), tokenSymbol: 'USDC' },
  { ...erc20, token: lower(TOKEN), tokenSymbol: 'G$' },
  { ...erc20, token: lower(A), tokenSymbol: 'TWIN' },
  { ...erc20, token: lower(B), tokenSymbol: 'Twin' },
  { ...erc20, token: lower(USDC), tokenSymbol: 'ELSEWHERE', guilds: [seed.orchid.id] },
]);
await storeToken(world.store, USDC, 'USDC', true);
await storeToken(world.store, FAKE, 'USDC', false);
await storeToken(world.store, PAYER, 'USDC', false);
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);
const add = (options: Options) => world.use('subscription add', { address: A, ...options });
/** Changes the subscription, a new one if there is none. */
const edit = async (options: Options) => {
  const [{ id } = await world.subscribe()] = await all();
  return world.use('subscription edit', { subscription: String(id), ...options });
};
const readEdit = async (options: Options) => textOf(await edit(options));
const isUnchanged = async () => expect(await all()).toMatchObject([DEFAULT_CHOICES]);

const EVERYTHING: Options = {
  minimums: `USDC=100, eth = 0.5; ${TOKEN}=7`,
  tokens: `usdc native g$`,
  'exclude-tokens': FAKE,
  counterparties: `${B}\n${TOKEN}`,
  'exclude-counterparties': A,
  internal: false,
  cataloged: true,
  zero: true,
  self: true,
  digest: 'daily',
  quiet: '22:00 - 7:30',
  mention: harbor.watchers,
  'mention-minimum': '1000',
  'mention-cooldown': 60,
  silence: true,
};

describe('every filter', () => {
  it('stores every filter and shows how it was understood', async () => {
    const text = await readEdit(EVERYTHING);
    const usdc = `USDC [\`${USDC}\`](https://explorer.example/token/${USDC})`;
    for (const part of [
      `- at least \`100\` of ${usdc}`,
      '- at least `0.5` of ETH',
      `- only ${usdc}, ETH, \`G$\` [`,
      '- quiet hours 22:00–07:30 (UTC)',
      `- pings <@&${harbor.watchers}> for at least \`1000\`\n- at most one ping every 60 minutes`,
      'only from or to',
      'none from or to',
      'no internal',
      'zero amounts too',
      'self-transfers too',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/- all but `USDC` \[`0x0+fA4e0`/i);
    expect(await all()).toMatchObject([
      {
        filters: {
          minimums: { [lower(USDC)]: '100', native: '0.5', [lower(TOKEN)]: '7' },
          tokens: [lower(USDC), 'native', lower(TOKEN)],
          deniedTokens: [FAKE],
          counterparties: [lower(B), lower(TOKEN)],
          deniedCounterparties: [lower(A)],
          internal: false,
          cataloged: true,
          zero: true,
          self: true,
        },
        digest: 'daily',
        quiet: '22:00-07:30',
        mentionMinimum: '1000',
        mentionCooldown: 60,
        watchSilence: true,
      },
    ]);
    const listed = await world.read('subscription list');
    expect(listed).toMatch(/\ntransfers · at least `100` of .*\d+ more filters/);
  });

  it('resets each filter by edit and keeps the others', async () => {
    await edit(EVERYTHING);
    await edit({ minimums: 'none', tokens: 'none', quiet: 'off', digest: 'off' });
    expect(await all()).toMatchObject([
      {
        filters: { minimums: {}, tokens: [], deniedTokens: [FAKE], cataloged: true, internal: false },
        quiet: null,
        digest: null,
        mentionMinimum: '1000',
      },
    ]);
    const none = { 'exclude-tokens': 'none', counterparties: 'none', 'exclude-counterparties': 'none' };
    const flags = { internal: true, cataloged: false, zero: false, self: false, silence: false };
    await edit({ ...none, ...flags, 'mention-minimum': 'none' });
    expect(await all()).toMatchObject([{ filters: DEFAULT_FILTERS, mentionMinimum: null, watchSilence: false }]);
  });
});

it('shows the native coin by the operator’s symbol', async () => {
  world.configure({ nativeSymbol: 'COIN' });
  expect(await readEdit({ tokens: 'coin' })).toContain('- only COIN\n');
  expect(await all()).toMatchObject([{ filters: { tokens: ['native'] } }]);
  expect(await readEdit({ tokens: 'eth' })).toMatch(/No token is called `eth`/);
  const coin = { name: 'COIN · the native coin', value: 'native' };
  expect(await world.choices('subscription mute', 'token')).toContainEqual(coin);
});

it('offers tokens that moved at this server’s addresses', async () => {
  const offered = await world.choices('subscription mute', 'token');
  expect(offered).toHaveLength(5);
  expect(offered).toContainEqual({ name: 'ETH · the native coin', value: 'native' });
  const values = (await world.choices('subscription add', 'token')).map(({ value }) => value);
  expect(values).toHaveLength(4);
  expect(values).not.toContain('native');
  expect(await world.choices('subscription add', 'token', { token: 'g$' })).toEqual([
    { name: `G$ · ${TOKEN.slice(0, 6)}…${TOKEN.slice(-4)}`, value: TOKEN },
  ]);
  const called = await world.choices('subscription add', 'token', { token: 'usdc' });
  expect(called).toMatchObject([
    { name: expect.stringMatching(/^USDC · 0xA0b8…/) },
    { name: expect.stringMatching(/^⚠️ Imitation! USDC · 0x0000…/) },
  ]);
});

it.each<[Options, RegExp]>([
  [{ minimums: '100' }, /can’t read `100` in `minimums`.*`USDC=100, ETH=0.5`/],
  [{ minimums: 'G$=1,000' }, /can’t read `1,000`/],
  [{ tokens: 'PEPE' }, /No token is called `PEPE` here.*contract address.*`native`/],
  [{ tokens: 'ELSEWHERE' }, /No token is called/],
  [{ tokens: 'twin' }, /Several tokens are called `twin`.*0xcc95E80D.*0x1ea1f375|0x1ea1f375.*0xcc95E80D/],
  [{ tokens: TOKEN.replace('5Df2', '5dF2') }, /token isn’t valid.*EIP-55/],
  [{ token: 'ETT' }, /No token is called `ETT`.*Did you mean `ETH`/],
  [{ token: 'native' }, /choose `kind: native coin`/],
  [{ counterparties: `${B} bob` }, /`bob` isn’t a valid address.*40 hexadecimal/],
  [{ counterparties: 'treasury.eth' }, /`treasury.eth` isn’t a valid address/],
  [{ quiet: '22-7' }, /`22:00-07:00`, or `off`/],
  [{ quiet: '22:00-25:00' }, /two times of day/],
  [{ quiet: '22:60-07:00' }, /two times of day/],
  [{ quiet: '22:00-07:60' }, /two times of day/],
  [{ quiet: '24:00-07:00' }, /two times of day/],
  [{ quiet: '07:00-7:00' }, /two times of day/],
  [{ label: 'Treasury '.repeat(12) }, /at most 60 characters/],
  [{ token: TOKEN, 'exclude-tokens': TOKEN }, /`G\$` .*is both/],
  [{ tokens: 'G$ native', 'exclude-tokens': 'native' }, /ETH is both/],
  [{ kind: 'native', 'exclude-tokens': 'native' }, /ETH is both included/],
  [{ counterparties: B, 'exclude-counterparties': B }, /is both included/],
  [{ token: TOKEN, tokens: 'native' }, /is not in `tokens`/],
  [{ kind: 'native', tokens: TOKEN }, /ever match \(`kind: native coin` with `G\$`/],
  [{ kind: 'erc20', tokens: 'native' }, /ever match \(`kind: ERC-20 tokens` with ETH\)/],
  [{ minimum: '$250' }, /`\$250` is an amount in US dollars, and prices are not set up/],
  [{ minimum: '100 $' }, /`100 \$` is an amount in US dollars/],
  [{ minimum: '100 XYZ' }, /^You entered `100 XYZ` in `minimum`\. No token is called/],
  [{ minimum: '1,5' }, /Did you mean `1\.5`/],
  [{ minimum: '1,000,000' }, /Did you mean `1000000`/],
  [{ tokens: Array.from({ length: 51 }, (_, n) => `0x${n.toString(16).padStart(40, 'a')}`).join() }, /at most 50/],
  [{ minimum: '1,000' }, /in token units, like `250` or `0\.5`.*no thousands separators or symbol\.$/],
])('refuses the filters %o', async (options, sentence) => {
  expect(await readEdit(options)).toMatch(sentence);
  await isUnchanged();
});

it.each([{ 'mention-minimum': '1000' }, { 'mention-cooldown': 60 }])(
  'explains that a subscription without a role pings nobody: %o',
  async (options: Options) => {
    expect(textOf(await add({}))).not.toContain('pings');
    expect(await readEdit(options)).toContain('- pings nobody, because `mention` sets no role');
  },
);

it('reads the full-width characters of Japanese and Chinese keyboards', async () => {
  const minimums = `Ｇ＄＝１．５、 native＝2，${B}=3`;
  await edit({ minimum: '１０００', minimums, counterparties: `${B}、${TOKEN}`, quiet: '２２：００〜７：３０' });
  const filters = {
    minimums: { [lower(TOKEN)]: '1.5', native: '2', [lower(B)]: '3' },
    counterparties: [B, TOKEN].map(lower),
  };
  expect(await all()).toMatchObject([{ minimum: '1000', filters, quiet: '22:00-07:30' }]);
});

it('reads the explorer’s link to a token, also among others', async () => {
  const page = `https://explorer.example/token/${TOKEN}`;
  const counterparties = `https://explorer.example/address/${B}`;
  await edit({ tokens: `${page} ${USDC}`, minimums: `${page}?tab=holders=2`, counterparties });
  const filters = { tokens: [TOKEN, USDC].map(lower), minimums: { [lower(TOKEN)]: '2' }, counterparties: [lower(B)] };
  expect(await all()).toMatchObject([{ filters }]);
});

it('accepts an explorer’s link wherever an address is expected, within Discord’s limits', async () => {
  const page = `https://explorer-of-a-chain.with-a-long-name.example/networks/mainnet/token/${TOKEN}?tab=transfers&page=2`;
  await world.subscribe();
  const asked: [string, Options][] = [
    ['subscription add', { address: page }],
    ['subscription add', { address: B, token: page }],
    ['subscription edit', { subscription: A, token: page }],
    ['subscription mute', { subscription: 'all', duration: '1h', token: page }],
    ['subscription pause', { subscription: page }],
    ['label set', { address: page, name: 'Dollar' }],
    ['label remove', { address: page }],
    ['activity', { address: page }],
    ['token', { address: page }],
  ];
  const person = { kind: 'command', userId: seed.ada, channelId: harbor.alerts } as const;
  for (const [name, options] of asked) {
    const used = await world.discord.use({ ...person, name, options });
    expect.soft(textOf(await used.final()), name).not.toContain('hexadecimal');
  }
  expect((await all()).map(({ address, token, paused }) => [address, token, paused])).toEqual([
    [lower(A), lower(TOKEN), false],
    [lower(TOKEN), null, true],
    [lower(B), lower(TOKEN), false],
  ]);
});

describe('decimal commas', () => {
  beforeEach(() => world.speak('de'));
  const press = async (refused: Shown, label: string) => {
    const buttons = JSON.parse(JSON.stringify(refused.reply!.message.components))[0].components;
    expect(buttons).toHaveLength(2);
    return world.press(refused, buttons.find((button: { label: string }) => button.label === label).custom_id);
  };

  it('shows an amount as it was understood, without separators that an option would read as a point', async () => {
    const mention = { mention: harbor.watchers, 'mention-minimum': '20000' };
    const text = await readEdit({ minimum: '1.2340', minimums: 'G$=1234.5', ...mention });
    for (const part of ['- mindestens `1,2340` von jedem Token', '- mindestens `1234,5` `G$`', ' ab `20000`'])
      expect(text).toContain(part);
    expect(await all()).toMatchObject([{ minimum: '1.2340', mentionMinimum: '20000' }]);
  });

  it.each<[Options, RegExp | string]>([
    [{ minimum: '1,5' }, /Punkt statt (eines )?Komma/],
    [{ minimum: '1.234,5' }, /Punkt statt (eines )?Komma/],
    [{ minimum: '1\u202f234' }, /Punkt statt (eines )?Komma/],
    [{ 'mention-minimum': '0,5' }, /Punkt statt (eines )?Komma/],
    [{ minimums: 'G$=1,5' }, /Punkt statt (eines )?Komma/],
    [{ minimum: '1.000' }, 'Schreibe `1000` ohne Punkt, oder `1.0000`'],
    [{ 'mention-minimum': '250.125' }, 'Schreibe `250125` ohne Punkt, oder `250.1250`'],
    [{ minimums: 'G$=1.000,5' }, 'Schreibe `1000` ohne Punkt, oder `1.0000`'],
  ])('refuses an ambiguous amount and shows how to write it: %o', async (options, sentence) => {
    expect(await readEdit(options)).toMatch(sentence);
    await isUnchanged();
  });

  it.each([
    ['en-US', { minimum: '1,5' }, '15', { minimum: '15' }],
    ['en-US', { minimum: '1,000' }, '1', { minimum: '1' }],
    ['de', { minimum: '1.000' }, '1.000', { minimum: '1000' }],
    ['de', { minimum: '1,125' }, '1,125', { minimum: '1.1250' }],
    ['en-US', { minimum: '1,000 G$' }, '1,000', { minimum: null, filters: { minimums: { [lower(TOKEN)]: '1000' } } }],
    ['de', { minimum: 'G$ 1.000' }, '1', { filters: { minimums: { [lower(TOKEN)]: '1' } } }],
  ])(
    'offers both readings of an amount as buttons, and a click applies one (%s, %o)',
    async (locale, options, label, kept) => {
      world.speak(locale);
      const refused = await add(options);
      expect(await all()).toEqual([]);
      expect(textOf(await press(refused, label))).toMatch(/(Subscription|Abo) #/);
      expect(await all()).toMatchObject([kept]);
    },
  );

  const minimumsNow = async () => (await all())[0]!.filters.minimums;

  it.each([
    ['en-US', 'eth=2, G$ = 1,000, native=3', '1,000', { [lower(TOKEN)]: '1000', native: '3' }],
    ['en-US', 'G$=1,500 eth=2', '1.5', { [lower(TOKEN)]: '1.5', native: '2' }],
    ['de', 'G$=1.000; eth=2', '1.000', { [lower(TOKEN)]: '1000', native: '2' }],
  ])('offers both readings of one of several minimums (%s: %s)', async (locale, minimums, label, kept) => {
    world.speak(locale);
    await press(await edit({ minimums }), label);
    expect(await minimumsNow()).toEqual(kept);
  });

  it.each([
    ['de', 'G$=1.000,5'],
    ['en-US', 'G$=1,000.5'],
    ['en-US', 'G$=1,000,000'],
  ])('offers no readings of %s: %s', async (locale, minimums) => {
    world.speak(locale);
    expect(buttonsOf(await edit({ minimums }))).toEqual([]);
    expect(await minimumsNow()).toEqual({});
  });

  it('reads an amount right behind a comma as its own entry', async () => {
    world.speak('en-US');
    await edit({ minimums: 'G$=1,100 ETH' });
    expect(await minimumsNow()).toEqual({ [lower(TOKEN)]: '1', native: '100' });
  });

  it('applies a reading to a form, too', async () => {
    world.speak('en-US');
    const refused = await world.fillFrom(await add({ token: TOKEN }), 'subscription:filters', { minimum: '2,50' });
    const shown = { reply: refused.followups[0]!, followups: [] };
    await world.press(await world.press(shown, buttonsOf(shown)[0]!), 'subscription:save');
    expect(await all()).toMatchObject([{ minimum: '2.5' }]);
  });

  it('takes an amount with its token as the ping’s minimum if only that token is watched', async () => {
    world.speak('en-US');
    const text = await readEdit({ 'mention-minimum': '100 G$' });
    expect(text).toMatch(/`mention-minimum` counts the units of whatever moves\. Enter `100`, and name `G\$`/);
    await edit({ 'mention-minimum': 'G$ 100', token: TOKEN });
    expect(await all()).toMatchObject([{ mentionMinimum: '100' }]);
  });

  it.each(['0.125', '1234.567', '1.25', '1000'])('accepts the unambiguous amount %s', async (minimum) => {
    await add({ minimum });
    expect(await all()).toMatchObject([{ minimum }]);
  });

  it('reads a file the same way in every language', async () => {
    const text = `address,channel,minimum\n${A},#alerts,1.125`;
    await world.press(await world.bring(text), 'subscription:import');
    expect(await all()).toMatchObject([{ minimum: '1.125' }]);
  });
});

it('names a fault’s option in the person’s language, and its column in a file', async () => {
  world.speak('ja');
  const { name } = wordingsOf('ja')['subscription add minimum']!;
  expect(textOf(await add({ minimum: 'much' }))).toContain(name);
  const written = textOf(await world.bring(`address,minimum\n${A},much`));
  expect(written).not.toContain(name);
  expect(written).toContain('`minimum`');
});

describe('a reply about what is not as it seems', () => {
  it('warns of a token that the explorer does not have, and shows what a minimum counts', async () => {
    const [one, other] = ['8', '9'].map((digit) => `0x${digit.repeat(40)}`) as [string, string];
    const looked: string[] = [];
    const token = async (address: string) => {
      looked.push(address);
      return { status: 'not-found' as const };
    };
    world.replace({ explorer: { token } });
    expect(await readEdit({ token: one })).toMatch(
      /The explorer has no token at .*0x8888.*choose transfers with a wallet with `counterparties`/,
    );
    const asked = await world.fillFrom(await edit({}), 'subscription:filters', { token: other });
    expect(textOf(asked)).toMatch(/has no token at .*0x9999/);
    expect(await readEdit({ token: 'none', preset: 'large' })).toContain('- at least `1000` of any token');
    expect(looked).toEqual([one, other]);
    expect(await readEdit({ minimum: '0' })).toContain('- any amount above zero');
    expect(await readEdit({ zero: true })).toContain('- at least `0`\n');
    expect(textOf(await add({ address: B, mention: harbor.id }))).toMatch(/^I never ping @everyone/);
    expect(await readEdit({ mention: harbor.watchers })).toContain('pings <@&');
    expect(await readEdit({ mention: harbor.id })).toMatch(/I never ping @everyone.*nobody is pinged/);
  });

  it('names the channels that already watch the address, as far as the person sees them', async () => {
    const { id } = await world.subscribe({ channelId: harbor.whales });
    await world.subscribe({ channelId: harbor.treasury });
    await world.makeManager(seed.noa);
    const shown = await world.read('subscription add', { address: A }, { as: seed.noa });
    expect(shown).toContain(`already watches this address: <#${harbor.whales}> (#${id}).`);
  });
});

describe('dollars', () => {
  beforeEach(() => world.configure({ hasPrices: true }));

  it('takes dollars as a minimum of value instead of one in units', async () => {
    await edit({ minimum: '250', mention: harbor.watchers, 'mention-minimum': '1000' });
    const text = await readEdit({ minimum: '$100', 'mention-minimum': '2.5k $' });
    expect(text).toContain('- worth at least $100, or without a known price');
    expect(text).toContain('- pings only for at least $2,500, or without a known price');
    const pings = { mentionMinimum: null, mentionMinimumUsd: '2500' };
    expect(await all()).toMatchObject([{ minimum: null, minimumUsd: '100', ...pings }]);
    await edit({ minimum: 'none' });
    expect(await all()).toMatchObject([{ minimumUsd: null, ...pings }]);
  });

  it('offers both readings of an unclear amount of dollars, as dollars', async () => {
    const refused = await add({ minimum: 'US$1,000' });
    await world.press(refused, buttonsOf(refused)[1]!);
    expect(await all()).toMatchObject([{ minimum: null, minimumUsd: '1000' }]);
  });

  it('names dollars when it refuses an amount of them', async () => {
    const panel = await add({});
    expect(await readEdit({ minimum: '$ten' })).toMatch(/`minimum` must be an amount in US dollars/);
    expect(await readEdit({ minimum: 'ten' })).toMatch(/`minimum` must be an amount in token units/);
    expect(await readEdit({ minimums: 'G$=$100' })).toMatch(/Enter dollars as `minimum`/);
    const refused = await world.fillFrom(panel, 'subscription:balance', { 'mention-minimum-usd': '100 USDC' });
    expect(textOf(refused)).toMatch(/`Ping only from this value, in US dollars` must be an amount in US dollars/);
    await isUnchanged();
  });
});
