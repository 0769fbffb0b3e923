import { expect, it } from 'vitest';
import { compose, type Renderers } from '../../src/delivery/compose.ts';
import { NO_SEARCH } from '../../src/delivery/outcome.ts';
import type { Store } from '../../src/store/store.ts';
import { alertOf } from '../discord/alerts.ts';

const renderers: Renderers = {
  render: () => ({ payload: {}, used: 1 }),
  renderAgain: () => ({ payload: {}, used: 1 }),
  countFitting: () => 1,
  renderPlain: () => ({}),
  renderDigest: async () => ({ payload: {}, csv: null, used: 1 }),
};

it('makes a digest of a backlog, except while it searches for an alert that Discord refuses', async () => {
  const alerts = [alertOf()];
  const store = { outbox: { due: async () => alerts } as unknown as Store['outbox'] } as Store;
  const due = {
    alerts,
    lane: { hold: null, isSignificant: false },
    waiting: 99,
    oldest: 0,
    transactions: 99,
    reason: null,
  };
  const kindOf = async (limit: number) => {
    const channel = { id: '1', search: { ...NO_SEARCH, limit } };
    return (await compose(channel, due, { renderers, store, now: 0 })).kind;
  };
  expect(await kindOf(NO_SEARCH.limit)).toBe('digest');
  expect(await kindOf(NO_SEARCH.limit - 1)).toBe('create');
});
