/**
 * 16 bits for each of an epoch's 2^17 transfers. What is kept in the file depends on this, on {@link PROBES} and on
 * {@link bitsOf}: whoever changes them empties the table `epochs` by a migration.
 */
const BITS = 2 ** 21;
/** How many of them stand for a transaction: one of a thousand that an epoch does not hold passes its filter. */
const PROBES = 6;
/** Epochs that share a slab, a bit of each of its words each. */
const TOGETHER = 32;

/** An empty Bloom filter of an epoch: 256 KiB. */
export const emptyFilter = () => new Uint8Array(BITS / 8);

/** Notes a transaction of which the first eight digits of the hash are known. */
export function note(filter: Uint8Array, prefix: string): void {
  for (const bit of bitsOf(prefix)) filter[bit >>> 3]! |= 1 << (bit & 7);
}

/**
 * The Bloom filters of epochs, 32 of them in each slab of 8 MiB: what four hundred epochs say of a transaction is read
 * with some fifty accesses instead of some six hundred.
 */
export function bloomFilters() {
  const slabs: { words: Uint32Array; epochs: (number | null)[] }[] = [];

  function remove(epoch: number): boolean {
    const index = slabs.findIndex(({ epochs }) => epochs.includes(epoch));
    if (index < 0) return false;
    const { words, epochs } = slabs[index]!;
    const place = epochs.indexOf(epoch);
    epochs[place] = null;
    if (epochs.every((one) => one === null)) slabs.splice(index, 1);
    else for (let bit = 0; bit < BITS; bit++) words[bit]! &= ~(1 << place);
    return true;
  }

  return {
    epochs: (): number[] => slabs.flatMap(({ epochs }) => epochs.filter((epoch) => epoch !== null)),

    add(epoch: number, filter: Uint8Array): void {
      remove(epoch);
      let slab = slabs.find(({ epochs }) => epochs.includes(null));
      if (!slab) {
        slab = { words: new Uint32Array(BITS), epochs: Array.from({ length: TOGETHER }, () => null) };
        slabs.push(slab);
      }
      const { words, epochs } = slab;
      const place = epochs.indexOf(null);
      epochs[place] = epoch;
      for (let at = 0; at < filter.length; at++) {
        // Each of the byte's bits that is set, the lowest first.
        for (let left = filter[at]!; left > 0; left &= left - 1)
          words[at * 8 + 31 - Math.clz32(left & -left)]! |= 1 << place;
      }
    },

    /** Whether there was one. */
    remove,

    /** The epochs that may hold the transaction; every one that does is among them. */
    of(prefix: string): number[] {
      const found: number[] = [];
      const bits = bitsOf(prefix);
      for (const { words, epochs } of slabs) {
        let passed = -1;
        for (const bit of bits) {
          passed &= words[bit]!;
          if (passed === 0) break;
        }
        for (; passed !== 0; passed &= passed - 1) found.push(epochs[31 - Math.clz32(passed & -passed)]!);
      }
      return found;
    },
  };
}

/** The bits that stand for the beginning of a hash, which is random already; what is no hash shares those of 0. */
function bitsOf(prefix: string): number[] {
  const hash = Number.parseInt(prefix, 16) | 0;
  const stride = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1;
  return Array.from({ length: PROBES }, (_, n) => (hash + n * stride) >>> 11);
}
