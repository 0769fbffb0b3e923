/** Runs of every measurement; peers take turns within each run. */
const RUNS = 5;

/** Measures subjects in turns, {@link RUNS} times each. Returns the results of each subject, run by run. */
export async function inTurns<Result>(subjects: readonly (() => Promise<Result>)[]): Promise<Result[][]> {
  const results: Result[][] = subjects.map(() => []);
  for (let run = 0; run < RUNS; run++) for (const [n, measure] of subjects.entries()) results[n]!.push(await measure());
  return results;
}

/** One row of a table. */
export type Row = Record<string, string | number>;

/** A number with three significant digits. */
export const short = (value: number): number => (value >= 1_000 ? Math.round(value) : Number(value.toPrecision(3)));

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);

export const median = (values: readonly number[]): number => short(sorted(values)[Math.floor(values.length / 2)]!);

/** The columns that compare our values with a peer's, or with a bound, run by run. */
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

/** Prints a table. */
export function report(name: string, rows: Row[]): void {
  process.stdout.write(`\n${name}\n`);
  console.table(rows);
}
