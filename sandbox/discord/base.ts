import type { Clock } from '../../src/domain/clock.ts';
import type { Events } from './events.ts';
import type { World } from './world.ts';

export interface Base {
  /** Empty until it listens. */
  url: string;
  readonly token: string;
  readonly strict: boolean;
  readonly privilegedIntents: boolean;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly world: World;
  readonly events: Events;
}
