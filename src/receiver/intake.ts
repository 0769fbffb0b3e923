import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts';
import type { Inbox, NewDelivery } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';
import type { Admission, Quotas, Ticket } from './admission.ts';
import type { Disk } from './disk.ts';
import type { RefusalReason } from './refusals.ts';

/** Responses of a commit are sent together: a thousand would block the event loop and cause as many new requests. */
const MAX_IN_COMMIT = 128;
/** The process was suspended, and the sender will retry: stored now, this would look like a second transfer. */
const LATE_MS = 2_000;

/** `answer` is called once: when the body is durable or was refused. */
interface WaitingBody {
  ticket: Ticket;
  body: Buffer;
  answer(result: 'stored' | RefusalReason): void;
}

interface IntakeOptions {
  store: { inbox: Pick<Store['inbox'], 'append'> };
  inbox: Inbox;
  admission: Pick<Admission, 'hold'>;
  disk: Pick<Disk, 'wasFull'>;
  quotas: Pick<Quotas, 'stored'>;
  storage: StorageFault;
  clock: Pick<Clock, 'elapsed'>;
  log: Logger;
}

export type Intake = ReturnType<typeof createIntake>;

/** All bodies that arrived by the time of a commit share it, and one commit runs at a time. */
export function createIntake(options: IntakeOptions) {
  const { store, inbox, admission, disk, quotas, storage, log } = options;
  const { elapsed } = options.clock;
  const queue: WaitingBody[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const began = elapsed();
      const group: WaitingBody[] = [];
      const deliveries: NewDelivery[] = [];
      for (const waiting of queue.splice(0, MAX_IN_COMMIT)) {
        const { arrivedMs, bytes: _, ...delivery } = waiting.ticket;
        if (began - arrivedMs > LATE_MS) refuse(waiting, 'late');
        else {
          group.push(waiting);
          deliveries.push({ ...delivery, body: waiting.body });
        }
      }
      if (group.length === 0) continue;
      try {
        const ids = await store.inbox.append(deliveries);
        storage.stored();
        for (const { ticket } of group) admission.hold(ticket, 0);
        log.debug({ inbox: ids, ms: Math.round(elapsed() - began) }, 'deliveries stored');
        // After the next commit began: writing the responses takes as long.
        setImmediate(answer, group);
      } catch (error) {
        const { code, message } = error as Error & { code?: string };
        if (code === 'SQLITE_FULL' || code === 'POSTGRES_53100') disk.wasFull();
        for (const waiting of group) refuse(waiting, 'busy');
        storage.failed(message);
      }
    }
    isRunning = false;
  }

  function refuse({ ticket, answer }: WaitingBody, reason: RefusalReason): void {
    admission.hold(ticket, 0);
    answer(reason);
  }

  function answer(stored: WaitingBody[]): void {
    for (const { ticket, body, answer } of stored) {
      answer('stored');
      quotas.stored(ticket.scope, body.length);
    }
    inbox.wake();
  }

  return {
    store(ticket: Ticket, body: Buffer, answer: WaitingBody['answer']): void {
      admission.hold(ticket, body.length);
      queue.push({ ticket, body, answer });
      if (isRunning) return;
      isRunning = true;
      // Once the events of this moment are handled: their bodies share the commit.
      setImmediate(() => void run());
    },
  };
}

/** A storage fault is forgotten after this, because the database may work again. */
const FAULT_MS = 5 * MINUTE;
/** A disk counts as slow until no delivery was refused because of it for this long. */
const SLOW_MS = 10 * SECOND;

export type StorageFault = ReturnType<typeof createStorageFault>;

const SLOW = 'slow';

/** `syncMs`: how long the last commit took, or the current one has taken. */
export function createStorageFault(options: { clock: Pick<Clock, 'elapsed'>; syncMs(): number; log: Logger }) {
  const { syncMs, log } = options;
  const { elapsed } = options.clock;
  let fault: { kind: string; reason: string; at: number } | null = null;

  function failed(reason: string, kind = reason): void {
    if (kind !== fault?.kind) log.error({ reason }, 'cannot store deliveries: returning 503, the sender will retry');
    fault = { kind, reason, at: elapsed() };
  }

  return {
    failed: (reason: string): void => failed(reason),
    slow: (): void => failed(`storing takes too long: the disk took ${Math.round(syncMs())} ms to sync`, SLOW),
    /** On a slow disk the next deliveries may still fail. */
    stored(): void {
      if (fault === null || (fault.kind === SLOW && elapsed() - fault.at < SLOW_MS)) return;
      fault = null;
      log.info('deliveries can be stored again');
    },
    reason: (): string | null => (fault !== null && elapsed() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
