/** Runs of every measurement; peers take turns within each run. */
export const RUNS = 5;

/** Measures subjects in turns, {@link RUNS} times each. Returns the results of each subject, run by run. */
export async function inTurns<Result>(subjects: readonly ((run: number) => Promise<Result>)[]): Promise<Result[][]> {
  const results: Result[][] = subjects.map(() => []);
  for (let run = 0; run < RUNS; run++)
    for (const [n, measure] of subjects.entries()) results[n]!.push(await measure(run));
  return results;
}

/** One row of a table. */
export type Row = Record<string, string | number>;

export function spread(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, min: sorted[0]!, max: sorted.at(-1)! };
}

/** The quantile of this share; NaN of no values. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A number with three significant digits. */
export const short = (value: number): number => (value >= 1_000 ? Math.round(value) : Number(value.toPrecision(3)));

/** The columns of a ratio. */
export function ratioColumns(values: number[]): Row {
  const { median, min, max } = spread(values);
  return { 'ratio median': short(median), 'ratio min': short(min), 'ratio max': short(max) };
}

/** Prints a table. */
export function report(name: string, rows: Row[]): void {
  process.stdout.write(`\n${name}\n`);
  console.table(rows);
}
