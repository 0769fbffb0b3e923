import type { Database } from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { CHANNEL, contextOf, GUILD, NOW, post, send, TAKE, TREASURY, txHash } from '../contract/given.ts';
import { openHere, storeOver } from './opened.ts';

async function plansOf(calls: (store: Store) => Promise<unknown>): Promise<{ text: string; steps: string[] }[]> {
  const db = openHere();
  const prepare = db.prepare.bind(db);
  const store = storeOver(db);
  await post(store, [1, 2]);
  await send(store);
  await post(store, [3], { transfer: { txHash: txHash(1) } });
  const texts = new Set<string>();
  db.prepare = ((text: string) => {
    texts.add(text);
    return prepare(text);
  }) as Database['prepare'];
  await calls(storeOver(db));
  return [...texts].map((text) => {
    const values = (text.match(/\?/g) ?? []).map(() => null);
    const plan = prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return { text, steps: plan.map(({ detail }) => detail) };
  });
}

it('finds the transfers of transactions by their hashes, not among all of a network, a scope or a channel', async () => {
  const plans = await plansOf(async (store) => {
    await contextOf(store, 9, { isFound: true });
    await store.outbox.claim(CHANNEL, TAKE, NOW);
    await store.chainChecks.stored(0, { after: 0, upTo: 9 }, [], [txHash(1)]);
  });
  const ofTransfers = plans.filter(({ text }) => text.includes('.tx_hash = '));
  expect(ofTransfers).toHaveLength(5);
  for (const { steps } of ofTransfers) expect(steps).toContain('SEARCH t USING INDEX transfers_key (<expr>=?)');
});

it('reads what a transaction, a message or a block names, not all that a guild, a channel or a network has', async () => {
  const plans = await plansOf(async ({ history, chainChecks, metrics, outbox }) => {
    await history.transfers({ guildId: GUILD, txHash: txHash(1), channelId: CHANNEL }, NOW, 9);
    const query = { guildId: GUILD, address: TREASURY, since: 0, until: NOW, channelIds: [CHANNEL] };
    await history.decidedTransfers(query, 9);
    await history.postedIn(GUILD, [1], [CHANNEL]);
    await chainChecks.late(0, 0, 9);
    await chainChecks.missed(GUILD, 0);
    await chainChecks.missedIn(0);
    await metrics.guild(GUILD);
    await outbox.unfreeze(1);
    await outbox.claim(CHANNEL, TAKE, NOW);
  });
  const all =
    /(alerts|decisions)_guild(?! \(guild_id=\? AND)|transfers_(block|scope)|SCAN (subscriptions|alerts|transfers)$|batches USING INDEX batches_channel/;
  expect(plans.filter(({ steps }) => steps.some((step) => all.test(step)))).toEqual([]);
});
