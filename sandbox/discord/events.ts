/** Sends events to listeners, and keeps the last 1,000 for listeners that reconnect. */
import { EventEmitter } from 'node:events';
import type { Clock } from '../../src/domain/clock.ts';
import type { ControlEvent } from './control.ts';

type Plain = ControlEvent extends infer E ? (E extends unknown ? Omit<E, 'id' | 'at'> : never) : never;
const KEPT = 1000;

export class Events {
  lastId = 0;
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly clock: Clock;
  private kept: ControlEvent[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
  }

  emit(event: Plain): void {
    this.lastId += 1;
    const full = { id: this.lastId, at: new Date(this.clock.now()).toISOString(), ...event } as ControlEvent;
    this.kept.push(full);
    if (this.kept.length > 2 * KEPT) this.kept = this.kept.slice(-KEPT);
    this.emitter.emit('event', full);
  }

  /** Calls the listener with every event from now on. Returns a function that stops that. */
  on(listener: (event: ControlEvent) => void): () => void {
    this.emitter.on('event', listener);
    return () => void this.emitter.off('event', listener);
  }

  /** Returns the events after this id, or undefined if some of them are no longer kept. */
  since(id: number): ControlEvent[] | undefined {
    const oldest = this.kept[0]?.id ?? this.lastId + 1;
    return id > this.lastId || id + 1 < oldest ? undefined : this.kept.filter((event) => event.id > id);
  }
}
