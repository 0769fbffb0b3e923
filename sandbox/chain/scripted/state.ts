/** Everything the scripted chain remembers, as text keys and BigInt or text values, with one level of undo. */
export class State {
  readonly #values = new Map<string, bigint | string>();
  #undo: [key: string, before: bigint | string | undefined][] = [];

  /** A number; 0 where nothing was set. */
  number(key: string): bigint {
    const value = this.#values.get(key);
    return typeof value === 'bigint' ? value : 0n;
  }

  /** A text; empty where nothing was set. */
  text(key: string): string {
    const value = this.#values.get(key);
    return typeof value === 'string' ? value : '';
  }

  set(key: string, value: bigint | string): void {
    this.#undo.push([key, this.#values.get(key)]);
    this.#values.set(key, value);
  }

  /** Makes everything since the last keep or drop final. */
  keep(): void {
    this.#undo = [];
  }

  /** Takes back everything since the last keep or drop. */
  drop(): void {
    for (const [key, before] of this.#undo.reverse()) {
      if (before === undefined) this.#values.delete(key);
      else this.#values.set(key, before);
    }
    this.#undo = [];
  }
}
