import { expect, it } from 'vitest';
import { createAcks } from '../../src/receiver/acks.ts';
import { createAdmission, type Ticket } from '../../src/receiver/admission.ts';
import { createIntake } from '../../src/receiver/intake.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../until.ts';
import { OTHER_SCOPE, startReceiver } from './harness.ts';

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

it.each([
  ['could not be stored', 0, 'busy'],
  ['are too old to be stored', 2_001, 'late'],
])('releases the memory of bodies that %s', async (_why, age, result) => {
  let time = 0;
  const now = () => time;
  const append = () => Promise.reject(new Error('disk I/O error'));
  const intake = createIntake({
    store: { inbox: { append } } as unknown as Store,
    acks: createAcks(),
    now,
    admission: createAdmission(now),
    quotas: { admit: () => null, stored: () => undefined, diskFull: () => undefined },
    onStored: () => undefined,
    onResponseEnded: () => undefined,
    onFault: () => undefined,
  });
  const body = Buffer.alloc(1024 * 1024);
  const results = Array.from({ length: 17 }, () => {
    const ticket = intake.admit(OTHER_SCOPE) as Ticket;
    return new Promise((resolve) => intake.store(ticket, body, resolve));
  });
  expect(intake.admit(OTHER_SCOPE)).toBe('overload');
  time = age;
  expect(new Set(await Promise.all(results))).toEqual(new Set([result]));
  expect(intake.admit(OTHER_SCOPE)).toMatchObject({ scope: OTHER_SCOPE });
});
