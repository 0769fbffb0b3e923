import { expect, it } from 'vitest';
import { readMarkdown } from '../../sandbox/page/client/markdown.ts';

const text = (text: string) => ({ type: 'text', children: [{ type: 'text', text }] });
const subtext = (text: string) => ({ type: 'subtext', children: [{ type: 'text', text }] });

it('an empty line below small text is seen, as in Discord', () => {
  expect(readMarkdown('above\n-# small\n\nbelow\n')).toEqual([text('above'), subtext('small'), text('\nbelow')]);
  expect(readMarkdown('-# small\nbelow')).toEqual([subtext('small'), text('below')]);
});
