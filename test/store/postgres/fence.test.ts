import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openSharedStore } from '../../../src/store/postgres/client.ts';
import type { Term } from '../../../src/store/postgres/leadership.ts';
import { NOW, notice } from '../contract/given.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;
/** A process of a database that was elected; its work does not notice when it no longer is. */
async function elected(url: string) {
  const quiet = () => undefined;
  const shared = await openSharedStore(url, {
    isCandidate: true,
    clock: systemClock,
    elapsed: () => performance.now(),
    log: { info: quiet, warn: quiet, error: quiet },
  });
  onTestFinished(shared.close);
  const terms: Term[] = [];
  const onElected = async (term: Term) => void terms.push(term);
  await shared.leadership.begin({ onElected, onEnded: async () => undefined, onNotification: quiet });
  return { shared, work: shared.during(terms[0]!) };
}

describe.skipIf(isPostgresMissing())('the fence around the working process', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('refuses what a process writes after another one was elected, and still takes what it receives', async () => {
    const url = await server.createDatabase();
    const first = await elected(url);
    await first.work.channels.postNotice(notice());
    await first.shared.leadership.close();
    // Nobody else works yet.
    await first.work.channels.postNotice(notice({ reference: 'second' }));

    const second = await elected(url);
    const writes = [
      first.work.channels.postNotice(notice({ reference: 'third' })),
      first.work.outbox.markNotSent(1),
      first.work.uptime.record(NOW, []),
      first.work.retention.setPrunedBefore(NOW),
    ];
    for (const write of writes) await expect(write).rejects.toMatchObject({ code: 'LEDGERBELL_NOT_LEADER' });
    const body = Buffer.from('{}');
    expect(await first.shared.store.inbox.append([{ scope: 0, receivedAt: NOW, body }])).toHaveLength(1);
    await second.work.channels.postNotice(notice({ reference: 'fourth' }));
    expect((await second.work.metrics.backlog(NOW)).frozen).toBe(3);
  });
});
