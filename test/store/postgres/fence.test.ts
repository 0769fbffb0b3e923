import { pino } from 'pino';
import { describe, expect, onTestFinished } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { LostLockError } from '../../../src/errors.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';
import { NOW, notice, received } from '../contract/given.ts';
import { onPostgres as it } from './on-postgres.ts';
import { isPostgresMissing } from './server.ts';

async function open(url: string, clock = systemClock) {
  const opened = openPostgres(url, {
    clock: { ...clock, elapsed: () => performance.now() },
    log: pino({ level: 'silent' }),
  });
  onTestFinished(opened.close);
  await opened.ready;
  return opened;
}

describe.skipIf(isPostgresMissing())('the lock of the working process', () => {
  it('is held by one process at a time, and by the next one as soon as it is freed', async ({ url }) => {
    const [first, second] = [await open(url), await open(url)];
    await first.lock.acquire();
    const waiting = second.lock.acquire();
    expect([first.lock.isHeld(), second.lock.isHeld()]).toEqual([true, false]);
    await first.lock.close();
    await waiting;
    expect([first.lock.isHeld(), second.lock.isHeld()]).toEqual([false, true]);
  });

  it('refuses what a process writes after another one works, and still takes what it receives', async ({ url }) => {
    const [first, second] = [await open(url), await open(url)];
    await first.lock.acquire();
    await first.store.channels.postNotice(notice());
    await first.lock.close();
    // Nobody else works yet.
    await first.store.channels.postNotice(notice({ reference: 'second' }));

    await second.lock.acquire();
    const writes = [
      first.store.channels.postNotice(notice({ reference: 'third' })),
      first.store.outbox.markNotSent(1),
      first.store.uptime.record(NOW, []),
      first.store.retention.setPrunedBefore(NOW),
    ];
    for (const written of writes) await expect(written).rejects.toMatchObject({ code: 'LEDGERBELL_NOT_WORKING' });
    expect(await first.store.inbox.append([received('{}')])).toHaveLength(1);
    await second.store.channels.postNotice(notice({ reference: 'fourth' }));
    expect((await second.store.metrics.backlog(NOW)).frozen).toBe(3);
  });

  it('is lost when the server goes away, and the process then knows why it has to end', async ({ server, url }) => {
    const process = await open(url);
    await process.lock.acquire();
    server.stop('immediate');
    const error = await process.failed;
    await server.start();
    expect(error).toBeInstanceOf(LostLockError);
    expect(error.message).toMatch(/^The lock of the working process is lost: /);
    expect(process.lock.isHeld()).toBe(false);
  });

  it('does not count as held by a process that could not prove it for four seconds', async ({ url }) => {
    const clock = createManualClock(NOW);
    const process = await open(url, clock);
    await process.lock.acquire();
    clock.leap(3_999);
    expect(process.lock.isHeld()).toBe(true);
    clock.leap(1);
    expect(process.lock.isHeld()).toBe(false);
  });
});
