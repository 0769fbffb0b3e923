import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Inline, readInline, readMarkdown } from '../../sandbox/page/client/markdown.ts';
import {
  asLabel,
  asName,
  asSymbol,
  cutTo,
  editDistance,
  halfWidth,
  inCode,
  isLinkable,
  linkText,
  plainText,
} from '../../src/domain/text.ts';
import { NAUGHTY } from '../fuzz/naughty.ts';

const HIDDEN = '`(name hidden: looks like a link)`';

/** A name is text or code, whatever Discord's Markdown makes of what stands around it. */
function expectHarmless(name: string): void {
  // The isolates around right-to-left text are invisible.
  const shown = asName(name, 'nobody').replace(/[\u2068\u2069]/g, '');
  const isText = ([only, ...others]: Inline[]) => others.length === 0 && ['text', 'code'].includes(only!.type);
  const inside = (nodes: Inline[], type: string): Inline[] =>
    nodes.flatMap((node) => (node.type === type && 'children' in node ? node.children : []));
  expect(isText(readInline(shown)), shown).toBe(true);
  // At the start of a line, in bold, and in the text of a link.
  const [block, ...more] = readMarkdown(`${shown} is here`);
  expect([block!.type, more], shown).toEqual(['text', []]);
  expect(isText(inside(readInline(`**${shown}** +5`), 'strong')), shown).toBe(true);
  const linked = readInline(`📥 [**${linkText(shown)}**](https://explorer.example/x) +5`);
  expect(linked.map(({ type }) => type)).toEqual(['text', 'link', 'text']);
  expect(isText(inside(inside(linked, 'link'), 'strong')), shown).toBe(true);
}

it('shows every hostile name as text or code', () => {
  for (const name of NAUGHTY) expectHarmless(String(name));
});

it('shows any name as text or code, whatever its characters', () => {
  const signs = fc.constantFrom(...Array.from('ab1 -.,!?()[]<>@#:/*_~|`$%&+\'"\\{}=^éß漢١'));
  fc.assert(fc.property(fc.string({ unit: signs, minLength: 1, maxLength: 20 }), expectHarmless), { numRuns: 2_000 });
});

it.each([
  ['vitalik.eth', 'vitalik.eth'],
  ['Ops (pay.treasury.eth), cold', 'Ops (pay.treasury.eth), cold'],
  ['pay_1.dao.eth', '`pay_1.dao.eth`'],
  ['evil.com', HIDDEN],
  ['x.eth.link', HIDDEN],
  ['https://vitalik.eth', HIDDEN],
  ['vitalik.eth/claim', HIDDEN],
  ['vitalik.eth evil.com', HIDDEN],
  ['vitalik.eth\u200b.link', HIDDEN],
  ['www.evil.eth', HIDDEN],
])('shows the label %j as %s', (label, shown) => {
  expect(asLabel(label, 'nobody', 60)).toBe(shown);
});

it.each([asName, asSymbol, inCode])('hides an ENS name that is no label', (show) => {
  expect(show('vitalik.eth', 'nobody')).toBe(HIDDEN);
});

const same = (name: string) => [name, name];

it.each([
  ...['Treasury', 'Ops & payroll (hot), no. 2', 'Größe', '国庫', 'G$', '🏦 Treasury', 'Ops / Payroll'].map(same),
  ...['Cold: vault', 'Swap A/B', 'Crew 👩🏽', '👩‍💻 Payroll'].map(same),
  ...['👨‍👩‍👧‍👦 family', 'Black 🏴‍☠️ chest', 'Wallet #3', 'Ops; EU', 'Ops — EU', 'The "old" one'].map(same),
  ['<:x:1>', '`<:x:1>`'],
  ['://x', HIDDEN],
  ['-list', '`-list`'],
  [':', '`:`'],
  ['*bold*', '`*bold*`'],
  ['a_b', '`a_b`'],
  ['- list', '`- list`'],
  ['1. first', '`1. first`'],
  ['@everyone', HIDDEN],
  ['pay.example', HIDDEN],
  ['', 'nobody'],
])('shows the name %j as %s', (name, shown) => {
  expect(asName(name, 'nobody')).toBe(shown);
});

it.each([
  ['USDC', 'USDC'],
  ['G$', 'G$'],
  ['5 USDC', '`5 USDC`'],
  ['7USDC', '`7USDC`'],
  ['*USDC*', '`*USDC*`'],
])('shows the cataloged symbol %j as %s', (symbol, shown) => {
  expect(asSymbol(symbol, 'nothing')).toBe(shown);
});

