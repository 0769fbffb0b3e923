import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';
import type { Acks } from './acks.ts';
import type { Ticket } from './admission.ts';
import type { Quotas } from './quotas.ts';
import type { StorageFault } from './storage-fault.ts';
import type { WaitingBodies, WaitingBody } from './waiting-bodies.ts';

/**
 * Most deliveries per commit. The responses of a commit are sent together: a thousand would block the event loop and
 * cause a thousand new requests at once.
 */
const MAX_IN_COMMIT = 128;
/**
 * A delivery this old is not stored: the process was suspended, and the sender will retry. Stored this late, it would
 * look like a second transfer next to its own retry.
 */
const LATE_MS = 2_000;

/** A body whose commit is done. */
interface StoredBody extends WaitingBody {
  row: Omit<InboxRow, 'body'> & { body: Buffer };
}

/** Dependencies and callbacks of the commits. */
export interface CommitOptions {
  store: Pick<Store, 'inbox'>;
  acks: Acks;
  now(): number;
  quotas: Pick<Quotas, 'stored' | 'diskFull'>;
  /** These were stored, in order. */
  onStored(rows: InboxRow[]): void;
}

/** Stores the bodies that wait: all that arrived by the time of a commit share it, and one commit runs at a time. */
export function createCommits(options: CommitOptions, waiting: WaitingBodies, fault: StorageFault) {
  const { store, acks, now, quotas, onStored } = options;
  let isRunning = false;
  let count = 0;

  /** Runs one commit after the other. Each begins before the previous one's responses are written: they take as long. */
  async function run(): Promise<void> {
    let stored: StoredBody[] = [];
    try {
      while (!waiting.isEmpty()) {
        const committing = commit(refuseLate(waiting.take(MAX_IN_COMMIT)));
        acks.storing(committing);
        respond(stored);
        stored = await committing;
      }
    } finally {
      isRunning = false;
    }
    respond(stored);
  }

  function refuseLate(group: WaitingBody[]): WaitingBody[] {
    const at = now();
    const { late = [], inTime = [] } = Object.groupBy(group, ({ ticket }) =>
      at - ticket.arrivedAt > LATE_MS ? 'late' : 'inTime',
    );
    for (const { onResult } of late) onResult('late');
    waiting.release(late);
    if (late.length > 0) fault.recordSlow();
    return inTime;
  }

  /** Stores a group; returns those that are durable now. */
  async function commit(group: WaitingBody[]): Promise<StoredBody[]> {
    if (group.length === 0) return [];
    const rows = group.map(({ ticket: { scope, arrivedAt, identity }, body }) => ({
      scope,
      receivedAt: arrivedAt,
      body,
      identity,
    }));
    const ids = await store.inbox.append(rows).catch((error: Error & { code?: string }) => {
      if (error.code === 'SQLITE_FULL' || error.code === 'POSTGRES_53100') quotas.diskFull();
      for (const { onResult } of group) onResult('busy');
      fault.recordFault(error.message);
      return null;
    });
    waiting.release(group);
    if (ids === null) return [];
    count++;
    fault.recordStored();
    const unacked = { ackedAt: null, isOpen: false };
    const stored = group.map((one, index) => ({ ...one, row: { ...rows[index]!, ...unacked, id: ids[index]! } }));
    for (const { ticket, row } of stored) track(ticket, row.id);
    return stored;
  }

  function track(ticket: Ticket, id: number): void {
    ticket.id = id;
    acks.track(id, ticket);
    // The request was already refused.
    if (ticket.isOver) acks.ended(id, ticket.ackedAt);
  }

  function respond(stored: StoredBody[]): void {
    if (stored.length === 0) return;
    for (const { onResult } of stored) onResult('stored');
    quotas.stored(stored.map(({ row: { scope, body } }) => ({ scope, bytes: body.length })));
    onStored(stored.map(({ row }) => ({ ...row, body: row.body.toString() })));
  }

  return {
    /** Stores what waits, once the events of this moment are handled. */
    start(): void {
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void run());
    },
    count: (): number => count,
  };
}
