import { expect, it } from 'vitest';
import { createAcks } from '../../src/receiver/acks.ts';
import { createAdmission, type Ticket } from '../../src/receiver/admission.ts';
import { createIntake } from '../../src/receiver/intake.ts';
import type { Store } from '../../src/store/store.ts';

it('begins the next commit before it responds to the deliveries of the last one', async () => {
  const happened: string[] = [];
  const disk: (() => void)[] = [];
  let last = 0;
  const append = async (rows: readonly unknown[]) => {
    happened.push(`commit of ${rows.length}`);
    await new Promise<void>((resolve) => void disk.push(resolve));
    return rows.map(() => ++last);
  };
  const now = () => 0;
  const intake = createIntake({
    store: { inbox: { append } } as unknown as Pick<Store, 'inbox'>,
    acks: createAcks(),
    admission: createAdmission(now),
    now,
    quotas: { admit: () => null, stored: () => undefined, diskFull: () => undefined },
    onStored: () => undefined,
    onFault: () => undefined,
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
  const syncs = (commits: number) => expect.poll(() => disk.length, { message: 'the commits' }).toBe(commits);

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
