import { MINUTE } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/** A stored delivery's outcome: `undefined` while its answer is on the way, null when it never got to the end. */
export type Answered = number | null | undefined;

/** Why a delivery was not stored in time; `busy`: the database was locked, its disk full, or it failed. */
export const REFUSALS = ['overload', 'busy', 'late', 'quarantine-full', 'closing'] as const;
export type Refusal = (typeof REFUSALS)[number];

/**
 * While so many requests wait for longer than a moment, a URL at which OWN_SLOW of them wait takes no more; and with
 * MOST_SLOW none does. So whoever sends bodies that never end to one guild's URL does not close the others.
 */
const MAX_SLOW = 64;
const OWN_SLOW = 16;
const MOST_SLOW = 128;
/** A request older than this counts as waiting; a burst that is committed at once is no overload. */
const SLOW_MS = 100;
/**
 * Deliveries that share a commit at the most. Answers go out a commit at a time, and a thousand at once would keep the
 * event loop from everything else, then come back as a thousand requests at once.
 */
const MOST_IN_COMMIT = 128;

/** After so long a delivery that could not be stored says nothing of the database any more. */
const FAULT_MS = 5 * MINUTE;

/** One delivery on its way through the receiver. */
export interface Ticket {
  arrivedAt: number;
  scope: number;
  /** Stored under this id, once it is. */
  id: number | null;
  /** The answer has been written, or the connection is gone. */
  over: boolean;
  answeredAt: number | null;
}

/** A body that waits for its commit. */
interface Waiting {
  ticket: Ticket;
  body: Buffer;
  settle(result: 'stored' | Refusal): void;
}

/** What the intake needs. `onStored` gets what was stored, in order; an empty list when another answer has ended. */
export interface IntakeOptions {
  store: Store;
  now(): number;
  onStored(rows: InboxRow[]): void;
  /** Deliveries cannot be stored, for this reason; null: they are stored again. Called when it changes. */
  onFault?(reason: string | null): void;
}

/**
 * Brings bodies to disk: all that have come when the loop turns share one commit, one commit runs at a time. Also
 * remembers which answers reached the end, which identity rests on.
 */
export function createIntake({ store, now, onStored, onFault }: IntakeOptions) {
  const queue: Waiting[] = [];
  let committing = false;
  let closing = false;
  let quarantineFull: ReadonlySet<number> = new Set();
  const open = new Set<Ticket>();
  const outcomes = new Map<number, Answered>();
  let commits = 0;
  let fault: { reason: string; at: number } | null = null;

  function tell(reason: string | null): void {
    const changes = reason !== (fault?.reason ?? null);
    fault = reason === null ? null : { reason, at: now() };
    if (changes) onFault?.(reason);
  }

  function overloaded(at: number, scope: number): boolean {
    let slow = 0;
    let own = 0;
    for (const ticket of open) {
      if (at - ticket.arrivedAt < SLOW_MS) break;
      slow++;
      if (ticket.scope === scope) own++;
    }
    return slow >= MOST_SLOW || (slow >= MAX_SLOW && own >= OWN_SLOW);
  }

  async function commitAll(): Promise<void> {
    try {
      while (queue.length > 0) await commit(queue.splice(0, MOST_IN_COMMIT));
    } finally {
      committing = false;
    }
  }

  async function commit(group: Waiting[]): Promise<void> {
    const rows = group.map(({ ticket, body }) => ({ scope: ticket.scope, receivedAt: ticket.arrivedAt, body }));
    const ids = await store.inbox.append(rows).catch((error: Error) => {
      for (const { settle } of group) settle('busy');
      tell(error.message);
      return null;
    });
    if (ids === null) return;
    commits++;
    tell(null);
    for (const [index, { ticket, settle }] of group.entries()) {
      ticket.id = ids[index]!;
      outcomes.set(ticket.id, ticket.over ? ticket.answeredAt : undefined);
      settle('stored');
    }
    onStored(rows.map((row, index) => ({ ...row, id: ids[index]!, body: row.body.toString() })));
  }

  return {
    /** Opens a ticket for a request, or says why it must come again. */
    admit(scope: number): Ticket | Refusal {
      const at = now();
      if (closing) return 'closing';
      if (quarantineFull.has(scope)) return 'quarantine-full';
      if (overloaded(at, scope)) return 'overload';
      const ticket: Ticket = { arrivedAt: at, scope, id: null, over: false, answeredAt: null };
      open.add(ticket);
      return ticket;
    },

    /** Stores a body; `settle` is called once it is durable or was refused. */
    store(ticket: Ticket, body: Buffer, settle: (result: 'stored' | Refusal) => void): void {
      queue.push({ ticket, body, settle });
      if (committing) return;
      committing = true;
      setImmediate(() => void commitAll());
    },

    /** Ends a ticket: `answeredAt` when a 200 was written to its end, null otherwise. */
    end(ticket: Ticket, answeredAt: number | null): void {
      if (ticket.over) return;
      ticket.over = true;
      ticket.answeredAt = answeredAt;
      open.delete(ticket);
      if (ticket.id !== null) {
        outcomes.set(ticket.id, answeredAt);
        onStored([]);
      }
    },

    /** How the answer to a stored delivery ended; those of an earlier process count as never answered. */
    outcome: (id: number): Answered => (outcomes.has(id) ? outcomes.get(id) : null),
    forget(ids: number[]): void {
      for (const id of ids) outcomes.delete(id);
    },
    /** Scopes that had too much set aside: what one guild's project sends must not close the others' URLs. */
    setQuarantineFull(scopes: ReadonlySet<number>): void {
      quarantineFull = scopes;
    },
    stopAdmitting(): void {
      closing = true;
    },
    state: () => ({ open: open.size, commits }),
    /** Why the last delivery could not be stored, for some minutes at the most; null when it could. */
    fault: (): string | null => (fault !== null && now() - fault.at < FAULT_MS ? fault.reason : null),
  };
}

/** Brings bodies to disk. */
export type Intake = ReturnType<typeof createIntake>;
