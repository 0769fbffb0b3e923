import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import { countShown, transfersIn, watchUnshown } from '../crash/count.ts';
import { LOST_RESPONSE_MS } from '../crash/deliveries.ts';
import { type Sent, startSender } from '../crash/sender.ts';
import { settle } from '../crash/settle.ts';
import { watchAddresses } from '../crash/watched.ts';
import { createDisk } from '../store/postgres/full-disk.ts';
import { openForTest } from '../store/postgres/opened.ts';
import { startPostgres } from '../store/postgres/server.ts';
import { FAULTS, type Fault, workerOf } from './faults.ts';
import { type Group, startGroup } from './group.ts';

interface Verdict {
  acknowledged: number;
  shown: number;
  lost: number;
  doubled: number;
  disordered: number;
  /** The longest time without a process that works, for each kind of fault; in milliseconds. */
  idleMs: Partial<Record<Fault, number>>;
  /** The longest time from the first try to deliver a transfer to its 200, for each kind of fault; in milliseconds. */
  refusedMs: Partial<Record<Fault, number>>;
  problems: string[];
}

const LOOK_MS = 100;
/** A load balancer passes a delivery on at once when a process is gone; the sender itself repeats one that was refused. */
const SENDER_RETRIES_MS = [LOST_RESPONSE_MS];

/**
 * Lets faults happen to three processes on one real Postgres under load, one after the other, and counts what the channels
 * show. Deliveries go to any of the three, even to one that does not respond: then they are retried.
 */
export async function trial(
  faults: Iterable<Fault>,
  { everyMs, pulseMs }: { everyMs: number; pulseMs: number },
  onFault: (fault: Fault, idleMs: number) => void = () => undefined,
): Promise<Verdict> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'processes-')), (path) => rmSync(path, { recursive: true }));
  const disk = createDisk();
  if (disk) stack.use(disk);
  const server = stack.use(await startPostgres({}, null, disk?.environment));
  const database = await server.createDatabase();
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (one) => one.close());
  const watched = await watchAddresses(discord, await openForTest(database));
  const group = stack.adopt(await startGroup(['first', 'second', 'third'], discord, database, folder), (one) =>
    one.close(),
  );
  await workerOf(group);

  const unshown = watchUnshown(discord);
  const anyReceiver = () => group.members[Math.floor(Math.random() * group.members.length)]!.receiver;
  const sender = startSender(anyReceiver, watched, () => unshown.count(sender.sent), {
    everyMs: pulseMs,
    laterMs: SENDER_RETRIES_MS,
  });
  stack.defer(sender.close);
  const idle = watchIdle(group);
  stack.defer(idle.stop);
  const verdict = { idleMs: {}, refusedMs: {} } as Pick<Verdict, 'idleMs' | 'refusedMs'>;
  for (const fault of faults) {
    await wait(everyMs);
    const begun = performance.now();
    idle.reset();
    await FAULTS[fault]({ group, server, disk });
    await workerOf(group);
    verdict.idleMs[fault] = Math.max(verdict.idleMs[fault] ?? 0, idle.longest());
    onFault(fault, idle.longest());
    const late = [...sender.sent.values()].filter(({ begunAt }) => begunAt >= begun).map(waited);
    verdict.refusedMs[fault] = Math.max(verdict.refusedMs[fault] ?? 0, ...late);
  }
  await wait(everyMs);
  sender.calm();
  const left = await settle(
    () => openForTest(database),
    () => sender.unanswered() + unshown.count(sender.sent),
  );
  const all = [...sender.sent.values()];
  const { problems: miscounts, ...counted } = countShown(discord, all);
  const problems = [...miscounts, ...left];
  if (problems.length > 0) for (const { name, log } of group.members) problems.push(`${name}: ${log().slice(-3_000)}`);
  return { ...counted, ...verdict, disordered: countDisorder(discord, all), problems };
}

/** How long a transfer waited for its 200, until now if it still waits. */
const waited = ({ begunAt, acknowledgedAt }: Sent): number => Math.min(acknowledgedAt, performance.now()) - begunAt;

function watchIdle(group: Group) {
  let since: number | null = null;
  let longest = 0;
  let isStopped = false;
  const measure = () => {
    if (since !== null) longest = Math.max(longest, performance.now() - since);
  };
  const look = async () => {
    while (!isStopped) {
      const worker = await group.worker();
      measure();
      if (worker) since = null;
      else since ??= performance.now();
      await wait(LOOK_MS);
    }
  };
  void look();
  return {
    reset(): void {
      longest = 0;
    },
    longest: (): number => Math.round(longest),
    stop(): void {
      isStopped = true;
    },
  };
}

/**
 * How many transfers a channel shows after one that was first posted when they had already been acknowledged. NFTs are
 * left out: they join the message of their transaction.
 */
function countDisorder(discord: Discord, sent: readonly Sent[]): number {
  const byText = new Map(sent.filter(({ text }) => text.includes(',')).map((event) => [event.text, event]));
  const channels = new Map<string, Sent[]>();
  for (const { channelId, message } of discord.history()) {
    const events = transfersIn(message).flatMap(({ text }) => byText.get(text) ?? []);
    channels.set(channelId, [...(channels.get(channelId) ?? []), ...events]);
  }
  let disordered = 0;
  for (const events of channels.values()) {
    let lastBegun = Number.NEGATIVE_INFINITY;
    for (const { begunAt, acknowledgedAt } of events) {
      if (acknowledgedAt < lastBegun) disordered++;
      lastBegun = Math.max(lastBegun, begunAt);
    }
  }
  return disordered;
}
