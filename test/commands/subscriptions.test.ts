import { expect, it } from 'vitest';
import { subscriptionsOf } from '../../commands/shared/subscriptions.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { Store } from '../../src/store/store.ts';

it('however many ask, one question of a server is under way and one follows, which all who came meanwhile share', async () => {
  const asked: [string, PromiseWithResolvers<Subscription[]>][] = [];
  const list = (guildId: string) => {
    const answer = Promise.withResolvers<Subscription[]>();
    asked.push([guildId, answer]);
    return answer.promise;
  };
  const store = { subscriptions: { list } } as unknown as Store;
  const ask = (guildId: string) => subscriptionsOf({ store }, guildId);
  const answer = (id: number) => [{ id } as Subscription];
  const first = ask('1');
  const meanwhile = Array.from({ length: 40 }, () => ask('1'));
  const other = ask('2');
  expect(asked.map(([guildId]) => guildId)).toEqual(['1', '2']);
  asked[1]![1].resolve(answer(2));
  expect(await other).toEqual(answer(2));
  asked[0]![1].resolve(answer(1));
  expect(await first).toEqual(answer(1));
  // Asked after they came: what they themselves changed is in it.
  expect(asked).toHaveLength(3);
  const late = ask('1');
  asked[2]![1].reject(new Error('no'));
  for (const one of meanwhile) await expect(one).rejects.toThrow('no');
  expect(asked).toHaveLength(4);
  asked[3]![1].resolve(answer(4));
  expect(await late).toEqual(answer(4));
  void ask('1');
  expect(asked).toHaveLength(5);
});
