import { MIB } from '../domain/bytes.ts';
import type { Ticket } from './admission.ts';
import type { Refusal } from './refusals.ts';

/** Most bytes of bodies that wait for the disk in memory: of all, and of the URL of one server's own project. */
const MAX_BYTES = 64 * MIB;
const OWN_BYTES = 16 * MIB;

/** A body that waits for its commit. */
export interface WaitingBody {
  ticket: Ticket;
  body: Buffer;
  onResult(result: 'stored' | Refusal): void;
}

/** The bodies that wait for the disk. */
export type WaitingBodies = ReturnType<typeof createWaitingBodies>;

/** Queues bodies for the disk. Each takes up memory until it is released: stored, or refused. */
export function createWaitingBodies() {
  const queue: WaitingBody[] = [];
  const bytesOf = new Map<number, number>();
  let bytes = 0;

  function count(scope: number, change: number): void {
    const left = (bytesOf.get(scope) ?? 0) + change;
    bytes += change;
    if (left === 0) bytesOf.delete(scope);
    else bytesOf.set(scope, left);
  }

  return {
    /** Whether no body waits for the next commit. */
    isEmpty: (): boolean => queue.length === 0,
    /** Whether the bodies take up too much memory. */
    isFull: (): boolean => bytes > MAX_BYTES,
    /** Whether those of one server's own project do. */
    isFullFor: (scope: number): boolean => (bytesOf.get(scope) ?? 0) > OWN_BYTES,
    add(waiting: WaitingBody): void {
      count(waiting.ticket.scope, waiting.body.length);
      queue.push(waiting);
    },
    /** Takes the oldest bodies from the queue, at most `limit`. */
    take: (limit: number): WaitingBody[] => queue.splice(0, limit),
    /** These no longer wait for the disk. */
    release(bodies: readonly WaitingBody[]): void {
      for (const { ticket, body } of bodies) count(ticket.scope, -body.length);
    },
  };
}
