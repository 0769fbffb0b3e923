/** Sends events to listeners, and keeps the last 1,000 for listeners that reconnect. */
import { EventEmitter } from 'node:events';
import type { Clock } from '../../src/domain/clock.ts';
import type { ControlEvent } from './control.ts';

type Plain = ControlEvent extends infer E ? (E extends unknown ? Omit<E, 'id' | 'at'> : never) : never;
const MAX_EVENTS = 1_000;

/** The stand-in's events. */
export type Events = ReturnType<typeof createEvents>;

/** Creates the event stream of one stand-in. */
export function createEvents(clock: Clock) {
  let lastId = 0;
  const emitter = new EventEmitter().setMaxListeners(0);
  let kept: ControlEvent[] = [];

  function emit(event: Plain): void {
    lastId++;
    const full = { id: lastId, at: new Date(clock.now()).toISOString(), ...event } as ControlEvent;
    kept.push(full);
    if (kept.length > 2 * MAX_EVENTS) kept = kept.slice(-MAX_EVENTS);
    emitter.emit('event', full);
  }

  /** Calls the listener with every event from now on. Returns a function that stops that. */
  function on(listener: (event: ControlEvent) => void): () => void {
    emitter.on('event', listener);
    return () => void emitter.off('event', listener);
  }

  /** Returns the events after this id, or undefined if some of them are no longer kept. */
  function since(id: number): ControlEvent[] | undefined {
    const oldest = kept[0]?.id ?? lastId + 1;
    return id > lastId || id + 1 < oldest ? undefined : kept.filter((event) => event.id > id);
  }

  return {
    get lastId() {
      return lastId;
    },
    emit,
    on,
    since,
  };
}
