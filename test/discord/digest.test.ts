import { describe, expect, it } from 'vitest';
import { renderDigest } from '../../src/discord/render/digest.ts';
import type { RenderSettings } from '../../src/discord/render/wording.ts';
import { checksumAddress } from '../../src/domain/address.ts';
import type { Alert, DigestReason, Warning } from '../../src/domain/alert.ts';
import { ALICE, alertOf, BOB, COIN, KEYS, key, LIKE_ALICE, PAYROLL, read, SETTINGS, TREASURY, USDC } from './alerts.ts';
import { plain } from './shown.ts';

/** Of assets of which nobody knows whether they are real: in many, these are summed up. */
const unknown = (alerts: Alert[]): Alert[] =>
  alerts.map((alert) => ({ ...alert, matches: alert.matches.map((match) => ({ ...match, isKnown: false })) }));
/** With eleven more transfers: too many to be listed one by one. */
const summed = (alerts: Alert[]): Alert[] =>
  unknown([...alerts, alertOf({ token: BOB, tokenSymbol: 'FILL' }, { count: 11 })]);

const render = (alerts: Alert[], reason?: DigestReason, now?: number | null, settings: RenderSettings = SETTINGS) =>
  renderDigest(settings, alerts, 'ABCDEFGHIJ', reason, now);
const embedOf = async (...given: Parameters<typeof render>) => (await render(...given)).payload.embeds![0]!;

/** The pattern's matches in each digest. */
async function inAll(due: Alert[], pattern: RegExp, reason: DigestReason = 'hourly'): Promise<number[][]> {
  const found: number[][] = [];
  for (let left = due; left.length > 0; ) {
    const { payload, used } = await render(left, reason, 0);
    left = left.slice(used);
    const amounts = plain(payload.embeds![0]!.description!).matchAll(pattern);
    found.push([...amounts].map(([, amount]) => Number(amount)));
  }
  return found;
}
const inOrder = (amounts: number[]) => amounts.toSorted((a, b) => a - b);

