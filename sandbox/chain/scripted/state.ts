/** The scripted chain's state as text keys with BigInt or text values, with one level of undo. */
export type State = ReturnType<typeof createState>;

/** Creates an empty state. */
export function createState() {
  const values = new Map<string, bigint | string>();
  let undo: [key: string, before: bigint | string | undefined][] = [];

  /** Returns a number, by default 0. */
  function number(key: string): bigint {
    const value = values.get(key);
    return typeof value === 'bigint' ? value : 0n;
  }

  /** Returns a text, by default empty. */
  function text(key: string): string {
    const value = values.get(key);
    return typeof value === 'string' ? value : '';
  }

  function set(key: string, value: bigint | string): void {
    undo.push([key, values.get(key)]);
    values.set(key, value);
  }

  /** Makes the changes since the last commit or rollback final. */
  function commit(): void {
    undo = [];
  }

  /** Undoes the changes since the last commit or rollback. */
  function rollBack(): void {
    for (const [key, before] of undo.reverse()) {
      if (before === undefined) values.delete(key);
      else values.set(key, before);
    }
    undo = [];
  }

  return { number, text, set, commit, rollBack };
}
