import type { Clock } from '../../src/domain/clock.ts';
import type { Events } from './events.ts';
import type { World } from './world.ts';

/** What every part of one running stand-in shares. */
export interface Base {
  /** Root, e.g. `http://127.0.0.1:4000`; empty until it listens. */
  url: string;
  readonly token: string;
  /** Whether bodies are checked. */
  readonly strict: boolean;
  readonly privilegedIntents: boolean;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly world: World;
  readonly events: Events;
}
