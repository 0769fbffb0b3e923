import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderAgain, renderAlerts, renderPlain } from '../../src/discord/render/alert.ts';
import { renderDigest } from '../../src/discord/render/digest.ts';
import { sampleMessage } from '../../src/discord/render/sample.ts';
import { checksumAddress } from '../../src/domain/address.ts';
import type { Alert, Warning } from '../../src/domain/alert.ts';
import { DEFAULT_CHOICES, type Subscription } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import {
  ALICE,
  alertOf,
  BOB,
  COIN,
  KEYS,
  key,
  LIKE_ALICE,
  matchOf,
  PAYROLL,
  read,
  SETTINGS,
  TREASURY,
  USDC,
} from './alerts.ts';

const HASH = `0x${'a'.repeat(64)}`;
const render = (...alerts: Alert[]) => renderAlerts(SETTINGS, alerts, 'ABCDEFGHIJ', 0);
const embedsOf = (...alerts: Alert[]) => render(...alerts).payload.embeds!;
const times = (text: string, part: string) => text.split(part).length - 1;

describe('several transfers of one transaction', () => {
  it('renders several transfers of one transaction as one embed with block and fee once and every address in full', () => {
    const alerts = [
      alertOf({ txHash: HASH, from: TREASURY, to: ALICE, value: '1000000000' }),
      alertOf({ txHash: HASH, from: TREASURY, to: BOB, value: '500000000' }),
    ];
    const { payload, used } = render(...alerts);
    expect([used, payload.embeds!.length]).toEqual([2, 1]);
    const [embed] = payload.embeds!;
    expect(embed!.title).toBe('📤 Outgoing · 1,500 `USDC` in 2 transfers');
    expect(embed!.footer!.text).toBe('Watching Treasury (outgoing)');
    const text = read(embed!);
    for (const once of ['Block 1,234', 'Fee 0.000021', 'Transaction', checksumAddress(USDC)])
      expect(times(text, once)).toBe(1);
    for (const part of ['**1,000 `USDC`**', '**500 `USDC`**', checksumAddress(ALICE), checksumAddress(BOB)])
      expect(times(text, part)).toBe(1);
    // Facts that they share are shown once, above them.
    expect(text).toMatch(/^.*\n\*\*From\*\* Treasury\n`0x1{40}`\n\n📤/);
    expect(times(text, '**From**')).toBe(1);
  });

  it('shows the last block that a transaction was seen in after reorganizations', () => {
    const alerts = [1_235, 1_236].map((blockNumber) => alertOf({ txHash: HASH, blockNumber }, { reorganized: true }));
    expect(embedsOf(...alerts)[0]!.fields!.at(-1)!.value).toContain('Block 1,236 · ');
  });

  it('shows the fee in the coin that another transfer of the transaction names', () => {
    const alerts = [alertOf({ txHash: HASH }), alertOf({ txHash: HASH, ...COIN })];
    expect(embedsOf(...alerts)[0]!.fields!.at(-1)!.value).toContain('Fee 0.000021 ETH');
  });

  it('sums no transfers of different tokens, whichever comes first', () => {
    const apes = alertOf({ txHash: HASH, ...key('1'), token: USDC, tokenName: 'Apes' });
    for (const other of [alertOf({ txHash: HASH, token: BOB }), alertOf({ txHash: HASH, ...key('2') })])
      for (const alerts of [
        [apes, other],
        [other, apes],
      ])
        expect(embedsOf(...alerts)[0]!.title).toBe('📥 Incoming · 2 transfers in one transaction');
  });

  it.each<[string, Partial<Transfer>[]]>([
    ['🧾 2 transfers in one transaction', [{}, { from: TREASURY, to: PAYROLL }]],
    ['📥 Incoming · 2 × `Harbor Keys` in 2 transfers', [key('1'), key('2')]],
    // An ERC-20 transfer with a token ID is an amount.
    ['📥 Incoming · 5 `USDC`', [{ tokenId: '1' }]],
    ['📥 Incoming · 15 `USDC` in 3 transfers', ['1', '2', '3'].map((tokenId) => ({ tokenId }))],
  ])('titles a transaction with what it moved: %s', (title, transfers) => {
    expect(embedsOf(...transfers.map((one) => alertOf({ txHash: HASH, ...one })))[0]!.title).toBe(title);
  });

  it('renders transactions in one message, wherever their transfers are in the queue', () => {
    const { payload, used } = render(alertOf({ txHash: HASH }), alertOf(), alertOf({ txHash: HASH, from: BOB }));
    expect(used).toBe(3);
    expect(payload.embeds!.map(({ title }) => title)).toEqual([
      '📥 Incoming · 10 `USDC` in 2 transfers',
      '📥 Incoming · 5 `USDC`',
    ]);
  });

  it('sums up the transfers of a large transaction, which fits into one message', () => {
    const many = Array.from({ length: 300 }, (_, n) => alertOf({ txHash: HASH, value: `${n + 1}000000`, from: BOB }));
    const { payload, used } = render(...many);
    expect(used).toBe(300);
    expect(read(payload.embeds![0]!)).toContain('45,150 `USDC` in 300 transfers');
  });
});

