/** How a question is put, and how many milliseconds its answer is remembered (0: not at all). */
interface Asking<Answer> {
  ask(): Promise<Answer>;
  keepMs(answer: Answer): number;
}

/**
 * Remembers the latest `most` answers, each for its time, and never has the same question under way twice: whoever asks
 * meanwhile gets the answer to the first.
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
