import { quantile, type Row, report, short } from '../table.ts';
import type { Disk } from './disk.ts';
import type { Soak } from './index.ts';
import type { Asked } from './people.ts';
import type { Sample } from './samples.ts';
import type { Sent } from './sender.ts';
import type { Told, Verdict } from './tally.ts';

/** What was counted besides the samples. */
interface Counted {
  verdict: Verdict;
  sent: Sent;
  people: Asked;
  /** How many of the bot's requests met which fault. */
  faults: Map<string, number>;
  metrics: Map<string, number>;
  told: readonly Told[];
  /** Those whose transfer was sent when nothing was broken. */
  calm: readonly Told[];
  /** When everything began, milliseconds of `performance`. */
  start: number;
  disk: Disk;
  warnings: number;
}

/** The tables that differ least from the next are told in one line. */
const TABLES = 8;
const MIB = 1_024 ** 2;

const median = (values: number[]): number => (values.length > 0 ? quantile(values, 0.5) : Number.NaN);

/** How much a value rises in an hour, by least squares. */
function slope(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const hours = samples.map(({ at }) => at / 3_600_000);
  const values = samples.map(value);
  const [x, y] = [mean(hours), mean(values)];
  const rise = hours.reduce((sum, hour, n) => sum + (hour - x) * (values[n]! - y), 0);
  return rise / hours.reduce((sum, hour) => sum + (hour - x) ** 2, 0);
}

/** Prints what changed between the first tenth of the time and the last one, and what came of everything. */
export function reportSoak({ until, samples, perSecond }: Soak, counted: Counted): void {
  const { told, calm, start, verdict, sent, people, faults, metrics, disk } = counted;
  const within = (tenth: number) => (at: number) => Math.min(9, Math.floor((at / until) * 10)) === tenth;
  const row = (figure: string, of: (tenth: number) => number): Row => {
    const [first, fifth, last] = [of(0), of(4), of(9)];
    return { figure, 'first tenth': short(first), 'fifth tenth': short(fifth), 'last tenth': short(last) };
  };
  const sampled = (tenth: number) => samples.filter(({ at }) => within(tenth)(at));
  const mid = (value: (sample: Sample) => number) => (tenth: number) => median(sampled(tenth).map(value));
  const grown = (value: (sample: Sample) => number) => (tenth: number) => {
    const of = sampled(tenth);
    return value(of.at(-1)!) - value(of[0]!);
  };
  const each = (value: (sample: Sample) => number) => (tenth: number) =>
    grown(value)(tenth) / grown(({ transfers }) => transfers)(tenth);
  const took = (lines: readonly Told[], share: number) => (tenth: number) =>
    quantile(
      lines.filter(({ sentAt }) => within(tenth)(sentAt - start)).map(({ sentAt, toldAt }) => toldAt - sentAt),
      share,
    ) ?? Number.NaN;
  report('soak', [
    row(
      'resident memory, MiB (median)',
      mid(({ rss }) => rss),
    ),
    row(
      'of that without files, MiB (median)',
      mid(({ anonymous }) => anonymous),
    ),
    row(
      'WAL, MiB (median)',
      mid(({ wal }) => wal / MIB),
    ),
    row(
      'database, bytes more a transfer',
      each(({ database }) => database),
    ),
    row(
      'lock file, bytes',
      mid(({ lock }) => lock),
    ),
    row(
      'open files and sockets (median)',
      mid(({ handles }) => handles),
    ),
    row(
      'processor time a transfer, ms',
      each(({ cpu }) => cpu),
    ),
    row('latency p50, ms', took(told, 0.5)),
    row('latency p50 while nothing is broken, ms', took(calm, 0.5)),
    row('latency p99 while nothing is broken, ms', took(calm, 0.99)),
    row(
      'requests refused with 503',
      grown(({ refused }) => refused),
    ),
  ]);
  const half = samples.filter(({ at }) => at > until / 2 && at <= until);
  const count = (figure: string, value: number): Row => ({ figure, value });
  report('soak: counted', [
    count('transfers a second', perSecond),
    count('transfers', sent.transfers),
    count('transfers acknowledged', verdict.acknowledged),
    count('requests answered with 200', sent.answered),
    ...Object.entries(sent.answers)
      .filter(([answer]) => answer !== '200')
      .map(([answer, times]) => count(`requests answered with ${answer}`, times)),
    count('lines owed', verdict.lines),
    count('lines shown once', verdict.shown),
    count('lost', verdict.lost),
    count('doubled', verdict.doubled),
    count('digests', verdict.digests),
    count('unreadable bodies sent', sent.unreadable),
    count('quarantined', metrics.get('quarantined')!),
    count('dead letters', metrics.get('dead_letters')!),
    count('commands answered', people.answered),
    count('commands not answered', people.unanswered),
    ...[...faults].map(([name, times]) => count(`requests to Discord that met: ${name}`, times)),
    count('warnings and errors in the log', counted.warnings),
    count('most memory, MiB', short(Math.max(...samples.map(({ rss }) => rss)))),
    count('memory, rise in the second half, MiB an hour', short(slope(half, ({ rss }) => rss))),
    count('largest WAL, MiB', short(Math.max(...samples.map(({ wal }) => wal / MIB)))),
  ]);
  for (const problem of verdict.problems.slice(0, 20)) process.stdout.write(`${problem}\n`);
  report('soak: disk', [
    { table: 'the whole file', rows: '', 'bytes a transfer': short(disk.perTransfer) },
    ...disk.tables
      .slice(0, TABLES)
      .map(({ table, rows, perTransfer }) => ({ table, rows, 'bytes a transfer': short(perTransfer) })),
    { table: 'share that pruning frees', rows: '', 'bytes a transfer': short(disk.freed) },
  ]);
}
