import { readdirSync, readFileSync, statSync } from 'node:fs';
import { memoryOf } from '../bot.ts';
import { quantile } from '../table.ts';
import type { PostedAlert } from './tally.ts';
import type { Trouble } from './troubles.ts';

/** The bot's state at a moment, and what happened since the previous sample. */
export type Sample = Awaited<ReturnType<typeof look>> & {
  /** Milliseconds since the start. */
  at: number;
  /** Since the start: transfers begun, and requests refused with 503. */
  transfers: number;
  refused: number;
};

/** Everything that is drawn. */
export interface Soak {
  cycles: number;
  cycleMs: number;
  perSecond: number;
  samples: Sample[];
  troubles: Trouble[];
}

/** Milliseconds of a tick in `/proc/<pid>/stat`. */
const CPU_TICK_MS = 10;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** A bot's metrics by name, with labels. */
export async function metricsOf(ops: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  return new Map([...text.matchAll(/^ledgerbell_(\S+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
}

/** Samples a bot; `posted`: the alerts since the last sample. */
export async function look({ pid, ops }: { pid: number; ops: string }, file: string, posted: readonly PostedAlert[]) {
  const metrics = await metricsOf(ops);
  const took = posted.map(({ sentAt, postedAt }) => postedAt - sentAt);
  const process = `/proc/${pid}`;
  const stat = readFileSync(`${process}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return {
    /** Resident memory, and its anonymous part, MiB. */
    rss: memoryOf(pid),
    anonymous: Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`${process}/status`, 'utf8'))![1]) / 1_024,
    /** CPU time since the start of the process, user and system, milliseconds. */
    cpu: (Number(stat[11]) + Number(stat[12])) * CPU_TICK_MS,
    /** Open files and sockets. */
    handles: readdirSync(`${process}/fd`).length,
    /** File sizes, bytes. */
    database: sizeOf(file),
    wal: sizeOf(`${file}-wal`),
    lock: sizeOf(`${file}.lock`),
    /** Milliseconds from a request to its alert at the stand-in; NaN without alerts. */
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    /** Deliveries that wait for the router; alerts that wait for a message or for their channel; unfinished messages. */
    inbox: metrics.get('inbox_waiting')!,
    alerts: metrics.get('outbox_waiting{state="due"}') ?? 0,
    closed: metrics.get('outbox_waiting{state="closed"}') ?? 0,
    frozen: metrics.get('outbox_frozen')!,
  };
}
