import type { Clock } from '../../src/domain/clock.ts';
import type { Commands } from './commands.ts';
import type { Events } from './events.ts';
import type { Faults } from './faults.ts';
import type { Files } from './files.ts';
import type { Gateway } from './gateway.ts';
import type { Interactions } from './interactions.ts';
import type { Limits } from './limits.ts';
import type { Messages } from './messages.ts';
import type { Replies } from './replies.ts';
import type { RequestLog } from './request-log.ts';
import type { World } from './world.ts';

/** The parts of one running stand-in, as its routes and actions see them. */
export interface Core {
  /** Root, e.g. `http://127.0.0.1:4000`. */
  url: string;
  token: string;
  /** Whether bodies are checked. */
  strict: boolean;
  privilegedIntents: boolean;
  clock: Clock;
  nextId: () => string;
  world: World;
  events: Events;
  messages: Messages;
  files: Files;
  commands: Commands;
  interactions: Interactions;
  replies: Replies;
  gateway: Gateway;
  faults: Faults;
  limits: Limits;
  log: RequestLog;
}
