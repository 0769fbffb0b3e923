import { expect, it } from 'vitest';
import type { Ticket } from '../../src/receiver/admission.ts';
import { until } from '../until.ts';
import { startReceiver } from './harness.ts';

it('begins the next commit before it responds to the deliveries of the last one', async () => {
  const happened: string[] = [];
  /** Ends the sync of each commit. */
  const disk: (() => void)[] = [];
  const { intake } = await startReceiver({
    between: (store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        async append(rows) {
          happened.push(`commit of ${rows.length}`);
          await new Promise<void>((resolve) => void disk.push(resolve));
          return store.inbox.append(rows);
        },
      },
    }),
  });
  const deliver = (name: string) => {
    const ticket = intake.admit(0) as Ticket;
    return new Promise<void>((resolve) =>
      intake.store(ticket, Buffer.from(name), (result) => {
        happened.push(`${name} ${result}`);
        resolve();
      }),
    );
  };
  const syncs = (commits: number) => until(`commit ${commits} begins`, () => disk.length === commits);

  const first = deliver('first');
  await syncs(1);
  const others = [deliver('second'), deliver('third')];
  disk[0]!();
  await first;
  expect(happened).toEqual(['commit of 1', 'commit of 2', 'first stored']);
  disk[1]!();
  await Promise.all(others);
  expect(happened.slice(3)).toEqual(['second stored', 'third stored']);
});
