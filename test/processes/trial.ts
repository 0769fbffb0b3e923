import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import { openPostgresStore } from '../../src/store/postgres/client.ts';
import { countShown, linesOf } from '../crash/count.ts';
import { type Sent, startSender } from '../crash/sender.ts';
import { watchAddresses } from '../crash/watched.ts';
import { createDisk } from '../store/postgres/full-disk.ts';
import { startPostgres } from '../store/postgres/server.ts';
import { FAULTS, type Fault, workerOf } from './faults.ts';
import { type Group, startGroup } from './group.ts';

/** What became of everything. */
interface Verdict {
  acknowledged: number;
  /** Acknowledged transfers that every channel concerned shows exactly once. */
  shown: number;
  lost: number;
  doubled: number;
  /** Pairs of neighbors in a channel that are the wrong way round. */
  disordered: number;
  /** The longest time without a process that works, for each kind of fault; in milliseconds. */
  idleMs: Partial<Record<Fault, number>>;
  /** The longest time from the first try to deliver a transfer to its 200, for each kind of fault; in milliseconds. */
  refusedMs: Partial<Record<Fault, number>>;
  problems: string[];
}

/** The end waits this long after the last change. */
const STILL_MS = 40_000;
const LOOK_MS = 100;
/**
 * A load balancer passes a delivery on at once when a process is gone. What was refused, or not answered in time, the
 * sender repeats after 15 s: only then can it be distinguished from another transfer.
 */
const SENDER_RETRIES_MS = [15_000];

/**
 * Lets faults happen to three processes on one real Postgres under load, a while after each other, and counts what the
 * channels show. Deliveries go to any of the three, also to those that do not respond: that is what their retries are for.
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
  const watched = await watchAddresses(discord, await openPostgresStore(database));
  const group = stack.adopt(await startGroup(['first', 'second', 'third'], discord, database, folder), (one) =>
    one.close(),
  );
  await workerOf(group);

  const open = watchOpen(discord);
  const anyReceiver = () => group.members[Math.floor(Math.random() * group.members.length)]!.receiver;
  const sender = startSender(anyReceiver, watched, () => open.count(sender.sent), {
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
  const left = await settle(database, () => sender.unanswered() + open.count(sender.sent));
  const all = [...sender.sent.values()];
  const { problems, ...counted } = countShown(discord, all);
  if (left !== '') problems.push(left);
  if (problems.length > 0) for (const { name, log } of group.members) problems.push(`${name}: ${log().slice(-3_000)}`);
  return { ...counted, ...verdict, disordered: countDisorder(discord, all), problems };
}

/** How long a transfer has been waiting for its 200, or waited. */
const waited = ({ begunAt, acknowledgedAt }: Sent): number => Math.min(acknowledgedAt, performance.now()) - begunAt;

/** Knows which transfers no channel shows yet. */
function watchOpen(discord: Discord) {
  const shown = new Set<string>();
  discord.on((event) => {
    if (event.type !== 'message' || event.change === 'deleted') return;
    for (const line of linesOf(event.message.message)) shown.add(`${event.message.channelId} ${line.shown}`);
  });
  const open = new Set<Sent>();
  let looked = 0;
  return {
    count(sent: ReadonlyMap<string, Sent>): number {
      for (const event of [...sent.values()].slice(looked)) open.add(event);
      looked = sent.size;
      for (const event of open)
        if (event.lines.every((channelId) => shown.has(`${channelId} ${event.shown}`))) open.delete(event);
      return open.size;
    },
  };
}

/** Measures how long no process reports that it works. */
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

/** Waits until nothing is left to do, or nothing has moved for long; returns what is left. */
async function settle(database: string, unfinished: () => number): Promise<string> {
  const { store, close } = await openPostgresStore(database);
  try {
    let least = Number.POSITIVE_INFINITY;
    let since = Date.now();
    for (;;) {
      const backlog = await store.metrics.backlog(Date.now());
      const { inbox, alerts, frozen, quarantine, deadLetters } = backlog;
      const rest = unfinished() + inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen;
      const over = quarantine.rows + deadLetters;
      if (rest === 0) return over === 0 ? '' : `something went wrong: ${JSON.stringify(backlog)}`;
      if (Date.now() - since > STILL_MS) return `something is left: ${unfinished()}, ${JSON.stringify(backlog)}`;
      if (rest < least) {
        least = rest;
        since = Date.now();
      }
      await wait(LOOK_MS);
    }
  } finally {
    await close();
  }
}

/**
 * How many transfers a channel shows behind one that began when they had been acknowledged already. Tokens are left out:
 * they join the message of their transaction.
 */
function countDisorder(discord: Discord, sent: readonly Sent[]): number {
  const byText = new Map(sent.filter(({ shown }) => shown.includes(',')).map((event) => [event.shown, event]));
  const channels = new Map<string, Sent[]>();
  for (const { channelId, message } of discord.history()) {
    const events = linesOf(message).flatMap(({ shown }) => byText.get(shown) ?? []);
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
