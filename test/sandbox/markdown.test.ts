import { expect, it } from 'vitest';
import { readMarkdown } from '../../sandbox/page/client/markdown.ts';

const text = (text: string) => ({ type: 'text', children: [{ type: 'text', text }] });
const subtext = (text: string) => ({ type: 'subtext', children: [{ type: 'text', text }] });

it('shows an empty line below small text, as Discord does', () => {
  expect(readMarkdown('above\n-# small\n\nbelow\n')).toEqual([text('above'), subtext('small'), text('\nbelow')]);
  expect(readMarkdown('-# small\nbelow')).toEqual([subtext('small'), text('below')]);
});

it('quotes single lines after > and everything after >>>', () => {
  expect(readMarkdown('> one\ntwo')).toEqual([{ type: 'quote', children: [text('one')] }, text('two')]);
  expect(readMarkdown('>>> one\ntwo')).toEqual([{ type: 'quote', children: [text('one\ntwo')] }]);
});

it('keeps Markdown inside of code as text', () => {
  expect(readMarkdown('**`0x**`**')).toEqual([
    { type: 'text', children: [{ type: 'strong', children: [{ type: 'code', text: '0x**' }] }] },
  ]);
});
