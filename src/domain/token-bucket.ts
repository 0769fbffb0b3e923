/** A token bucket: allows a burst, then one more every `everyMs`. Times are arguments. */
export interface BucketRule {
  burst: number;
  everyMs: number;
}

/** Buckets by key. Full ones are dropped. */
export function createBuckets({ burst, everyMs }: BucketRule) {
  const buckets = new Map<string, { left: number; at: number }>();

  function leftAt(key: string, now: number): number {
    const bucket = buckets.get(key);
    return bucket ? Math.min(burst, bucket.left + Math.max(0, now - bucket.at) / everyMs) : burst;
  }

  return {
    /** Milliseconds until the next one may happen; 0: now. */
    wait: (key: string, now: number): number => Math.max(0, Math.ceil((1 - leftAt(key, now)) * everyMs)),
    /** Records that one happened. */
    take(key: string, now: number): void {
      const left = leftAt(key, now) - 1;
      buckets.delete(key);
      buckets.set(key, { left, at: now });
      // In order of use: the first ones were used longest ago.
      for (const [first] of buckets) {
        if (leftAt(first, now) < burst) break;
        buckets.delete(first);
      }
    },
  };
}
