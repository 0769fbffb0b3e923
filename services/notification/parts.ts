import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import type { EventStyle } from './event.ts';
import type { NotificationStore } from './store/index.ts';
import type { Faults } from './types.ts';

export interface NotificationOptions {
  node: Nodes;
  dir: string;
  clock: Clock;
  log: Logger;
  style: EventStyle;
  pollMs: number;
  webhookAllow: readonly string[];
  secretsOf(projectId: string): readonly string[];
  /** A removed project gets no events, and nothing is sent for it. */
  isServed(projectId: string): boolean;
  /** Called after each attempt with its HTTP status, or `none`. */
  onAttempt(result: string): void;
}

export interface Parts extends NotificationOptions {
  store: NotificationStore;
  faults(): Faults;
  stopping: AbortSignal;
}
