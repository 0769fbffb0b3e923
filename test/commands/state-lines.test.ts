import { expect, it } from 'vitest';
import { completenessLines } from '../../commands/shared/state-lines.ts';
import type { Completeness } from '../../src/domain/completeness.ts';
import { translator } from '../../src/languages/index.ts';

const NOW = 1_800_000_000_000;

it('shows up to which block everything is complete, and all that is not', () => {
  const all: Completeness = {
    network: 'harbor',
    title: 'Harbor',
    block: 7,
    blockAt: NOW,
    hasTraces: false,
    trouble: { since: NOW, reason: 'away' },
    unchecked: [{ after: 2, upTo: 4, reason: 'pruned', at: 0 }],
  };
  const linesOf = (one: Completeness) => completenessLines(translator('en-US'), one);
  expect(linesOf(all)).toEqual({
    complete: expect.stringMatching(/^\*\*Harbor\*\*: Complete up to block 7 \(<t:.*\), except/),
    open: ['The node does not respond', 'Not completely checked: blocks 3 to 4', 'The node has no traces'].map(
      (begin) => expect.stringContaining(`**Harbor**: ${begin}`),
    ),
  });
  const many = [1, 11, 21, 31].map((after) => ({ after, upTo: after + 1, reason: 'refused' as const, at: 0 }));
  const [last, , , more] = linesOf({ ...all, trouble: null, unchecked: many }).open;
  expect([last, more]).toEqual([expect.stringContaining('blocks 32 to 32'), expect.stringContaining('1 more')]);
  const fine = { trouble: null, unchecked: [], hasTraces: true };
  expect(linesOf({ ...all, ...fine })).toEqual({ complete: expect.stringMatching(/:R>\)$/), open: [] });
  expect(linesOf({ ...all, ...fine, block: null, blockAt: null })).toEqual({
    complete: null,
    open: [expect.stringContaining('nothing is checked yet')],
  });
});
