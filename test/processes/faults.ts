import { setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../../src/domain/clock.ts';
import type { FillableDisk } from '../store/postgres/full-disk.ts';
import type { PostgresServer } from '../store/postgres/server.ts';
import { until } from '../until.ts';
import type { Group, Member } from './group.ts';

/** Longer than the lease of an elected process. */
const BEYOND_LEASE_MS = 7 * SECOND;
const DOWN_MS = 2 * SECOND;

export const FAULTS = {
  async killWorker({ group }: World): Promise<void> {
    const worker = await workerOf(group);
    worker.signal('SIGKILL');
    await worker.ended();
    await taken(group, worker);
    worker.start();
  },
  async kill({ group }: World): Promise<void> {
    const member = group.members[Math.floor(Math.random() * group.members.length)]!;
    member.signal('SIGKILL');
    await member.ended();
    member.start();
    await ready(member);
  },
  /** The working process is stopped for longer than its lease, and continues. */
  async sleep({ group }: World): Promise<void> {
    const worker = await workerOf(group);
    worker.signal('SIGSTOP');
    await Promise.all([taken(group, worker), wait(BEYOND_LEASE_MS)]);
    worker.signal('SIGCONT');
    await ready(worker);
  },
  async cut({ group }: World): Promise<void> {
    const worker = await workerOf(group);
    worker.cable.cut();
    await Promise.all([taken(group, worker), wait(BEYOND_LEASE_MS)]);
    worker.cable.mend();
    await ready(worker);
  },
  /** The network forgets every connection to Postgres, as a restarted firewall does. Neither side notices. */
  async forget({ group }: World): Promise<void> {
    for (const { cable } of group.members) cable.forget();
    await wait(BEYOND_LEASE_MS);
    await workerOf(group);
    await Promise.all(group.members.map(ready));
  },
  async postgres({ group, server }: World): Promise<void> {
    server.stop('immediate');
    await wait(DOWN_MS);
    await server.start();
    await workerOf(group);
  },
  async fullDisk({ group, disk }: World): Promise<void> {
    disk?.fill();
    if (disk) await until('a process was refused because the disk is full', () => group.members.some(metFullDisk));
    await wait(DOWN_MS);
    disk?.free();
    await workerOf(group);
  },
  /** Postgres cannot write its log because the disk is full, crashes, cannot recover, and is started again. */
  async fullLog({ group, server, disk }: World): Promise<void> {
    disk?.fill();
    if (disk) await until('Postgres has stopped', () => isStoppedByItsLog(server));
    else server.stop('immediate');
    await wait(DOWN_MS);
    disk?.free();
    await server.start();
    await workerOf(group);
  },
  async roll({ group }: World): Promise<void> {
    for (const member of group.members) {
      member.signal('SIGTERM');
      await member.ended();
      member.start();
      await ready(member);
    }
    await workerOf(group);
  },
} as const satisfies Record<string, (world: World) => Promise<void>>;

export type Fault = keyof typeof FAULTS;

interface World {
  group: Group;
  server: PostgresServer;
  disk: FillableDisk | null;
}

const metFullDisk = ({ log }: Member) => log().includes('No space left on device');

/** Whether Postgres stops because its log needs a new file, for which there is no space. */
async function isStoppedByItsLog(server: PostgresServer): Promise<boolean> {
  await server.switchLog().catch(() => undefined);
  return !server.isRunning();
}

const ready = (member: Member) => until(`${member.name} can store deliveries again`, member.isReady);

export async function workerOf(group: Group): Promise<Member> {
  let worker: Member | null = null;
  await until('one of the processes works', async () => {
    worker = await group.worker();
    return worker !== null;
  });
  return worker!;
}

const taken = (group: Group, before: Member) =>
  until(`another process than ${before.name} works`, async () => {
    const worker = await group.worker();
    return worker !== null && worker !== before;
  });
