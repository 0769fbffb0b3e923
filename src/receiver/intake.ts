import { MINUTE } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';
import type { Acks } from './acks.ts';
import { createAdmission, type Ticket } from './admission.ts';

/** Why a delivery was not stored in time; `busy`: the database was locked, its disk full, or it failed. */
export const REFUSALS = ['overload', 'busy', 'late', 'quarantine-full', 'closing'] as const;
export type Refusal = (typeof REFUSALS)[number];

/**
 * Deliveries per commit, at most. Responses go out a commit at a time; a thousand at once would block the event loop,
 * and come back as a thousand requests at once.
 */
const MAX_IN_COMMIT = 128;
/**
 * A delivery this old is not stored: the process slept, and the sender has gone to retry. Stored that late, it would look
 * like a second transfer beside its own retry.
 */
const LATE_MS = 2_000;

/** A storage fault is forgotten after this: it no longer says anything about the database. */
const FAULT_MS = 5 * MINUTE;

/** A body that waits for its commit. */
interface WaitingBody {
  ticket: Ticket;
  body: Buffer;
  onResult(result: 'stored' | Refusal): void;
}

/** What the intake needs, and whom it notifies. */
export interface IntakeOptions {
  store: Pick<Store, 'inbox'>;
  acks: Acks;
  now(): number;
  /** The scope's quarantine is full, so its deliveries are refused. */
  isQuarantineFull(scope: number): boolean;
  /** These were stored, in order; an empty list: the response to an earlier one ended. */
  onStored(rows: InboxRow[]): void;
  /** Deliveries cannot be stored, for this reason; null: they can again. Called when it changes. */
  onFault(reason: string | null): void;
}

/** Stores bodies: all that arrived by the time of a commit share it, and one commit runs at a time. */
export function createIntake({ store, acks, now, isQuarantineFull, onStored, onFault }: IntakeOptions) {
  const admission = createAdmission(now);
  const faults = createFaults(now, onFault);
  const queue: WaitingBody[] = [];
  let isCommitting = false;
  let isClosing = false;
  let commits = 0;

  async function commitAll(): Promise<void> {
    try {
      while (queue.length > 0) await commit(refuseLate(queue.splice(0, MAX_IN_COMMIT)));
    } finally {
      isCommitting = false;
    }
  }

  function refuseLate(group: WaitingBody[]): WaitingBody[] {
    const at = now();
    const { late = [], inTime = [] } = Object.groupBy(group, ({ ticket }) =>
      at - ticket.arrivedAt > LATE_MS ? 'late' : 'inTime',
    );
    for (const { onResult } of late) onResult('late');
    return inTime;
  }

  async function commit(group: WaitingBody[]): Promise<void> {
    if (group.length === 0) return;
    const rows = group.map(({ ticket, body }) => ({ scope: ticket.scope, receivedAt: ticket.arrivedAt, body }));
    const ids = await store.inbox.append(rows).catch((error: Error) => {
      for (const { onResult } of group) onResult('busy');
      faults.note(error.message);
      return null;
    });
    if (ids === null) return;
    commits++;
    faults.note(null);
    for (const [index, { ticket, onResult }] of group.entries()) {
      ticket.id = ids[index]!;
      acks.track(ticket.id, ticket);
      onResult('stored');
    }
    onStored(rows.map((row, index) => ({ ...row, id: ids[index]!, body: row.body.toString() })));
  }

  return {
    /** Opens a ticket for a request, or returns why it is refused. */
    admit(scope: number): Ticket | Refusal {
      if (isClosing) return 'closing';
      if (isQuarantineFull(scope)) return 'quarantine-full';
      return admission.open(scope) ?? 'overload';
    },

    /** Stores a body; calls `onResult` once it is durable or was refused. */
    store(ticket: Ticket, body: Buffer, onResult: WaitingBody['onResult']): void {
      queue.push({ ticket, body, onResult });
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(() => void commitAll());
    },

    /** Closes a ticket: `answeredAt` when a 200 was written to the end, else null. */
    end(ticket: Ticket, answeredAt: number | null): void {
      if (ticket.isOver) return;
      ticket.isOver = true;
      ticket.answeredAt = answeredAt;
      admission.close(ticket);
      if (ticket.id !== null) onStored([]);
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
  let fault: { reason: string; at: number } | null = null;
  return {
    note(reason: string | null): void {
      const isChange = reason !== (fault?.reason ?? null);
      fault = reason === null ? null : { reason, at: now() };
      if (isChange) onFault(reason);
    },
    /** Why the last delivery could not be stored, for some minutes at most; null when it could. */
    latest: (): string | null => (fault !== null && now() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
