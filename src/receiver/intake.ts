import { MINUTE, SECOND } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { QUOTA_REASONS } from '../domain/quota.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';
import type { Acks } from './acks.ts';
import type { Admission, Ticket } from './admission.ts';
import type { Quotas } from './quotas.ts';

/** Why a delivery was not stored in time; `busy`: the database was locked, its disk full, or it failed. */
export const REFUSALS = ['overload', 'busy', 'late', 'closing', ...QUOTA_REASONS] as const;
export type Refusal = (typeof REFUSALS)[number];

/**
 * Most deliveries per commit. The responses of a commit are sent together: a thousand would block the event loop and
 * cause a thousand new requests at once.
 */
const MAX_IN_COMMIT = 128;
/**
 * A delivery this old is not stored: the process was suspended, and the sender will retry. Stored this late, it would
 * look like a second transfer beside its own retry.
 */
const LATE_MS = 2_000;

/** A storage fault is forgotten after this, because the database may work again. */
const FAULT_MS = 5 * MINUTE;
/** A disk counts as slow until no delivery was refused because of it for this long. */
const CALM_MS = 10 * SECOND;
/** Most bytes of bodies that wait for the disk in memory: of all, and of the URL of one server's own project. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const OWN_WAITING_BYTES = 16 * 1024 * 1024;

/** A body that waits for its commit. */
interface WaitingBody {
  ticket: Ticket;
  body: Buffer;
  onResult(result: 'stored' | Refusal): void;
}

/** A body whose commit is done. */
interface StoredBody extends WaitingBody {
  row: Omit<InboxRow, 'body'> & { body: Buffer };
}

/** What the intake needs, and whom it notifies. */
export interface IntakeOptions {
  store: Pick<Store, 'inbox'>;
  acks: Acks;
  admission: Admission;
  now(): number;
  quotas: Pick<Quotas, 'admit' | 'stored' | 'diskFull'>;
  /** These were stored, in order; an empty list: the response to an earlier one ended. */
  onStored(rows: InboxRow[]): void;
  /** Deliveries cannot be stored, for this reason; null: they can again. Called when it changes. */
  onFault(reason: string | null): void;
  /** How long the last commit took, or the current one has taken, in milliseconds. */
  syncMs?(): number;
  /** Whether requests may be older than they look; see `watchSleep`. */
  hasSlept?(): boolean;
}

