/** How to make a request, and for how many milliseconds its result is cached (0: not at all). */
interface Asking<Answer> {
  ask(): Promise<Answer>;
  keepMs(answer: Answer): number;
}

/**
 * Caches the latest `most` results, each for its time. Equal requests at the same time share one call. With lru-cache it
 * would have as many lines: there, a time of 0 means forever, and a request ends with its place in the cache.
 */
export function createMemory<Answer>(most: number, now: () => number) {
  const known = new Map<string, { until: number; answer: Answer }>();
  const asking = new Map<string, Promise<Answer>>();

  return (question: string, { ask, keepMs }: Asking<Answer>): Promise<Answer> => {
    const found = known.get(question);
    if (found && found.until > now()) return Promise.resolve(found.answer);
    const underWay = asking.get(question);
    if (underWay) return underWay;
    const asked = ask()
      .then((answer) => {
        const keep = keepMs(answer);
        if (keep === 0) return answer;
        known.delete(question);
        known.set(question, { until: now() + keep, answer });
        if (known.size > most) known.delete(known.keys().next().value!);
        return answer;
      })
      .finally(() => asking.delete(question));
    asking.set(question, asked);
    return asked;
  };
}