describe('a digest', () => {
  const list = [
    ...Array.from({ length: 3 }, () => alertOf({ value: '1500000' })),
    alertOf({ value: '7000000' }, { labels: { [ALICE]: 'Alice' }, count: 2 }),
    alertOf({ from: TREASURY, to: BOB, value: '250000' }),
    alertOf({ ...COIN, from: TREASURY, to: PAYROLL, value: '10000000000000000' }),
    ...['1', '2'].map((id) => alertOf(key(id))),
  ];

  it.each([
    ['backlog', 'too many alerts to post one by one, or they had waited too long.'],
    ['hourly', 'Hourly digest'],
    ['daily', 'Daily digest'],
    ['quiet', 'Quiet hours are over'],
    ['burst', 'There were more than 60 alerts in ten minutes'],
  ] as const)('shows why a digest is one: %s', async (reason, words) => {
    const embed = await embedOf(list, reason);
    expect(embed.title).toBe('🗂️ Digest · 9 transfers');
    expect(embed.description).toContain(words);
    // It began and ended in the same minute.
    expect(embed.description).toMatch(/^<t:1750000000:f>\n/);
  });

  it('lists all transfers of a digest of up to ten, a suspicious one without links to addresses', async () => {
    const fake = alertOf({}, { warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }] });
    const embed = await embedOf([...list, fake]);
    const titles = plain(embed.description!)
      .split('\n')
      .filter((line) => / (\+|−|→)/.test(line));
    expect(titles).toEqual([
      '🔁 Treasury → Payroll 0.01 ETH',
      '📤 Treasury −0.25 `USDC`',
      '📥 Treasury + `Harbor Keys` #1',
      '📥 Treasury + `Harbor Keys` #2',
      '📥 Treasury +7 `USDC` ×2',
      ...Array(3).fill('📥 Treasury +1.5 `USDC`'),
      '⚠️ 📥 Treasury +5 `USDC` · transaction',
    ]);
    expect(embed.fields).toBeUndefined();
  });

  it('sums up what it is worth as far as prices are known', async () => {
    const eth = alertOf({ ...COIN, from: TREASURY, to: BOB, value: '2000000000000000000', price: '2500' });
    const some = [...Array.from({ length: 12 }, () => alertOf({ price: '1' })), eth, alertOf({ price: null })];
    const embed = await embedOf(summed(some));
    expect(embed.description).toContain('\n📥 ≈\u00a0$60.00 · 📤 ≈\u00a0$5,000\n');
    expect(embed.description).toMatch(/2 ETH in 1 transfer · ≈\u00a0\$5,000\n/);
    const known = await embedOf(some);
    expect(known.description).toContain('· 1 transfer without a known price\n');
  });

  it('strikes through what the chain does not have, and leaves it out of sums', async () => {
    const gone = (change: Partial<Alert['transfer']>) => alertOf({ ...change, settled: 0 }, { count: 0 });
    const paid = gone({ ...COIN, from: TREASURY, to: BOB, value: '8000000000000000000' });
    const listed = await render([paid, ...list, ...list]);
    const text = plain(listed.payload.embeds![0]!.description!);
    expect(text).toContain('The chain does not have 1 transfer that the service delivered');
    expect(text).toMatch(/^~~📤 Treasury −8 ETH · transaction~~$/m);
    const few = await render([alertOf(paid.transfer), paid, alertOf()]);
    expect(plain(few.payload.embeds![0]!.description!)).toMatch(/−8 ETH\n-# to .*\+5 `USDC`\n-# .*\n~~.*−8 ETH.*~~$/s);
    const many = Array.from({ length: 90 }, (_, n) => gone({ value: `${n + 9}000000` }));
    const long = await render([...many, alertOf()], 'daily', 0);
    expect(long.csv?.split('\n')).toHaveLength(92);
    expect(plain(long.payload.embeds![0]!.description!)).toMatch(/\n📥 Treasury \+5 `USDC` · transaction\n~~/);
    const totals = await render(summed([gone({ value: '99000000' }), ...list]));
    expect(read(totals.payload.embeds![0]!)).toMatch(/18\.5 `USDC` in 5 transfers\n(?!.*99 `USDC`)/s);
  });

  it('says how many of its transfers the service did not deliver', async () => {
    const found = [1, 30].map((hours) =>
      alertOf({}, { warnings: [{ kind: 'found', ms: hours * 3_600_000 }], count: 2 }),
    );
    const embed = await embedOf(summed([...found, ...list]));
    expect(embed.description).toContain(
      '4 of them were found on the chain, up to 1 day, 6 hr late: the service did not',
    );
  });

  it('shows when a digest’s first and last transfers arrived, in any order', async () => {
    const at = [300, 500, 100, 400].map((seconds) => alertOf({}, { createdAt: seconds * 1_000 }));
    const embed = await embedOf(at, 'quiet');
    expect(embed.description).toMatch(/<t:100:f>.*<t:500:f>/);
  });

  it('sums each token of a digest by direction, exactly, with its address once', async () => {
    const embed = await embedOf(summed(list));
    expect(read(embed).split('\n').slice(5)).toEqual([
      expect.stringContaining('`FILL`'),
      `\`${checksumAddress(BOB)}\``,
      '📥 18.5 `USDC` in 5 transfers',
      '📤 0.25 `USDC` in 1 transfer',
      `\`${checksumAddress(USDC)}\``,
      '📥 2 × `Harbor Keys` in 2 transfers',
      `\`${checksumAddress(KEYS)}\``,
      '🔁 0.01 ETH in 1 transfer',
      '-# ⚠️ Unknown tokens can claim payments that the wallet never made.',
    ]);
  });

  it('writes a digest in the number format of the server’s language, and its file in a neutral one', async () => {
    const many = Array.from({ length: 1_001 }, () => alertOf({ value: '1234500000' }, { language: 'de' }));
    const { payload, csv } = await render(unknown(many));
    const text = read(payload.embeds![0]!);
    expect(payload.embeds![0]!.title).toContain(' 1.001 ');
    expect(text).toContain('📥 1.235.734,5 `USDC` in 1.001 ');
    expect(csv!.split('\r\n')[1]).toContain(',1234,erc20,');
    expect(csv!.split('\r\n')[1]).toContain(',USDC,1234.5,,1,');
  });

  it('sums neither different tokens with unknown contracts nor unknown amounts', async () => {
    const of = (tokenSymbol: string, value: string | null) => alertOf({ token: null, tokenSymbol, value });
    const alerts = [of('AAA', '5000000'), of('BBB', '7000000'), of('AAA', null), of('AAA', '1000000')];
    const embed = await embedOf(summed(alerts));
    expect(read(embed).split('\n').slice(7, 10)).toEqual([
      '📥 6 `AAA` in 2 transfers',
      '📥 7 `BBB` in 1 transfer',
      '📥 `AAA` in 1 transfer',
    ]);
  });

  it('lists as many tokens as fit, the busiest first, and counts the transfers of all others', async () => {
    const token = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;
    const of = (n: number, tokenSymbol: string) =>
      Array.from({ length: n }, () => alertOf({ token: token(n), tokenSymbol }));
    const { description } = await embedOf(unknown(Array.from({ length: 14 }, (_, n) => of(n + 1, `T${n + 1}`)).flat()));
    expect([...description!.matchAll(/(?<=in )\d+(?= transfer)|^and .*$/gm)].map(([text]) => text)).toEqual([
      ...Array.from({ length: 12 }, (_, n) => String(14 - n)),
      'and 3 transfers of other tokens',
    ]);
  });

  it('lets no sum of a token that claims 255 decimals crowd out the others', async () => {
    const odd = alertOf({ token: KEYS, tokenSymbol: 'ODD', value: '1', decimals: 255 });
    const embed = await embedOf(summed([odd]));
    expect(read(embed)).toContain('📥 `ODD` in 1 transfer');
  });

  /** A transfer of one of 40 tokens that no catalog lists. */
  const worthless = (n: number, change: object = {}) =>
    unknown([
      alertOf(
        { token: `0x${(n % 40).toString(16).padStart(40, 'f')}`, tokenSymbol: `SPAM${n % 40}`, ...change },
        { warnings: [n % 2 === 0 ? { kind: 'uncataloged' } : { kind: 'unchecked', isCrowded: true }] },
      ),
    ])[0]!;
  const paid = (coins: number) =>
    alertOf({ ...COIN, from: TREASURY, to: BOB, value: `${coins}${'0'.repeat(18)}` }, { isSignificant: true });

  it('lists payments out first, whatever came in between, and sums up worthless tokens in one line', async () => {
    const dust = Array.from({ length: 2_847 }, (_, n) => worthless(n));
    const forged = [1, 2, 4].map((n) => worthless(n, { from: TREASURY, to: ALICE }));
    const flood = [...dust.slice(0, 900), paid(222), ...dust.slice(900), paid(777), ...forged];
    const { payload, csv } = await render(flood, 'backlog', 0);
    const lines = plain(payload.embeds![0]!.description!).split('\n');
    expect(lines.slice(lines.indexOf('') + 1).filter((line) => !line.startsWith('-# to'))).toEqual([
      '📤 Treasury −777 ETH',
      '📤 Treasury −222 ETH',
      '-# The others, summed up:',
      // It could not be checked, so it may have left.
      '📤 5 `SPAM1` in 1 transfer',
      expect.stringMatching(/^-# `0x/),
      expect.stringContaining('Unknown tokens can claim payments'),
      '-# 2,847 transfers of 40 uncataloged tokens came in',
      expect.stringMatching(/^-# 2 transfers of 2 uncataloged tokens claim to have left\. A token can claim this/),
    ]);
    expect(csv!.split('\r\n')).toHaveLength(2_853);
  });

  it('names each payment out of a transaction in which strangers’ tokens moved, too (one of them each)', async () => {
    const due = Array.from({ length: 40 }, (_, n) => {
      const txHash = `0x${String(n).padStart(64, 'a')}`;
      const coins = alertOf(
        { ...COIN, txHash, from: TREASURY, to: BOB, value: `${n + 100}${'0'.repeat(18)}` },
        { isSignificant: true },
      );
      const tokens = alertOf({ txHash, from: TREASURY, to: BOB, value: `${n + 200}000000` }, { isSignificant: true });
      return [worthless(n, { txHash, from: TREASURY, to: ALICE }), worthless(n, { txHash }), coins, tokens];
    }).flat();
    const listed = await inAll(due, /−(\d+) (?:ETH|`USDC`)/g);
    expect([...new Set(inOrder(listed.flat()))]).toEqual(
      [100, 200].flatMap((first) => Array.from({ length: 40 }, (_, n) => first + n)),
    );
  });

  it('lists payments out before a watched token that anybody moves between wallets of their own', async () => {
    const moved = Array.from({ length: 300 }, () => {
      const [match] = alertOf().matches;
      const matches = [{ ...match!, address: USDC, perspective: 'token' as const }];
      return alertOf({ from: ALICE, to: BOB, value: '9000000000000', price: '1' }, { matches, isSignificant: true });
    });
    const { payload } = await render([...moved, paid(7)], 'burst', 0);
    expect(plain(payload.embeds![0]!.description!)).toMatch(/\n\n(🧾|📤) Treasury −7 ETH/);
  });

  it('lists every payment out although warnings take the room above them (a few transfers that imitate)', async () => {
    const fakes = Array.from({ length: 12 }, (_, n) => {
      const like = `0x${String(n).padStart(40, 'b')}` as const;
      const address = `0x${String(n).padStart(40, 'c')}` as const;
      const label = 'A name as long as a label may be';
      return alertOf({ from: address }, { warnings: [{ kind: 'look-alike', address, like, label }] });
    });
    const payments = Array.from({ length: 50 }, (_, n) => paid(n + 100));
    const listed = await inAll([...fakes, ...payments], /−(\d+) ETH/g);
    expect(inOrder(listed.flat())).toEqual(payments.map((_, n) => n + 100));
  });

  it('lists the payments out of each network together, each with the network’s name', async () => {
    const titles = ['Fuse', 'Base'] as const;
    const networks = new Map(titles.map((title, id) => [id, { title, explorerUrl: undefined, nativeSymbol: title }]));
    const due = [5, 9, 7, 3].flatMap((coins, n) => ({ ...paid(coins), network: n % 2 }));
    for (const alerts of [due, [...due, ...Array(12).fill(worthless(1))]]) {
      const { payload } = await render(alerts, 'burst', 0, { ...SETTINGS, networks });
      const shown = [
        ...plain(payload.embeds![0]!.description!).matchAll(/−(\d) (\w+)[^−]*?(Fuse|Base) · transaction/g),
      ];
      expect(shown.map(([, ...words]) => words.join(' '))).toEqual([
        '7 Fuse Fuse',
        '5 Fuse Fuse',
        '9 Base Base',
        '3 Base Base',
      ]);
    }
  });

  it('begins with the payments out as plain content if it pings, which a push notification shows', async () => {
    const [match] = paid(7).matches;
    const due = [...Array(12).fill(worthless(1)), { ...paid(7), matches: [{ ...match!, mention: '77' }] }];
    const { payload } = await render(due, 'backlog', 0);
    expect(payload.content).toMatch(/^🗂️ Digest · 13 transfers\n📤 Treasury −7 ETH → \S+ <@&77>$/);
    expect(payload.flags).toBeUndefined();
    const networks = new Map([[0, { title: 'Fuse', explorerUrl: undefined, nativeSymbol: 'FUSE' }]]);
    const named = await render(due, 'backlog', 0, { ...SETTINGS, networks });
    expect(named.payload.content).toMatch(/\n📤 Treasury −7 FUSE → \S+ · Fuse <@&77>$/);
  });

  it('lists amounts of known assets after what is significant, each by amount, before the sums', async () => {
    const received = (units: number) => alertOf({ value: `${units}000000` });
    const zero = alertOf({ value: '0' });
    const flood = [received(5), ...unknown([received(9)]), paid(1), zero, received(7), ...Array(12).fill(worthless(1))];
    const { payload } = await render(flood, 'backlog', 0);
    const lines = plain(payload.embeds![0]!.description!).split('\n');
    expect(lines.slice(lines.indexOf('') + 1).filter((line) => !/^-# (to|from|`)/.test(line))).toEqual([
      expect.stringMatching(/^📤 Treasury −1 ETH/),
      expect.stringMatching(/^📥 Treasury \+7 `USDC`/),
      expect.stringMatching(/^📥 Treasury \+5 `USDC`/),
      '-# The others, summed up:',
      '📥 9 `USDC` in 2 transfers',
      '-# 12 transfers of 1 uncataloged token came in',
    ]);
  });

  it.each([
    ['payments out', paid],
    [
      'known amounts',
      (units: number) => alertOf({ ...COIN, from: BOB, to: TREASURY, value: `${units}${'0'.repeat(18)}` }),
    ],
  ])('lists %s one by one over up to three messages, and of more the largest', async (_, alert) => {
    const due = (count: number) => Array.from({ length: count }, (_, n) => alert(n + 1));
    const few = await inAll(due(70), /[−+](\d+) ETH/g, 'backlog');
    expect(few.length).toBeGreaterThan(1);
    expect(inOrder(few.flat())).toEqual(Array.from({ length: 70 }, (_, n) => n + 1));
    const many = await inAll(due(400), /[−+](\d+) ETH/g, 'backlog');
    expect(many.map((amounts) => amounts.slice(0, 3))).toEqual([[400, 399, 398]]);
    // All others are in the sum.
    expect((await embedOf(due(400), 'backlog', 0)).description).toContain(` in ${400 - many[0]!.length} transfers`);
  });

  it('warns of look-alikes with both addresses, and keeps suspects out of the sums', async () => {
    const lookAlike: Warning = { kind: 'look-alike', address: ALICE, like: LIKE_ALICE, label: 'Grants' };
    const embed = await embedOf(summed([...list, alertOf({}, { warnings: [lookAlike] })]));
    const text = read(embed);
    expect(embed.color).toBe(0xffcc00);
    for (const part of [
      'Do not copy',
      checksumAddress(ALICE),
      checksumAddress(LIKE_ALICE),
      '⚠️ 📥 5 `USDC` in 1 transfer',
    ])
      expect(text).toContain(part);
    expect(text).toContain('📥 18.5 `USDC` in 5 transfers');
  });

  it('warns once of each other project that a digest’s events name, suspicious or not', async () => {
    const named = (projectId: string, ...more: Warning[]) =>
      alertOf({}, { warnings: [{ kind: 'other-project', projectId }, ...more] });
    const imitation: Warning = { kind: 'imitation', symbol: 'USDC', genuine: null };
    for (const alerts of [list, summed(list)]) {
      const warned = [...alerts, named('one'), named('one'), named('two', imitation)];
      const embed = await embedOf(warned);
      const projects = [...embed.description!.matchAll(/^⚠️ \*\*This event names another project, `(\w+)`/gm)];
      expect(projects.map(([, id]) => id).toSorted()).toEqual(['one', 'two']);
    }
  });

  it('lists every transfer in a file when there are many, and no cell is a formula', async () => {
    const hostile = Array.from({ length: 501 }, () => alertOf({ tokenSymbol: '=HYPERLINK("x")' }));
    const { csv } = await render(hostile);
    const rows = csv!.split('\r\n');
    expect(rows).toHaveLength(502);
    expect(rows[1]).toContain(`"'=HYPERLINK(""x"")"`);
    expect(rows[1]).toMatch(/,5,,1,incoming,$/);
    expect((await render(hostile.slice(0, 10))).csv).toBeNull();
  });

  it('fills a digest’s file up to Discord’s limit and leaves the rest to the next digest', async () => {
    const long = alertOf({ value: '9'.repeat(1_000), decimals: 0 });
    const { csv, used, payload } = await render(Array(8_500).fill(long));
    const bytes = Buffer.byteLength(csv!);
    expect(bytes).toBeGreaterThan(9_990_000);
    expect(bytes).toBeLessThan(10 * 1024 * 1024);
    expect(csv!.split('\r\n')).toHaveLength(1 + used);
    expect(payload.embeds![0]!.title).toBe(`🗂️ Digest · ${used.toLocaleString('en-US')} transfers`);
  });

  it('marks raw units and rounded IDs in a digest’s file, and shows pieces whatever decimals are claimed', async () => {
    const odd = [
      alertOf({ decimals: null }),
      alertOf({ ...key('7'), kind: 'erc1155', value: '12', decimals: 18 }),
      alertOf({ ...key('5.78e+76'), tokenIdExact: false }),
      ...Array.from({ length: 499 }, () => alertOf()),
    ];
    const rows = (await render(odd)).csv!.split('\r\n');
    expect(rows[1]).toContain(',USDC,5000000 raw,,1,');
    expect(rows[2]).toContain(',KEY,12,7,1,');
    expect(rows[3]).toContain(',KEY,,5.78e+76 imprecise,1,');
    expect(rows[4]).toContain(',USDC,5,,1,');
  });

  it('lets the event loop continue while the file of a digest of thousands is made', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { csv } = await render(Array.from({ length: 1_500 }, () => alertOf()));
    clearImmediate(next);
    expect(csv!.split('\r\n')).toHaveLength(1_501);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('writes no more lines than fit, of thousands that a stranger can cause (one transfer each)', async () => {
    let named = 0;
    const labels = {
      get() {
        named++;
        return {};
      },
    };
    const dust = Array.from({ length: 2_000 }, () => Object.defineProperty(alertOf({ ...COIN }), 'labels', labels));
    expect((await render(dust)).used).toBe(dust.length);
    expect(named).toBeLessThan(dust.length);
  });
});
