/**
 * How many letters must be added, removed or replaced to get from one text to the other; infinite when their lengths alone
 * differ by more than `most`.
 */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Number.POSITIVE_INFINITY;
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = before[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1);
      now.push(Math.min(replaced, before[column]! + 1, now[column - 1]! + 1));
    }
    before = now;
  }
  return before[other.length]!;
}