it('keeps all alerts of a message that is rendered again with longer names, and drops links instead', () => {
  const alerts = Array.from({ length: 30 }, () => alertOf({}));
  const { used, payload } = renderAlerts(SETTINGS, alerts, 'ABCDEFGHIJ', 0);
  const labels = { [ALICE]: 'A'.repeat(60), [TREASURY]: 'T'.repeat(60), [USDC]: 'U'.repeat(60) };
  const renamed = alerts.slice(0, used).map((alert) => ({ ...alert, labels, reorganized: true }));
  const again = renderAgain(SETTINGS, renamed, 'ABCDEFGHIJ', JSON.stringify(payload));
  expect([again.used, again.payload.embeds!.length]).toEqual([used, payload.embeds!.length]);
  expect(again.payload.embeds![0]!.description).toContain(labels[ALICE]);
  expect(again.payload.embeds!.map(({ url }) => url)).toEqual(payload.embeds!.map(({ url }) => url));
});

it('shows every alert in exactly one embed, whatever shares a transaction and a message', () => {
  const other = (n: number) => `0x${(n + 1).toString(16).padStart(40, '9')}` as const;
  const kinds = [{}, COIN, key('7'), { decimals: null }, { value: '9'.repeat(78), tokenSymbol: 'W'.repeat(300) }];
  const transfers = fc.array(
    fc.record({ hash: fc.nat(4), kind: fc.nat(kinds.length - 1), out: fc.boolean(), count: fc.constantFrom(1, 2) }),
    { minLength: 1, maxLength: 70 },
  );
  fc.assert(
    fc.property(transfers, (list) => {
      const left = list.map(({ hash, kind, out, count }, n) => {
        const sides = out ? { from: TREASURY, to: other(n) } : { from: other(n), to: TREASURY };
        return alertOf({ ...kinds[kind]!, ...sides, txHash: `0x${String(hash).repeat(64)}` }, { count });
      });
      const reported: string[] = [];
      while (left.length > 0) {
        const { payload, used } = render(...left);
        const embeds = payload.embeds!;
        reported.push(...embeds.map(read));
        expect(embeds.length).toBeLessThanOrEqual(10);
        expect(used).toBeGreaterThan(0);
        left.splice(0, used);
      }
      const text = reported.join('\n');
      // A sweep names five of its senders and counts the others.
      const unnamed = [...text.matchAll(/and ([\d,]+) more/g)].reduce((sum, [, more]) => sum + Number(more), 0);
      const named = list.map((_, n) => times(text, `\`${checksumAddress(other(n))}\``));
      expect(Math.max(...named)).toBe(1);
      expect(named.filter((n) => n === 0).length).toBe(unnamed);
    }),
    { numRuns: 60 },
  );
});

