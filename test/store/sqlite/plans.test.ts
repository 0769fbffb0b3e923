import { expect, it } from 'vitest';
import { CHANNEL, contextOf, NOW, post, txHash } from '../contract/given.ts';
import { openHere, storeOver } from './opened.ts';

it('finds the transfers of transactions by their hashes, not among all of a network, a scope or a channel', async () => {
  const db = openHere();
  const texts = new Set<string>();
  const prepare = db.prepare.bind(db);
  db.prepare = ((text: string) => {
    texts.add(text);
    return prepare(text);
  }) as typeof db.prepare;
  const store = storeOver(db);
  await post(store, [1]);
  await contextOf(store, 2, { isFound: true });
  await store.outbox.claim(CHANNEL, { limit: 10, alone: false, mayChange: true }, NOW);
  await store.chainChecks.stored(0, { after: 0, upTo: 9 }, [], [txHash(1)]);

  const ofTransfers = [...texts].filter((text) => text.includes('.tx_hash = '));
  expect(ofTransfers).toHaveLength(4);
  for (const text of ofTransfers) {
    const values = text.match(/\?/g)!.map(() => null);
    const plan = prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    expect(plan).toContainEqual(expect.objectContaining({ detail: 'SEARCH t USING INDEX transfers_key (<expr>=?)' }));
  }
});
