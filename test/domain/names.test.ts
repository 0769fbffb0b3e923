import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boldName } from '../../commands/shared/naming.ts';
import { type Inline, readInline, readMarkdown } from '../../sandbox/page/client/markdown.ts';
import { asName, asSymbol, linkText } from '../../src/domain/text.ts';
import { NAUGHTY } from '../fuzz/naughty.ts';

/** A name is text or code, whatever Discord's Markdown makes of what stands around it. */
function expectHarmless(name: string): void {
  // The marks around what is written from right to left show nothing.
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

it('shows whatever a name may be as text or code', () => {
  const signs = fc.constantFrom(...Array.from('ab1 -.,!?()[]<>@#:/*_~|`$%&+\'"\\{}=^éß漢١'));
  fc.assert(fc.property(fc.string({ unit: signs, minLength: 1, maxLength: 20 }), expectHarmless), { numRuns: 2_000 });
});

it.each([
  ['Treasury', 'Treasury'],
  ['Ops & payroll (hot), no. 2', 'Ops & payroll (hot), no. 2'],
  ['Größe', 'Größe'],
  ['国庫', '国庫'],
  ['G$', 'G$'],
  ['*bold*', '`*bold*`'],
  ['a_b', '`a_b`'],
  ['- list', '`- list`'],
  ['1. first', '`1. first`'],
  ['@everyone', '`(name hidden: looks like a link)`'],
  ['pay.example', '`(name hidden: looks like a link)`'],
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

it('shows a label in bold between other words, and a missing one as its fallback', () => {
  expect(boldName('Treasury', '#1')).toBe('**Treasury**');
  expect(boldName('*Treasury*', '#1')).toBe('**`*Treasury*`**');
  expect([boldName(null, '#1'), boldName('\u200b', '#1')]).toEqual(['#1', '#1']);
});