it('shows a swap as a swap, with what went where, in the order of its title however it arrived', () => {
  const [embed] = embedsOf(
    alertOf({ txHash: HASH, ...key('7'), from: ALICE }),
    alertOf({ txHash: HASH, from: TREASURY, to: ALICE, value: '1200000000' }),
  );
  expect(embed!.title).toBe('🔄 Swap · 1,200 `USDC` → `Harbor Keys` #7');
  expect(read(embed!)).toContain(`**Wallet** Treasury\n\`${checksumAddress(TREASURY)}\``);
  expect(read(embed!)).toContain(`**With**\n\`${checksumAddress(ALICE)}\``);
  const tokens = embed!.fields!.map(({ value }) => /^`[^`]*`/.exec(value)?.[0]);
  expect(tokens.slice(0, 2)).toEqual(['`USD Coin`', '`Harbor Keys`']);
});

it('shows every digit of a plain-text alert raw in any language, and a token ID as one', () => {
  // As long as both can be: 78 digits.
  const huge = String(2n ** 256n - 1n);
  const several: Partial<Transfer> = { ...key(huge), kind: 'erc1155', value: huge };
  const reported = [{ value: huge }, key('7'), several].map(
    (one) => renderPlain(alertOf(one, { language: 'de' }), 'ABCDEFGHIJ').content!,
  );
  expect(reported.map((text) => /`([^`]*)` \(\S+\)/.exec(text)![1])).toEqual([huge, '#7', `${huge} × #${huge}`]);
});

it('shows a sweep as one line with a count, its IDs and both parties', () => {
  const ids = ['3', '1', '2', '10', `9${'0'.repeat(70)}`];
  const { payload, used } = render(...ids.map((id) => alertOf({ txHash: HASH, ...key(id) })));
  expect(used).toBe(5);
  expect(payload.embeds![0]!.title).toBe('📥 Incoming · 5 × `Harbor Keys`');
  expect(payload.embeds![0]!.description).toContain('#1–#3, #10, #90000000…00000000');
  for (const part of [ALICE, TREASURY, KEYS]) expect(read(payload.embeds![0]!)).toContain(checksumAddress(part));
});

describe('self-transfers, mints and burns', () => {
  const ZERO = `0x${'0'.repeat(40)}` as const;
  it.each<[string, Partial<Transfer>, string, string]>([
    ['to oneself', { from: TREASURY, to: TREASURY }, '↩️ Self-transfer', '**From** Treasury'],
    ['newly minted', { from: ZERO }, '✨ Mint', '**From** the zero address (newly minted)\n**To** Treasury'],
    ['burned', { from: TREASURY, to: ZERO }, '🔥 Burn', '\n**To** the zero address (burned)'],
    ['from an unknown sender', { from: null }, '📥 Incoming', '**From** unknown\n**To** Treasury'],
  ])('shows the kind of a transfer in its title: %s', (_name, transfer, title, words) => {
    const [embed] = embedsOf(alertOf(transfer));
    expect(embed!.title).toBe(`${title} · 5 \`USDC\``);
    expect(read(embed!)).toContain(words);
    expect(renderPlain(alertOf(transfer), 'ABCDEFGHIJ').content).toContain(`${title} · \`5000000\` (raw)`);
  });

  it('shows a transfer to a subscription that watches its token', () => {
    const [embed] = embedsOf(alertOf({ to: BOB }, { matches: [{ ...matchOf(USDC, 'token'), label: 'Dollar' }] }));
    expect(embed!.title).toBe('🪙 Token transfer · 5 `USDC`');
    expect(embed!.footer!.text).toBe('Watching Dollar (token)');
  });
});

