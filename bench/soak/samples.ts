import { readdirSync, readFileSync, statSync } from 'node:fs';
import { memoryOf } from '../bot.ts';
import { quantile } from '../table.ts';
import type { Told } from './tally.ts';

/** What the bot looks like at a moment, and what happened since the moment before. */
export interface Sample {
  /** Milliseconds since the start. */
  at: number;
  /** Resident memory, and its part that belongs to no file, MiB. */
  rss: number;
  anonymous: number;
  /** Processor time since the start of the process, milliseconds. */
  cpu: number;
  /** Open files and sockets. */
  handles: number;
  /** File sizes, bytes. */
  database: number;
  wal: number;
  lock: number;
  /** From a request to its line at the stand-in, milliseconds, of the lines told since; null when there were none. */
  p50: number | null;
  p99: number | null;
  /** Deliveries that wait for the router; alerts that wait for a message, for a channel's return, or in a begun message. */
  inbox: number;
  alerts: number;
  closed: number;
  frozen: number;
  /** Since the start: transfers begun, requests answered with 200 and with 503, lines told. */
  transfers: number;
  answered: number;
  refused: number;
  told: number;
}

/** Milliseconds of a tick in `/proc/<pid>/stat`. */
const CPU_TICK_MS = 10;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** User's and system's time of a process, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS;
}

/** A bot's own figures by their names, labels included. */
export async function metricsOf(ops: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  return new Map([...text.matchAll(/^ledgerbell_(\S+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
}

/** Looks at a bot; `lines` are those told since the last look. */
export async function look(
  bot: { pid: number; ops: string },
  file: string,
  lines: readonly Told[],
): Promise<Omit<Sample, 'at' | 'transfers' | 'answered' | 'refused' | 'told'>> {
  const metrics = await metricsOf(bot.ops);
  const took = lines.map(({ sentAt, toldAt }) => toldAt - sentAt);
  const status = readFileSync(`/proc/${bot.pid}/status`, 'utf8');
  return {
    rss: memoryOf(bot.pid),
    anonymous: Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / 1_024,
    cpu: cpuOf(bot.pid),
    handles: readdirSync(`/proc/${bot.pid}/fd`).length,
    database: sizeOf(file),
    wal: sizeOf(`${file}-wal`),
    lock: sizeOf(`${file}.lock`),
    p50: took.length > 0 ? quantile(took, 0.5) : null,
    p99: took.length > 0 ? quantile(took, 0.99) : null,
    inbox: metrics.get('inbox_waiting')!,
    alerts: metrics.get('outbox_waiting{state="due"}') ?? 0,
    closed: metrics.get('outbox_waiting{state="closed"}') ?? 0,
    frozen: metrics.get('outbox_frozen')!,
  };
}
