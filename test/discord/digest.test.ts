import { describe, expect, it } from 'vitest';
import { renderDigest } from '../../src/discord/digest.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import type { Warning } from '../../src/domain/warning.ts';
import { ALICE, alertOf, BOB, COIN, KEYS, key, PAYROLL, read, SETTINGS, TREASURY, USDC } from './alerts.ts';
import { plain } from './shown.ts';

/** With eleven more transfers: too many to be listed one by one. */
const summed = (alerts: Alert[]): Alert[] => [...alerts, alertOf({ token: BOB, tokenSymbol: 'FILL' }, { count: 11 })];

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
    const [embed] = (await renderDigest(list, 'ABCDEFGHIJ', SETTINGS, reason)).payload.embeds!;
    expect(embed!.title).toBe('🗂️ Digest · 9 transfers');
    expect(embed!.description).toContain(words);
    // It began and ended in the same minute.
    expect(embed!.description).toMatch(/^<t:1750000000:f>\n/);
  });

  it('lists all transfers of a digest of up to ten, a suspicious one without links to addresses', async () => {
    const fake = alertOf({}, { warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }] });
    const [embed] = (await renderDigest([...list, fake], 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    const titles = plain(embed!.description!)
      .split('\n')
      .filter((line) => / (\+|−|→)/.test(line));
    expect(titles).toEqual([
      ...Array(3).fill('📥 Treasury +1.5 `USDC`'),
      '📥 Treasury +7 `USDC` ×2',
      '📤 Treasury −0.25 `USDC`',
      '🔁 Treasury → Payroll 0.01 ETH',
      '📥 Treasury + `Harbor Keys` #1',
      '📥 Treasury + `Harbor Keys` #2',
      '⚠️ 📥 Treasury +5 `USDC` · transaction',
    ]);
    expect(embed!.fields).toBeUndefined();
  });

  it('shows when a digest’s first and last transfers arrived, in any order', async () => {
    const at = [300, 500, 100, 400].map((seconds) => alertOf({}, { createdAt: seconds * 1_000 }));
    const [embed] = (await renderDigest(at, 'ABCDEFGHIJ', SETTINGS, 'quiet')).payload.embeds!;
    expect(embed!.description).toMatch(/<t:100:f>.*<t:500:f>/);
  });

  it('sums each token of a digest by direction, exactly, with its address once, and lists the largest of each', async () => {
    const [embed] = (await renderDigest(summed(list), 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    expect(read(embed!).split('\n').slice(6)).toEqual([
      '📥 18.5 `USDC` in 5 transfers',
      '📤 0.25 `USDC` in 1 transfer',
      `\`${checksumAddress(USDC)}\``,
      '📥 2 × `Harbor Keys` in 2 transfers',
      `\`${checksumAddress(KEYS)}\``,
      '🔁 0.01 ETH in 1 transfer',
      'Largest transfers',
      expect.stringContaining('`FILL`'),
      expect.stringMatching(/^📥 7 `USDC` · Alice → Treasury · <t:1750000000:t> · `0x0{8}`$/),
      expect.stringMatching(/^📤 0\.25 `USDC` · Treasury · /),
      expect.stringMatching(/^🔁 0\.01 ETH · Treasury → Payroll · /),
    ]);
  });

  it('writes a digest in the number format of the server’s language, and its file in a neutral one', async () => {
    const many = Array.from({ length: 1_001 }, () => alertOf({ value: '1234500000' }, { language: 'de' }));
    const { payload, csv } = await renderDigest(many, 'ABCDEFGHIJ', SETTINGS);
    const text = read(payload.embeds![0]!);
    expect(payload.embeds![0]!.title).toContain(' 1.001 ');
    expect(text).toContain('📥 1.235.734,5 `USDC` in 1.001 ');
    expect(text).toContain('📥 1.234,5 `USDC` · ');
    expect(csv!.split('\r\n')[1]).toContain(',1234,erc20,');
    expect(csv!.split('\r\n')[1]).toContain(',USDC,1234.5,,1,');
  });

  it('sums neither different tokens with unknown contracts nor unknown amounts', async () => {
    const of = (tokenSymbol: string, value: string | null) => alertOf({ token: null, tokenSymbol, value });
    const alerts = [of('AAA', '5000000'), of('BBB', '7000000'), of('AAA', null), of('AAA', '1000000')];
    const [embed] = (await renderDigest(summed(alerts), 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    expect(read(embed!).split('\n').slice(6, 9)).toEqual([
      '📥 6 `AAA` in 2 transfers',
      '📥 7 `BBB` in 1 transfer',
      '📥 `AAA` in 1 transfer',
    ]);
  });

  it('lists as many tokens as fit, the busiest first, and counts the transfers of all others', async () => {
    const token = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;
    const of = (n: number, tokenSymbol: string) =>
      Array.from({ length: n }, () => alertOf({ token: token(n), tokenSymbol }));
    const rendered = async (symbol: (n: number) => string) => {
      const alerts = Array.from({ length: 14 }, (_, n) => of(n + 1, symbol(n + 1))).flat();
      const [embed] = (await renderDigest(alerts, 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
      expect(embed!.description!.length).toBeLessThanOrEqual(4_096);
      return [...embed!.description!.matchAll(/(?<=in )\d+(?= transfer)|^and .*$/gm)].map(([text]) => text);
    };
    expect(await rendered((n) => `T${n}`)).toEqual([
      ...Array.from({ length: 12 }, (_, n) => String(14 - n)),
      'and 3 transfers of other tokens',
    ]);
    const long = await rendered((n) => `${n}${'\u0915\u094d\u0915\u094d\u0915\u094d\u0915\u093e'.repeat(29)}`);
    const shown = long.slice(0, -1).map(Number);
    expect(shown).toEqual(shown.map((_, n) => 14 - n));
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.length).toBeLessThan(12);
    const rest = 105 - shown.reduce((sum, n) => sum + n, 0);
    expect(long.at(-1)).toBe(`and ${rest} transfers of other tokens`);
  });

  it('lets no sum of a token that claims 255 decimals crowd out the others', async () => {
    const odd = alertOf({ token: KEYS, tokenSymbol: 'ODD', value: '1', decimals: 255 });
    const [embed] = (await renderDigest(summed([odd]), 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    expect(read(embed!)).toContain('📥 `ODD` in 1 transfer');
  });

  it('lists no largest transfer in a digest of NFTs and zero amounts only', async () => {
    const alerts = [alertOf({ ...key('1'), kind: 'erc1155', value: '7' }), alertOf({ value: '0' })];
    const [embed] = (await renderDigest(alerts, 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    expect(embed!.fields).toBeUndefined();
  });

  it('warns of look-alikes with both addresses, and keeps suspects out of the sums', async () => {
    const like = `${ALICE.slice(0, 6)}${'5'.repeat(32)}${ALICE.slice(-4)}` as typeof ALICE;
    const lookAlike: Warning = { kind: 'look-alike', address: ALICE, like, label: 'Grants' };
    const [embed] = (
      await renderDigest(summed([...list, alertOf({}, { warnings: [lookAlike] })]), 'ABCDEFGHIJ', SETTINGS)
    ).payload.embeds!;
    const text = read(embed!);
    expect(embed!.color).toBe(0xffcc00);
    for (const part of ['Do not copy', checksumAddress(ALICE), checksumAddress(like), '⚠️ 📥 5 `USDC` in 1 transfer'])
      expect(text).toContain(part);
    expect(text).toContain('📥 18.5 `USDC` in 5 transfers');
    expect(embed!.fields![0]!.value.split('\n')).toHaveLength(4);
  });

  it('warns once of each other project that a digest’s events name, suspicious or not', async () => {
    const named = (projectId: string, ...more: Warning[]) =>
      alertOf({}, { warnings: [{ kind: 'other-project', projectId }, ...more] });
    const imitation: Warning = { kind: 'imitation', symbol: 'USDC', genuine: null };
    for (const alerts of [list, summed(list)]) {
      const warned = [...alerts, named('one'), named('one'), named('two', imitation)];
      const [embed] = (await renderDigest(warned, 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
      const projects = [...embed!.description!.matchAll(/^⚠️ \*\*This event names another project, `(\w+)`/gm)];
      expect(projects.map(([, id]) => id).toSorted()).toEqual(['one', 'two']);
    }
  });

  it('sums up a digest of ten transfers if their lines are too long for one message', async () => {
    const labels = { [ALICE]: 'A'.repeat(60), [TREASURY]: 'T'.repeat(60) };
    const ten = Array.from({ length: 10 }, () => alertOf({}, { labels }));
    const [embed] = (await renderDigest(ten, 'ABCDEFGHIJ', SETTINGS)).payload.embeds!;
    expect(embed!.description!.length).toBeLessThanOrEqual(4_096);
    expect(embed!.description).toContain('📥 50 `USDC` in 10 transfers');
    expect(embed!.fields).toHaveLength(1);
  });

  it('lists every transfer in a file when there are many, and no cell is a formula', async () => {
    const hostile = Array.from({ length: 501 }, () => alertOf({ tokenSymbol: '=HYPERLINK("x")' }));
    const { csv } = await renderDigest(hostile, 'ABCDEFGHIJ', SETTINGS);
    const rows = csv!.split('\r\n');
    expect(rows).toHaveLength(502);
    expect(rows[1]).toContain(`"'=HYPERLINK(""x"")"`);
    expect(rows[1]).toMatch(/,5,,1,incoming,$/);
    expect((await renderDigest(hostile.slice(1), 'ABCDEFGHIJ', SETTINGS)).csv).toBeNull();
  });

  it('fills a digest’s file up to Discord’s limit and leaves the rest to the next digest', async () => {
    // As long as a row can be: names are cut at 32 letters, which may bear seven accents each, and a token claims decimals.
    const tokenSymbol = `x${'\u0316'.repeat(7)}`.repeat(32);
    const long = alertOf({ tokenSymbol, decimals: 255 });
    const { csv, used, payload } = await renderDigest(Array(20_000).fill(long), 'ABCDEFGHIJ', SETTINGS);
    const bytes = Buffer.byteLength(csv!);
    expect(bytes).toBeGreaterThan(9_990_000);
    expect(bytes).toBeLessThan(10 * 1024 * 1024);
    expect(csv!.split('\r\n')).toHaveLength(1 + used);
    expect(payload.embeds![0]!.title).toBe(`🗂️ Digest · ${used.toLocaleString('en-US')} transfers`);
    const { used: all } = await renderDigest(Array(1_000).fill(long), 'ABCDEFGHIJ', SETTINGS);
    expect(all).toBe(1_000);
  });

  it('marks raw units and rounded IDs in a digest’s file, and shows pieces whatever decimals are claimed', async () => {
    const odd = [
      alertOf({ decimals: null }),
      alertOf({ ...key('7'), kind: 'erc1155', value: '12', decimals: 18 }),
      alertOf({ ...key('5.78e+76'), tokenIdExact: false }),
      ...Array.from({ length: 499 }, () => alertOf()),
    ];
    const rows = (await renderDigest(odd, 'ABCDEFGHIJ', SETTINGS)).csv!.split('\r\n');
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
    const { csv } = await renderDigest(
      Array.from({ length: 5_000 }, () => alertOf()),
      'ABCDEFGHIJ',
      SETTINGS,
    );
    clearImmediate(next);
    expect(csv!.split('\r\n')).toHaveLength(5_001);
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});
