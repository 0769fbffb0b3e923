import { EventEmitter } from 'node:events';
import { type Clock, MINUTE, systemClock } from '../../src/domain/clock.ts';
import type { ControlEvent } from './control.ts';

type Plain = ControlEvent extends infer E ? (E extends unknown ? Omit<E, 'id' | 'at'> : never) : never;
/** Longer than any machine needs. In real time, because the clock of the stand-in may stand still. */
const MAX_WAIT_MS = 2 * MINUTE;

export type Events = ReturnType<typeof createEvents>;

export function createEvents(clock: Clock) {
  let id = 0;
  const emitter = new EventEmitter().setMaxListeners(0);
  const waits = new Set<(error: Error) => void>();

  function emit(event: Plain): void {
    id++;
    emitter.emit('event', { id, at: new Date(clock.now()).toISOString(), ...event });
  }

  function on(listener: (event: ControlEvent) => void): () => void {
    emitter.on('event', listener);
    return () => void emitter.off('event', listener);
  }

  /**
   * Resolves with what `look` finds, now or after one of the next events. @throws what `look` throws, or after two
   * minutes an error that names `what`.
   */
  function until<Found>(look: (event?: ControlEvent) => Found | undefined, what: () => string): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>();

    function check(event?: ControlEvent): void {
      try {
        const found = look(event);
        if (found !== undefined) resolve(found);
      } catch (error) {
        reject(error);
      }
    }

    const tooLate = (): void => reject(new Error(`This was expected and never happened: ${what()}`));
    const cancel = systemClock.after(MAX_WAIT_MS, tooLate);
    const stop = on(check);
    waits.add(reject);
    check();
    return promise.finally(() => {
      cancel();
      stop();
      waits.delete(reject);
    });
  }

  return {
    emit,
    on,
    until,
    close(): void {
      for (const reject of waits) reject(new Error('The stand-in was closed.'));
    },
  };
}