/** Stores bodies: all that arrived by the time of a commit share it, and one commit runs at a time. */
export function createIntake(options: IntakeOptions) {
  const { store, acks, admission, now, quotas, onStored, onFault, syncMs, hasSlept } = options;
  const faults = createFaults(now, onFault);
  const queue: WaitingBody[] = [];
  let isCommitting = false;
  let isClosing = false;
  let commits = 0;
  let waitingBytes = 0;
  const waitingOf = new Map<number, number>();

  /** A body joins those that wait for the disk, or leaves them with a negative length. */
  function countWaiting(scope: number, bytes: number): void {
    const left = (waitingOf.get(scope) ?? 0) + bytes;
    waitingBytes += bytes;
    if (left === 0) waitingOf.delete(scope);
    else waitingOf.set(scope, left);
  }

  /** Runs one commit after the other. Each begins before the previous one's responses are written: they take as long. */
  async function commitAll(): Promise<void> {
    let stored: StoredBody[] = [];
    try {
      while (queue.length > 0) {
        const committing = commit(refuseLate(queue.splice(0, MAX_IN_COMMIT)));
        respond(stored);
        stored = await committing;
      }
    } finally {
      isCommitting = false;
    }
    respond(stored);
  }

  function refuseLate(group: WaitingBody[]): WaitingBody[] {
    const at = now();
    const { late = [], inTime = [] } = Object.groupBy(group, ({ ticket }) =>
      at - ticket.arrivedAt > LATE_MS ? 'late' : 'inTime',
    );
    for (const { onResult } of late) onResult('late');
    for (const { ticket, body } of late) countWaiting(ticket.scope, -body.length);
    if (late.length > 0) tooSlow();
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
      faults.note(error.message, false);
      return null;
    });
    for (const { ticket, body } of group) countWaiting(ticket.scope, -body.length);
    if (ids === null) return [];
    commits++;
    faults.stored();
    return group.map((one, index) => ({ ...one, row: { ...rows[index]!, id: ids[index]! } }));
  }

  function respond(stored: StoredBody[]): void {
    if (stored.length === 0) return;
    for (const { ticket, row, onResult } of stored) {
      ticket.id = row.id;
      acks.track(ticket.id, ticket);
      // It was refused meanwhile: nobody reads a response any more.
      if (ticket.isOver) acks.ended(ticket.id, ticket.answeredAt);
      onResult('stored');
    }
    quotas.stored(stored.map(({ row: { scope, body } }) => ({ scope, bytes: body.length })));
    onStored(stored.map(({ row }) => ({ ...row, body: row.body.toString() })));
  }

  /** A delivery was refused because the disk was too slow for it. */
  const tooSlow = () =>
    faults.note(`storing takes too long: the disk took ${Math.round(syncMs?.() ?? 0)} ms to sync`, true);

  return {
    /** Opens a ticket for a request, or returns why it is refused. */
    admit(scope: number): Ticket | Refusal {
      if (isClosing) return 'closing';
      if (hasSlept?.()) return 'late';
      const refused = quotas.admit(scope);
      if (refused !== null) return refused;
      if (scope !== OPERATOR_SCOPE && (waitingOf.get(scope) ?? 0) > OWN_WAITING_BYTES) return 'overload';
      const ticket = waitingBytes > MAX_WAITING_BYTES ? null : admission.open(scope);
      if (ticket === null && queue.length > 0) tooSlow();
      return ticket ?? 'overload';
    },

    /** Stores a body; calls `onResult` once it is durable or was refused. */
    store(ticket: Ticket, body: Buffer, onResult: WaitingBody['onResult']): void {
      ticket.isComplete = true;
      countWaiting(ticket.scope, body.length);
      queue.push({ ticket, body, onResult });
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(() => void commitAll());
    },

    /** A request was refused because it was not stored in time. */
    noteLate(ticket: Ticket): void {
      if (ticket.isComplete) tooSlow();
    },

    /** Closes a ticket; `answeredAt`: when a 200 was written completely; null: it was not. */
    end(ticket: Ticket, answeredAt: number | null): void {
      if (ticket.isOver) return;
      ticket.isOver = true;
      ticket.answeredAt = answeredAt;
      admission.close(ticket);
      if (ticket.id === null) return;
      acks.ended(ticket.id, answeredAt);
      onStored([]);
    },

    /** From now on every request is refused. */
    stopAdmitting(): void {
      isClosing = true;
    },
    state: () => ({ open: admission.size(), commits }),
    fault: faults.latest,
  };
}

/** Stores bodies. */
export type Intake = ReturnType<typeof createIntake>;

/** Remembers why deliveries cannot be stored, and reports each change. */
function createFaults(now: () => number, onFault: IntakeOptions['onFault']) {
  let fault: { reason: string; isSlow: boolean; at: number } | null = null;
  return {
    /** A delivery was refused; `isSlow`: it would have been stored, but too late. */
    note(reason: string, isSlow: boolean): void {
      const isChange = isSlow ? !fault?.isSlow : fault?.reason !== reason;
      fault = { reason, isSlow, at: now() };
      if (isChange) onFault(reason);
    },
    /** Deliveries were stored. On a slow disk the next ones may still fail. */
    stored(): void {
      if (fault === null || (fault.isSlow && now() - fault.at < CALM_MS)) return;
      fault = null;
      onFault(null);
    },
    /** Why the last delivery could not be stored, for some minutes at most; null when it could. */
    latest: (): string | null => (fault !== null && now() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
