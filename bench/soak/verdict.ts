import { quantile, type Row, short } from '../table.ts';
import type { Asked } from './people.ts';
import type { Sample, Soak } from './samples.ts';
import type { Sent } from './sender.ts';
import type { Counts } from './tally.ts';
import { isCalm } from './troubles.ts';

/** The counts besides the samples. */
export interface Counted {
  counts: Counts;
  /** Every posted alert: when its transfer was sent, milliseconds since the start, and how long it took. */
  posted: readonly { at: number; took: number }[];
  sent: Sent;
  asked: Asked;
  /** How many of the bot's requests met which fault. */
  met: ReadonlyMap<string, number>;
  /** The bot's metrics. */
  metrics: ReadonlyMap<string, number>;
  warnings: number;
}

const MIB = 1_024 ** 2;
/** A figure that rises by more from the middle cycle to the last is not flat. Times depend on the machine's other load. */
const FLAT = 1.25;
const FLAT_TIME = 2;
/** The WAL stays as large as it ever had to be, up to this size. */
const WAL_MIB = 8;
/** With this many cycles the middle one comes after the first twenty minutes, in which memory rises. */
const WARM = 8;

/** How much memory rises in an hour, by least squares, MiB. */
function riseOf(samples: readonly Sample[]): number {
  const mean = (value: (sample: Sample) => number) =>
    samples.reduce((sum, one) => sum + value(one), 0) / samples.length;
  const [at, rss] = [mean((one) => one.at), mean((one) => one.rss)];
  return (3_600_000 * mean((one) => (one.at - at) * (one.rss - rss))) / mean((one) => (one.at - at) ** 2);
}

/**
 * Judges a soak. `changes`: its first, middle and last cycle side by side; `sentences`: the broken promises; `isKept`:
 * whether at least nothing was lost or doubled.
 */
export function verdictOf(soak: Soak, counted: Counted) {
  const { counts, met } = counted;
  const { changes, risen } = changesOf(soak, counted.posted);
  const own = met.get('429 by our own fault') ?? 0;
  const isKept = counts.lost + counts.doubled === 0;
  const sentences = [
    isKept ? 'Nothing was lost or doubled.' : `LOST ${counts.lost}, DOUBLED ${counts.doubled}.`,
    ...risen.map((rise) => `NOT FLAT: ${rise}.`),
    ...(risen.length > 0 && soak.cycles < WARM ? ['In a run as short as this the bot is still warming up.'] : []),
    ...(own > 0 ? [`REFUSED: ${own} requests were more than Discord's limits allow.`] : []),
  ];
  return { changes, counted: countedRows(soak, counted), sentences, isKept };
}

function changesOf({ cycles, cycleMs, samples }: Soak, posted: Counted['posted']): { changes: Row[]; risen: string[] } {
  const shown = [0, Math.floor((cycles - 1) / 2), cycles - 1];
  const within = <T extends { at: number }>(list: readonly T[], cycle: number) =>
    list.filter(({ at }) => Math.floor(at / cycleMs) === cycle);
  const risen: string[] = [];
  const row = (figure: string, of: (cycle: number) => number, flat = FLAT, min = 0): Row => {
    const [first, middle, last] = shown.map(of) as [number, number, number];
    if (last > Math.max(middle * flat, min)) risen.push(`${figure}: from ${short(middle)} to ${short(last)}`);
    return { figure, 'first cycle': short(first), 'middle cycle': short(middle), 'last cycle': short(last) };
  };
  const median = (figure: string, value: (sample: Sample) => number, min = 0) =>
    row(figure, (cycle) => quantile(within(samples, cycle).map(value), 0.5), FLAT, min);
  const grown = (value: (sample: Sample) => number) => (cycle: number) => {
    const list = within(samples, cycle);
    return value(list.at(-1)!) - value(list[0]!);
  };
  const transfers = grown((sample) => sample.transfers);
  const each = (figure: string, value: (sample: Sample) => number) =>
    row(figure, (cycle) => grown(value)(cycle) / transfers(cycle));
  const latency = (figure: string, share: number, alerts: Counted['posted']) => {
    const took = (cycle: number) => within(alerts, cycle).map((alert) => alert.took);
    return row(figure, (cycle) => quantile(took(cycle), share), FLAT_TIME);
  };
  const calm = posted.filter(({ at }) => isCalm(at, cycleMs));
  const changes = [
    median('resident memory, MiB (median)', ({ rss }) => rss),
    median('of that anonymous, MiB (median)', ({ anonymous }) => anonymous),
    median('WAL, MiB (median)', ({ wal }) => wal / MIB, WAL_MIB),
    each('database growth, bytes per transfer', ({ database }) => database),
    median('lock file, bytes', ({ lock }) => lock),
    median('open files and sockets (median)', ({ handles }) => handles),
    each('CPU time per transfer, ms', ({ cpu }) => cpu),
    latency('latency p50, ms', 0.5, posted),
    latency('latency p50 without faults, ms', 0.5, calm),
    latency('latency p99 without faults, ms', 0.99, calm),
    row(
      'requests refused with 503',
      grown(({ refused }) => refused),
      Number.POSITIVE_INFINITY,
    ),
  ];
  return { changes, risen };
}

function countedRows({ cycles, cycleMs, perSecond, samples }: Soak, counted: Counted): Row[] {
  const { counts, sent, asked, met, metrics, warnings } = counted;
  const until = cycles * cycleMs;
  const half = samples.filter(({ at }) => at > until / 2 && at <= until);
  const values: Record<string, number> = {
    'transfers per second': perSecond,
    transfers: sent.transfers,
    'transfers acknowledged': counts.acknowledged,
    'alerts expected': counts.owed,
    'alerts shown once': counts.shown,
    lost: counts.lost,
    doubled: counts.doubled,
    digests: counts.digests,
    ...Object.fromEntries(Object.entries(sent.answers).map(([name, n]) => [`requests answered with ${name}`, n])),
    'unreadable bodies sent': sent.unreadable,
    quarantined: metrics.get('quarantined')!,
    'dead letters': metrics.get('dead_letters')!,
    'commands answered': asked.answered,
    'commands not answered': asked.unanswered,
    ...Object.fromEntries([...met].map(([name, n]) => [`requests to Discord that met: ${name}`, n])),
    'warnings and errors in the log': warnings,
    'most memory, MiB': short(Math.max(...samples.map(({ rss }) => rss))),
    'rise of memory in the second half, MiB per hour': short(riseOf(half)),
    'largest WAL, MiB': short(Math.max(...samples.map(({ wal }) => wal / MIB))),
  };
  return Object.entries(values).map(([figure, value]) => ({ figure, value }));
}
