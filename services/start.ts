import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Notification, Project } from './notification/types.ts';

/** The names of the three services. */
export const serviceNames = ['notification', 'explorer', 'discovery'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface ServicesOptions {
  /** Any EVM node's JSON-RPC URL. */
  rpcUrl: string;
  /** The folder of the notification service's SQLite file; made if missing. */
  dir: string;
  /** Who may manage webhooks. */
  projects: readonly Project[];
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  /** Which to run; default all. */
  only?: ServiceName;
  /** `tokenType` of native events; default `NATIVE`. */
  nativeSymbol?: string;
  /** Milliseconds between looks for a new block; default 1000. */
  pollMs?: number;
  /** Contracts that the explorer calls cataloged; default none. */
  cataloged?: readonly string[];
  /** The JSON file of the discovery service; default the one that comes with it. */
  providersFile?: string;
  clock?: Clock;
  /** Default: silent. */
  log?: Logger;
}

export interface Services {
  /** Where the server listens, e.g. `http://127.0.0.1:8090`. */
  url: string;
  /** Root of interface A, `…/notification/v0`. */
  notificationUrl: string;
  /** Root of interface B, `…/explorer/v0`. */
  explorerApiUrl: string;
  /** The explorer's web root, `…/explorer`. */
  explorerUrl: string;
  /** Root of interface C, `…/discovery`. */
  discoveryUrl: string;
  /** null when only another service runs. */
  notification: Notification | null;
  /** Stops scanning, sending and listening; what is pending stays on disk. */
  close(): Promise<void>;
}

/**
 * Starts the services in this process, over one port.
 *
 * @throws when the port is in use, or another process has the folder's database open.
 */
export async function startServices(_options: ServicesOptions): Promise<Services> {
  throw new Error('not yet');
}
