import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import type { EventStyle } from './event.ts';
import type { NotificationStore } from './store/index.ts';
import type { Faults } from './types.ts';

/** What the notification service is given. */
export interface NotificationOptions {
  node: Nodes;
  /** The folder of the SQLite file. */
  dir: string;
  clock: Clock;
  log: Logger;
  style: EventStyle;
  pollMs: number;
  /** Private addresses and CIDRs that deliveries may go to. */
  webhookAllow: readonly string[];
  secretsOf(projectId: string): readonly string[];
  /** Whether a project still exists. A removed project gets no events, and nothing is sent for it. */
  isServed(projectId: string): boolean;
  /** Called after each attempt with its HTTP status, or `none`. */
  onAttempt(result: string): void;
}

/** What all its parts work with. */
export interface Parts extends NotificationOptions {
  store: NotificationStore;
  faults(): Faults;
  /** Aborted when the service closes. */
  stopping: AbortSignal;
}
