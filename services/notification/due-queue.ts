/** When each webhook is next due. It is asked after each attempt, so it is a heap: there may be thousands of webhooks. */
export interface DueQueue {
  /** Records when a webhook is next due, unless an earlier time is recorded. */
  add(webhookId: string, dueAt: number): void;
  /** Removes and returns a webhook that is due at `now`, the earliest first. */
  take(now: number): string | undefined;
  /** When the next one is due. */
  nextAt(): number | undefined;
}

/** Creates an empty queue, a binary heap. */
export function createDueQueue(): DueQueue {
  const due = new Map<string, number>();
  // Entries that no longer agree with `due` are skipped when they come to the top.
  const heap: { at: number; id: string }[] = [];

  function swap(one: number, other: number): void {
    const entry = heap[one]!;
    heap[one] = heap[other]!;
    heap[other] = entry;
  }

  function push(at: number, id: string): void {
    heap.push({ at, id });
    for (let index = heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (heap[parent]!.at <= heap[index]!.at) break;
      swap(parent, index);
      index = parent;
    }
  }

  function pop(): void {
    const end = heap.pop()!;
    if (heap.length === 0) return;
    heap[0] = end;
    for (let index = 0; ; ) {
      const [left, right] = [index * 2 + 1, index * 2 + 2];
      let first = index;
      if (left < heap.length && heap[left]!.at < heap[first]!.at) first = left;
      if (right < heap.length && heap[right]!.at < heap[first]!.at) first = right;
      if (first === index) return;
      swap(index, first);
      index = first;
    }
  }

  function top(): { at: number; id: string } | undefined {
    while (heap[0] !== undefined && due.get(heap[0].id) !== heap[0].at) pop();
    return heap[0];
  }

  return {
    add(webhookId, dueAt) {
      if (dueAt >= (due.get(webhookId) ?? Number.POSITIVE_INFINITY)) return;
      due.set(webhookId, dueAt);
      push(dueAt, webhookId);
    },
    take(now) {
      const first = top();
      if (first === undefined || first.at > now) return undefined;
      pop();
      due.delete(first.id);
      return first.id;
    },
    nextAt: () => top()?.at,
  };
}