it('shows a token ID that is too long for its line in full below', () => {
  const id = '1234567890'.repeat(7);
  const of = (tokenId: string) => embedsOf(alertOf(key(tokenId)))[0]!;
  expect(of(id).title).toBe('📥 Incoming · `Harbor Keys` #12345678…34567890');
  expect(of(id).fields).toContainEqual({ name: 'Token ID', value: `\`${id}\`` });
  const short = of(id.slice(0, 24));
  expect(short.title).toBe(`📥 Incoming · \`Harbor Keys\` #${id.slice(0, 24)}`);
  expect(short.fields!.map(({ name }) => name)).toEqual(['Token', 'Transaction']);
});

it('shows a move between two watched wallets as one line', () => {
  const [embed] = embedsOf(alertOf({ from: TREASURY, to: PAYROLL }));
  expect(embed!.title).toBe('🔁 Between watched wallets · 5 `USDC`');
  expect(embed!.description).toContain('Treasury → Payroll, both watched');
  for (const part of [TREASURY, PAYROLL]) expect(embed!.description).toContain(`\`${checksumAddress(part)}\``);
});

it('shows names of the server’s address book next to the full address, before a subscription’s label', () => {
  const labels = { [ALICE]: 'Alice [x](y)', [TREASURY]: 'Main safe', [USDC]: 'Dollar' };
  const [embed] = embedsOf(alertOf({}, { labels }));
  const text = read(embed!);
  expect(text).toContain(`**From** \`Alice [x](y)\`\n\`${checksumAddress(ALICE)}\``);
  expect(text).toContain(`**To** Main safe\n\`${checksumAddress(TREASURY)}\``);
  expect(text).toContain(`Dollar · \`USD Coin\`\n\`${checksumAddress(USDC)}\``);
  expect(embed!.footer!.text).toContain('Treasury (incoming)');
});

