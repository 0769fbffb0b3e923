/** How to load a result, and for how many milliseconds it is cached (0: not at all). */
interface Loading<Result> {
  load(): Promise<Result>;
  keepMs(result: Result): number;
}

/**
 * Caches the latest `max` results by key, each for its time. Equal requests at the same time share one call. lru-cache
 * would save no line: there a time of 0 means forever, and an entry that is evicted aborts its request.
 */
export function createCache<Result>(max: number, now: () => number) {
  const cached = new Map<string, { until: number; result: Result }>();
  const loading = new Map<string, Promise<Result>>();

  return (key: string, { load, keepMs }: Loading<Result>): Promise<Result> => {
    const found = cached.get(key);
    if (found && found.until > now()) return Promise.resolve(found.result);
    const underWay = loading.get(key);
    if (underWay) return underWay;
    const loaded = load()
      .then((result) => {
        const keep = keepMs(result);
        if (keep === 0) return result;
        cached.delete(key);
        cached.set(key, { until: now() + keep, result });
        if (cached.size > max) cached.delete(cached.keys().next().value!);
        return result;
      })
      .finally(() => loading.delete(key));
    loading.set(key, loaded);
    return loaded;
  };
}
