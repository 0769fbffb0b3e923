import { expect, it } from 'vitest';
import { comparedIn, routedIn } from '../../sandbox/routed.ts';
import activity from '../../src/languages/en-US/activity.json' with { type: 'json' };

it('names every reason that hid a transaction as /activity does', () => {
  const hidden = Object.fromEntries(Object.keys(activity.reason).map((reason) => [reason, 1]));
  const line = JSON.stringify({ msg: 'routed', time: 1, tx: '0x12', alerts: 0, hidden });
  expect(routedIn(line)).toEqual({ txHash: '0x12', at: null, hidden: Object.values(activity.reason) });
});

it('counts what the bot found on the chain, and what it did not', () => {
  const found = { network: '', found: 12, msg: 'found transfers on the chain that were not delivered' };
  const absent = { network: '', transfers: 3, msg: 'the chain does not have transfers that were delivered' };
  expect(comparedIn(JSON.stringify(found))).toEqual({ found: 12, marked: 0 });
  expect(comparedIn(JSON.stringify(absent))).toEqual({ found: 0, marked: 3 });
  expect(comparedIn(JSON.stringify({ ...found, msg: 'routed' }))).toEqual({ found: 0, marked: 0 });
});