describe('warnings', () => {
  const embedWith = (warning: Warning) => embedsOf(alertOf({}, { warnings: [warning] }))[0]!;
  const lookAlike = (label: string | null): Warning => ({
    kind: 'look-alike',
    address: ALICE,
    like: LIKE_ALICE,
    label,
  });

  it('shows a warning about a look-alike at the top, with both addresses in full and the difference', () => {
    const embed = embedWith(lookAlike('Grants'));
    expect(embed.title).toMatch(/^⚠️ Look-alike address! 📥 Incoming/);
    expect(embed.color).toBe(0xffcc00);
    const lines = read(embed).split('\n').slice(1);
    expect(lines[0]).toBe('⚠️ **LOOK-ALIKE: do not copy this address!**');
    const top = lines.slice(0, 7).join('\n');
    expect(top).toContain(`\`${checksumAddress(ALICE)}\``);
    expect(top).toContain(`· Grants\n\`${checksumAddress(LIKE_ALICE)}\``);
    expect(top).toContain(`\n\`…${checksumAddress(ALICE).slice(6, 14)}…\` is not \`…55555555…\``);
  });

  it('marks a look-alike in its place without a link, and links the other side', () => {
    const { description } = embedWith(lookAlike(null));
    const link = (address: string) => `https://explorer.example/address/${checksumAddress(address as typeof ALICE)}`;
    expect(description).toContain(`\n\n**From** ⚠️\n-# \`${checksumAddress(ALICE)}\`\n**To** Treasury\n`);
    expect(description).not.toContain(link(ALICE));
    for (const address of [TREASURY, LIKE_ALICE]) expect(description).toContain(link(address));
  });

  it('marks an event of another project in the title and at the top, with the project’s ID only as code', () => {
    const embed = embedWith({ kind: 'other-project', projectId: '[click](https://evil.example)' });
    expect([embed.title, embed.color]).toEqual(['⚠️ 📥 Incoming · 5 `USDC`', 0xffcc00]);
    expect(embed.description).toMatch(/^⚠️ \*\*This event names another project, `[^`]+`\. Check who sent it\.\*\*/);
    expect(embed.description).not.toContain('https://evil');
  });

  it('marks an imitation in the title, and shows three pairs of many look-alikes', () => {
    const imitation = embedWith({ kind: 'imitation', symbol: 'USDC', genuine: KEYS });
    expect([imitation.title, imitation.color]).toEqual(['⚠️ Imitation! 📥 Incoming · 5 `USDC`', 0xffcc00]);
    const pair = (n: number): Warning => ({
      kind: 'look-alike',
      address: `0x${String(n).repeat(40)}`,
      like: ALICE,
      label: null,
    });
    const [embed] = embedsOf(alertOf({}, { warnings: [4, 5, 6, 7].map(pair) }));
    expect(times(embed!.description!, 'The look-alike')).toBe(3);
  });

  it.each<[string, Warning, string]>([
    [
      'an imitation',
      { kind: 'imitation', symbol: 'USDC', genuine: KEYS },
      `⚠️ **This token only calls itself \`USDC\`. The known one is \`${checksumAddress(KEYS)}\`.**`,
    ],
    [
      'an imitated coin',
      { kind: 'imitation', symbol: 'ETH', genuine: null },
      '⚠️ **This token only calls itself `ETH`. The real one is the chain’s native coin, not a token.**',
    ],
    ['late', { kind: 'late', ms: 2 * 3_600_000 }, '-# Arrived 2 hr late.'],
    ['very late', { kind: 'late', ms: 26.5 * 3_600_000 }, '-# Arrived 1 day, 2 hr late.'],
  ])('shows a warning in a line of its own: %s', (_name, warning, words) => {
    expect(embedWith(warning).description!.split('\n')).toContain(words);
  });

  it.each<[string, Alert, string]>([
    [
      'is in another block after a reorganization',
      alertOf({}, { reorganized: true }),
      '-# The chain was reorganized. The transaction is now in block 1,234.',
    ],
    [
      'left and could not be checked',
      alertOf({ from: TREASURY, to: BOB }, { warnings: [{ kind: 'unchecked' }] }),
      '-# This token could not be checked in the explorer.',
    ],
    [
      'has a rounded token ID',
      alertOf({ ...key('5.78e+76'), tokenIdExact: false }),
      '-# The token ID was already rounded when it arrived.',
    ],
    [
      'has unknown decimals',
      alertOf({ decimals: null }),
      '-# The token’s decimals are unknown, so this is the amount in its smallest unit.',
    ],
    [
      'occurs several times',
      alertOf({}, { count: 3 }),
      '-# Seen 3 times in this transaction, so it counts as 3 identical transfers.',
    ],
    [
      'has a new token type',
      alertOf({ kind: 'unknown', tokenType: 'ERC-9999' }),
      '-# This bot doesn’t know the token type `ERC-9999` yet. Check the transaction.',
    ],
    ['a contract made', alertOf({ internal: true }), '-# A contract was involved in this transfer.'],
  ])('explains in one line a transfer that %s', (_name, alert, words) => {
    expect(embedsOf(alert)[0]!.description!.split('\n')).toContain(words);
  });

  it('shows warnings and numbers in the server’s language', () => {
    const [embed] = embedsOf(alertOf({}, { warnings: [{ kind: 'late', ms: 2 * 3_600_000 }], language: 'de' }));
    expect(embed!.description).toContain('2 Std.');
    const [large] = embedsOf(alertOf({ value: '1234567891000' }, { language: 'de' }));
    expect(large!.title).toContain(' 1.234.567,891 `USDC`');
    expect(read(large!)).toMatch(/Block 1\.234 · Gebühr 0,000021 /);
    const [moved] = embedsOf(alertOf({ from: TREASURY, to: PAYROLL }, { language: 'ja' }));
    expect(moved!.footer!.text).toMatch(/^監視中：Treasury（出金）、Payroll（入金）$/u);
  });

  it('keeps warnings at their own transfer in a group, also in plain text', () => {
    const alerts = [
      alertOf({ txHash: HASH }),
      alertOf({ txHash: HASH, value: '0' }, { warnings: [lookAlike(null), { kind: 'uncataloged' }] }),
    ];
    const [embed] = embedsOf(...alerts);
    expect(embed!.description).toMatch(/^⚠️ \*\*LOOK-ALIKE/);
    expect(embed!.description).toMatch(/\*\*5 `USDC`\*\*\n\n.*\*\*0 `USDC`\*\*\n-# This token/);
    const { content } = renderPlain(alerts[1]!, 'ABCDEFGHIJ');
    for (const part of [checksumAddress(ALICE), checksumAddress(LIKE_ALICE), 'LOOK-ALIKE'])
      expect(content).toContain(part);
  });
});

