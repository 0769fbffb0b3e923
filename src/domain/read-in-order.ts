/**
 * Returns a function that reads and then applies the result, unless the result of a read that began later was applied
 * before: a slow read never replaces newer state.
 */
export function readInOrder<Result>(read: () => Promise<Result>, apply: (result: Result) => void): () => Promise<void> {
  let begun = 0;
  let applied = 0;
  return async () => {
    const turn = ++begun;
    const result = await read();
    if (turn < applied) return;
    applied = turn;
    apply(result);
  };
}
