import type { Call } from './methods.ts';
import type { PostedCall } from './thread-messages.ts';

/** The groups whose calls may share one transaction, and with it one wait for the disk. */
const SHARING: ReadonlySet<Call['group']> = new Set(['inbox', 'routing', 'outbox']);
/** How many calls share a transaction, at most. */
const MAX_SHARED = 64;

/** Whether a call stores deliveries. */
export const isDelivery = ({ call: { group, method } }: PostedCall): boolean =>
  group === 'inbox' && method === 'append';

/** The calls that wait for the thread: deliveries first, then all others in order. */
export function createCallQueue() {
  const deliveries: PostedCall[] = [];
  const others: PostedCall[] = [];
  /** The last turn took only deliveries. */
  let areOthersDue = false;

  const isSharing = (posted: PostedCall | undefined): boolean => posted !== undefined && SHARING.has(posted.call.group);

  return {
    add(posted: PostedCall): void {
      (isDelivery(posted) ? deliveries : others).push(posted);
    },
    /** The calls to run next; `shared`: several in one transaction, because each wait for the disk takes long. */
    take(shared: boolean): PostedCall[] {
      if (deliveries.length === 0 || (areOthersDue && others.length > 0 && !(shared && isSharing(others[0])))) {
        areOthersDue = false;
        if (!shared || !isSharing(others[0])) return others.splice(0, 1);
      }
      const calls = deliveries.splice(0, MAX_SHARED);
      if (shared) while (calls.length < MAX_SHARED && isSharing(others[0])) calls.push(others.shift()!);
      areOthersDue = others.length > 0;
      return calls;
    },
  };
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The calls that have no result yet, by id. */
export function createPendingCalls() {
  const pending = new Map<number, PendingCall>();
  let lastId = 0;
  let onDrained: (() => void) | null = null;

  function take(id: number): PendingCall | undefined {
    const call = pending.get(id);
    pending.delete(id);
    return call;
  }

  function checkDrained(): void {
    if (pending.size === 0) onDrained?.();
  }

  return {
    /** Adds a call; returns its id. */
    add(call: PendingCall): number {
      pending.set(++lastId, call);
      return lastId;
    },
    resolve: (id: number, result: unknown): void => take(id)?.resolve(result),
    reject: (id: number, error: Error): void => take(id)?.reject(error),
    rejectAll(error: Error): void {
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
      checkDrained();
    },
    checkDrained,
    isDraining: (): boolean => onDrained !== null,
    /** Resolves once every call made before has its result. */
    drain(): Promise<void> {
      return new Promise((resolve) => {
        onDrained = resolve;
        checkDrained();
      });
    },
  };
}
