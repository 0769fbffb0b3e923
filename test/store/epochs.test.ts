import { expect, it } from 'vitest';
import { ledgerEpochs } from '../../src/store/sqlite/epochs.ts';
import { openHere } from './opened.ts';

const EPOCH = 2 ** 17;
const EACH = 6_000;
/** The same in every run, and spread as hashes are. */
const hashOf = (n: number) =>
  `0x${(Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}${'0'.repeat(56)}`;

it('a full epoch is asked for each transaction that it holds, and for hardly any other', () => {
  const db = openHere();
  const add = db.prepare<[number, string, string]>(
    "INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (?, ?, 0, ?, 1, 1, 1, '{}')",
  );
  db.transaction(() => {
    for (let n = 0; n < 3 * EACH; n++) add.run(Math.floor(n / EACH) * EPOCH + n, String(n), hashOf(n));
  })();
  const epochs = ledgerEpochs(db);
  expect(epochs.of(hashOf(0))).toEqual([2, 1, 0]);
  while (epochs.takeDown());
  // A connection that is opened later reads what was taken down.
  for (const { of } of [epochs, ledgerEpochs(db)]) {
    const [first, second, latest, unknown] = [0, 1, 2, 3].map((part) =>
      Array.from({ length: EACH }, (_, n) => of(hashOf(part * EACH + n))),
    );
    expect(first!.every((asked) => asked[0] === 2 && asked.includes(0))).toBe(true);
    expect(second!.every((asked) => asked[0] === 2 && asked.includes(1))).toBe(true);
    for (const asked of [latest!, unknown!]) {
      expect(asked.every(([newest]) => newest === 2)).toBe(true);
      expect(asked.filter(({ length }) => length > 1).length).toBeLessThan(EACH / 100);
    }
  }
});
