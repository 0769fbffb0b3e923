import { expect, it } from 'vitest';
import { routedIn } from '../../sandbox/routed.ts';
import activity from '../../src/languages/en-US/activity.json' with { type: 'json' };

it('names every reason that hid a transaction as /activity does', () => {
  const hidden = Object.fromEntries(Object.keys(activity.reason).map((reason) => [reason, 1]));
  const line = JSON.stringify({ msg: 'routed', time: 1, tx: '0x12', alerts: 0, hidden });
  expect(routedIn(line)).toEqual({ txHash: '0x12', at: null, hidden: Object.values(activity.reason) });
});