it('cuts a text at whole characters, closes its code, and isolates right-to-left names', () => {
  expect(cutTo('12345', 5)).toBe('12345');
  expect(cutTo('123456', 5)).toBe('123…');
  expect(cutTo('5 `ABCDEF`', 8)).toBe('5 `ABC…`');
  expect(cutTo('12😀456', 5)).toBe('12…');
  expect(cutTo('5 \u2068`دولار`\u2069 · 0x12', 10)).toBe('5 \u2068`دول…`\u2069');
  expect(cutTo('5 \u2068`د`\u2069 · 0x12', 10)).toBe('5 \u2068`د`\u2069…');
});

it('never cuts a surrogate pair', () => {
  // Jamo and marks join into one grapheme of any length.
  const unit = fc.constantFrom('ᄀ', '\u{1e8d0}', '😀', 'a', '\u2068', '\ud83a', '\udcd0');
  const text = fc.string({ unit, maxLength: 40, size: 'max' });
  const joined = `${'ᄀ'.repeat(7)}\u{1e8d0}`;
  fc.assert(
    fc.property(text, fc.integer({ min: 3, max: 40 }), (name, max) => {
      const plain = plainText(name, max) ?? '';
      expect(plain.isWellFormed()).toBe(true);
      expect(cutTo(plain, max).isWellFormed()).toBe(true);
    }),
    { examples: [[joined, 32]], numRuns: 1_000 },
  );
});

describe('text from the chain', () => {
  it.each([
    ['USDC', '`USDC`'],
    ['**bold** [x](y)', '`**bold** [x](y)`'],
    ['a`b``c', '`aˋbˋˋc`'],
    ['line\nbreak', '`line break`'],
    ['\u202egpj.exe', HIDDEN],
    ['visit https://evil.example', HIDDEN],
    ['claim at evil.com', HIDDEN],
    ['ｅｖｉｌ．ｃｏｍ', HIDDEN],
    ['e\u200bvil.c\u200bom', HIDDEN],
    ['@everyone', HIDDEN],
    // Text this far in is neither shown nor examined: there may be a megabyte of it.
    [`${'many words '.repeat(100)}https://evil.example`, '`many words many words many words…`'],
    ['\u200b\u2800', 'none'],
    ['', 'none'],
    [null, 'none'],
    ['evil\u034f.com', HIDDEN],
    ['evil.c\ufe0fom', HIDDEN],
    ['नमस्ते.भारत', HIDDEN],
    ['\ufe0f\u034f \u17b4', 'none'],
    ['x\u0323\u0330\u0331', '`x\u0323\u0330\u0331`'],
    [`x${'\u0330\u0331'.repeat(6)}y\u0330`, '`x\u0330\u0331\u0330y\u0330`'],
    // Nothing in between begins a new letter.
    ['x\u0330\u0331\u0330\u200b\u034f\u0331\u0330', '`x\u0330\u0331\u0330`'],
    ['นี้', '`นี้`'],
    // Isolated, so that it does not reorder what is next to it.
    ['دولار', '\u2068`دولار`\u2069'],
    ['שקל 12', '\u2068`שקל 12`\u2069'],
    ['\u2067x\u2069دولار\u202e', '\u2068`xدولار`\u2069'],
  ])('shows the chain’s text %j as %s', (text, shown) => {
    expect(inCode(text, 'none')).toBe(shown);
  });

  it('never shows a name longer than 32 graphemes or outside its code', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const shown = inCode(text, '`none`').replace(/^\u2068(.*)\u2069$/, '$1');
        expect(shown.slice(1, -1)).not.toMatch(/[`\n\r\u202a-\u202e\u2066-\u2069\u200b]/);
        expect([...new Intl.Segmenter().segment(shown)].length).toBeLessThanOrEqual(40);
      }),
    );
  });
});

it.each([
  ['https://explorer.example/tx/1', true],
  ['http://a-b.c.xn--p1ai:4000', true],
  ['http://localhost:4000', true],
  ['http://10.0.0.1', true],
  ['http://explorer:4000', false],
  ['http://[::1]:4000', false],
  ['http://my_host.example', false],
  ['explorer.example', false],
])('decides whether Discord accepts a link to %s: %s', (url, taken) => {
  expect(isLinkable(url)).toBe(taken);
});

it.each([
  ['', '', 0],
  ['alerts', 'alerts', 0],
  ['alerts', 'alert', 1],
  ['alerts', 'alarts', 1],
  ['alerts', 'aalerts', 1],
  ['alerts', 'laerts', 2],
  ['abc', 'xyz', 3],
  ['', 'abc', 3],
  ['abcd', '', Number.POSITIVE_INFINITY],
])('counts the letters by which %j and %j differ: %s', (a, b, letters) => {
  expect([editDistance(a, b, 3), editDistance(b, a, 3)]).toEqual([letters, letters]);
});

it('reads the signs of a Japanese keyboard as ASCII', () => {
  expect(halfWidth('０．５Ａ～！ 円')).toBe('0.5A~! 円');
});