it('shows what a card’s transfer is worth above the rest, in the server’s language', () => {
  const lines = (language: string) => embedsOf(alertOf({ price: '2000.5' }, { language }))[0]!.description!.split('\n');
  expect(lines('en-US').slice(0, 2)).toEqual(['≈\u00a0$10,003', '**From**']);
  expect(lines('de')[0]).toBe('≈\u00a010.003\u00a0$');
});

it.each<[Partial<Subscription>, string, string[]]>([
  [{}, '📥 Incoming · 1,234.5 native coin', [ALICE]],
  [{ kind: 'native', direction: 'outgoing' }, '📤 Outgoing · 1,234.5 native coin', [ALICE]],
  [{ kind: 'erc20', direction: 'incoming' }, '📥 Incoming · 1,234.5 `SAMPLE`', [ALICE]],
  [{ token: USDC }, '📥 Incoming · 1,234.5 `SAMPLE`', [ALICE, USDC]],
  [{ kind: 'nft' }, '📥 Incoming · `Sample token` #42', [ALICE]],
  [{ kind: 'nft', direction: 'outgoing', token: KEYS }, '📤 Outgoing · `Sample token` #42', [ALICE, KEYS]],
])('renders a sample as the subscription would be alerted: %o', (changed, title, addresses) => {
  const subscription = { ...DEFAULT_CHOICES, id: 1, guildId: '1', channelId: '2', address: ALICE, ...changed };
  const server = { language: null, style: 'full' as const };
  const [embed] = sampleMessage(subscription as Subscription, SETTINGS, 0, server).embeds!;
  expect(embed!.title).toBe(`🧪 SAMPLE · ${title}`);
  const side = changed.direction === 'outgoing' ? 'From' : 'To';
  expect(read(embed!)).toContain(`**${side}**\n\`${checksumAddress(ALICE)}\``);
  for (const one of addresses) expect(times(read(embed!), checksumAddress(one as typeof USDC))).toBe(1);
});

describe('every message', async () => {
  const alert = alertOf({}, { matches: [matchOf(TREASURY, 'incoming', 1, '42')] });
  const messages = {
    lines: renderAlerts(SETTINGS, [alert], 'ABCDEFGHIJ', 0).payload,
    plain: renderPlain(alert, 'ABCDEFGHIJ'),
    digest: (await renderDigest(SETTINGS, [alert], 'ABCDEFGHIJ')).payload,
  };

  it.each(Object.entries(messages))('puts the button that explains it on every message: %s', (_name, payload) => {
    expect(payload.components).toEqual([
      { type: 1, components: [{ type: 2, style: 2, label: 'Details', custom_id: 'why:show:ABCDEFGHIJ' }] },
    ]);
  });

  it('mentions the subscriptions’ roles and nobody else in every message', () => {
    expect(messages.lines.allowed_mentions).toEqual({ parse: [], roles: ['42'] });
    expect(messages.plain.allowed_mentions).toEqual({ parse: [] });
    expect(messages.digest.allowed_mentions).toEqual({ parse: [] });
  });
});
