import { expect, it } from 'vitest';
import { channelForNotices, type UsedChannel } from '../../src/domain/channel.ts';

const one = (channelId: string, state: UsedChannel['state'] = 'ready'): UsedChannel => ({ channelId, state });

it('notifies admins of trouble in the default channel, or else in another one that is not blocked', () => {
  const place = (chosen: UsedChannel | null, ...used: UsedChannel[]) => channelForNotices('trouble', { chosen, used });
  expect(place(one('chosen'), one('used'))).toBe('chosen');
  expect(place(one('chosen', null), one('used'))).toBe('chosen');
  expect(place(one('chosen', 'parked'), one('used'))).toBe('used');
  expect(place(one('trouble'), one('trouble'), one('used'))).toBe('used');
  expect(place(null, one('gone', 'unreachable'), one('new', null), one('used'))).toBe('used');
  expect(place(null, one('new', null), one('newer', null))).toBe('new');
  expect(place(null, one('trouble'), one('gone', 'unreachable'))).toBeNull();
});
