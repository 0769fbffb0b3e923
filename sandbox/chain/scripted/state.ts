/** The scripted chain's state as text keys with BigInt or text values, with one level of undo. */
export class State {
  readonly #values = new Map<string, bigint | string>();
  #undo: [key: string, before: bigint | string | undefined][] = [];

  /** Returns a number, by default 0. */
  number(key: string): bigint {
    const value = this.#values.get(key);
    return typeof value === 'bigint' ? value : 0n;
  }

  /** Returns a text, by default empty. */
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

  /** Undoes everything since the last keep or drop. */
  drop(): void {
    for (const [key, before] of this.#undo.reverse()) {
      if (before === undefined) this.#values.delete(key);
      else this.#values.set(key, before);
    }
    this.#undo = [];
  }
}
