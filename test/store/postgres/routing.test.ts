import { expect, it, onTestFinished } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { delivery, GUILD, NOW, newAlert, routed, storedTransfer, txHash } from '../contract/given.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())(
  'stores nothing about deliveries that an earlier commit took out of the inbox, though its response was lost',
  async () => {
    await using server = await startPostgres();
    const { store, close } = await openPostgresStore(await server.createDatabase());
    onTestFinished(close);
    const bodies = ['first', 'second'].map((text) => ({ scope: 0, receivedAt: NOW, body: Buffer.from(text) }));
    const [first, second] = await store.inbox.append(bodies);
    await store.routing.commit(
      routed({ done: [first!], transfers: [storedTransfer(1)], deliveries: [delivery(1)], alerts: [newAlert(1)] }),
    );

    // The router did not learn of it, and takes the same body for a second transfer.
    const again = routed({
      done: [first!, second!],
      transfers: [storedTransfer(1, { count: 2 })],
      deliveries: [delivery(1, { count: 2 })],
      changed: [storedTransfer(1).key],
    });
    await expect(store.routing.commit(again)).rejects.toMatchObject({ code: 'LEDGERBELL_ROUTED' });
    const quarantined = [{ id: first!, reason: 'no JSON', ackedAt: null }];
    await expect(store.routing.commit(routed({ quarantined }))).rejects.toMatchObject({ code: 'LEDGERBELL_ROUTED' });

    expect((await store.inbox.next(9)).map(({ id }) => id)).toEqual([second]);
    expect(await store.quarantine.list()).toEqual([]);
    expect((await store.history.transfers(GUILD, txHash(1), null, NOW, 9)).first).toMatchObject([{ count: 1 }]);
  },
);
