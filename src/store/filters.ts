/** 16 bits for each of an epoch's 2^19 transfers. */
const BITS = 2 ** 23;
/** How many of them stand for a transaction: one of 900 that an epoch does not hold passes its filter. */
const PROBES = 6;
/** Epochs that share a slab, a bit of each of its bytes each. */
const TOGETHER = 8;
/** The lowest bit of each of four bytes for the four bits of a number. */
const SPREAD = Uint32Array.from({ length: 16 }, (_, n) => (n & 1) | ((n & 2) << 7) | ((n & 4) << 14) | ((n & 8) << 21));

/** An empty Bloom filter of an epoch: 1 MiB. */
export const emptyFilter = () => new Uint8Array(BITS / 8);

/** Notes a transaction of which the first eight digits of the hash are known. */
export function note(filter: Uint8Array, prefix: string): void {
  for (const bit of bitsOf(prefix)) filter[bit >>> 3]! |= 1 << (bit & 7);
}

/**
 * The Bloom filters of epochs, eight of them in each piece of 8 MiB: what a hundred epochs say of a transaction is beside
 * each other in memory, and read with some forty accesses instead of some hundred and fifty.
 */
export function bloomFilters() {
  const slabs: { bytes: Uint8Array; epochs: (number | null)[] }[] = [];

  function remove(epoch: number): boolean {
    const slab = slabs.find(({ epochs }) => epochs.includes(epoch));
    if (!slab) return false;
    const place = slab.epochs.indexOf(epoch);
    slab.epochs[place] = null;
    const others = 255 - (1 << place);
    for (let at = 0; at < BITS; at++) slab.bytes[at]! &= others;
    return true;
  }

  return {
    epochs: (): number[] => slabs.flatMap(({ epochs }) => epochs.filter((epoch) => epoch !== null)),

    add(epoch: number, filter: Uint8Array): void {
      remove(epoch);
      let slab = slabs.find(({ epochs }) => epochs.includes(null));
      if (!slab) {
        slab = { bytes: new Uint8Array(BITS), epochs: Array.from({ length: TOGETHER }, () => null) };
        slabs.push(slab);
      }
      const place = slab.epochs.indexOf(null);
      slab.epochs[place] = epoch;
      const words = new Uint32Array(slab.bytes.buffer);
      for (let at = 0; at < filter.length; at++) {
        words[2 * at]! |= SPREAD[filter[at]! & 15]! << place;
        words[2 * at + 1]! |= SPREAD[filter[at]! >>> 4]! << place;
      }
    },

    /** Whether there was one. */
    remove,

    /** The epochs that may hold the transaction; every one that does is among them. */
    of(prefix: string): number[] {
      const found: number[] = [];
      const bits = bitsOf(prefix);
      for (const { bytes, epochs } of slabs) {
        let passed = 255;
        for (const bit of bits) {
          passed &= bytes[bit]!;
          if (passed === 0) break;
        }
        for (let place = 0; passed >> place > 0; place++) {
          if ((passed >> place) & 1) found.push(epochs[place]!);
        }
      }
      return found;
    },
  };
}

/** The bits that stand for the beginning of a hash, which is random already; what is no hash shares those of 0. */
function bitsOf(prefix: string): number[] {
  const hash = Number.parseInt(prefix, 16) | 0;
  const stride = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1;
  return Array.from({ length: PROBES }, (_, n) => (hash + n * stride) >>> 9);
}
