import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Admission, Ticket } from './admission.ts';
import { type CommitOptions, createCommits } from './commits.ts';
import type { Quotas } from './quotas.ts';
import type { Refusal } from './refusals.ts';
import { createStorageFault, type StorageFaultOptions } from './storage-fault.ts';
import { createWaitingBodies, type WaitingBody } from './waiting-bodies.ts';

/** Dependencies and callbacks of the intake. */
export interface IntakeOptions extends CommitOptions, StorageFaultOptions {
  admission: Admission;
  quotas: Pick<Quotas, 'admit' | 'stored' | 'diskFull'>;
  /** The response to a stored body was written, or its connection is gone. */
  onResponseEnded(): void;
  /** Whether requests may be older than they look; see `watchSuspension`. */
  wasSuspended?(): boolean;
}

/** Stores bodies. */
export type Intake = ReturnType<typeof createIntake>;

/** Admits requests and stores their bodies. */
export function createIntake(options: IntakeOptions) {
  const { acks, admission, quotas, onResponseEnded, wasSuspended } = options;
  const fault = createStorageFault(options);
  const waiting = createWaitingBodies();
  const commits = createCommits(options, waiting, fault);
  let isClosing = false;

  return {
    /** Opens a ticket for a request, or returns why it is refused. */
    admit(scope: number): Ticket | Refusal {
      if (isClosing) return 'closing';
      if (wasSuspended?.()) return 'late';
      const refused = quotas.admit(scope);
      if (refused !== null) return refused;
      if (scope !== OPERATOR_SCOPE && waiting.isFullFor(scope)) return 'overload';
      const ticket = waiting.isFull() ? null : admission.open(scope);
      if (ticket === null && !waiting.isEmpty()) fault.recordSlow();
      return ticket ?? 'overload';
    },

    /** Stores a body; calls `onResult` once it is durable or was refused. */
    store(ticket: Ticket, body: Buffer, onResult: WaitingBody['onResult']): void {
      ticket.isComplete = true;
      waiting.add({ ticket, body, onResult });
      commits.start();
    },

    /** Records that a request was refused because it was not stored in time. */
    recordLate(ticket: Ticket): void {
      if (ticket.isComplete) fault.recordSlow();
    },

    /** Closes a ticket; `ackedAt`: when a 200 was written completely; null: it was not. */
    end(ticket: Ticket, ackedAt: number | null): void {
      if (ticket.isOver) return;
      ticket.isOver = true;
      ticket.ackedAt = ackedAt;
      admission.close(ticket);
      if (ticket.id === null) return;
      acks.ended(ticket.id, ackedAt);
      onResponseEnded();
    },

    /** From now on every request is refused. */
    stopAdmitting(): void {
      isClosing = true;
    },
    state: () => ({ open: admission.size(), commits: commits.count() }),
    fault: fault.latest,
  };
}
