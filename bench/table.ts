/** Peers take turns within each run. */
const RUNS = 5;

/** The results of each subject, run by run. */
export async function inTurns<Result>(subjects: readonly (() => Promise<Result>)[]): Promise<Result[][]> {
  const results: Result[][] = subjects.map(() => []);
  for (let run = 0; run < RUNS; run++) for (const [n, measure] of subjects.entries()) results[n]!.push(await measure());
  return results;
}

export type Row = Record<string, string | number>;

/** With three significant digits. */
export const short = (value: number): number => (value >= 1_000 ? Math.round(value) : Number(value.toPrecision(3)));

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);

export const median = (values: readonly number[]): number => short(sorted(values)[Math.floor(values.length / 2)]!);

/** Run by run. */
export function compare(what: string, ours: readonly number[], others: readonly number[], peer = 'peer'): Row {
  const ratios = sorted(ours.map((value, run) => value / others[run]!));
  return {
    'ratio median': median(ratios),
    'ratio min': short(ratios[0]!),
    'ratio max': short(ratios.at(-1)!),
    [what]: median(ours),
    [peer]: median(others),
  };
}

export function report(name: string, rows: Row[]): void {
  process.stdout.write(`\n${name}\n`);
  console.table(rows);
}
