import type { Logger } from 'pino';
import type { CommandServices } from '../../commands/shared/services.ts';
import type { GatewayOptions, startGateway } from '../discord/gateway.ts';
import type { Clock } from '../domain/clock.ts';
import type { Sender } from '../domain/send-outcome.ts';
import type { Limits } from '../limits.ts';
import type { HEADERS } from '../receiver/connections.ts';
import type { OpenStore, StoreListener } from '../store/open-store.ts';
import type { Renderers } from './sending.ts';

/** Replacements for tests. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  /** Milliseconds that really passed, since any moment. */
  elapsed?: () => number;
  /** From 0 to 1. */
  random?: () => number;
  /** An open database instead of the configured file; it is closed with the app and not backed up. */
  database?: OpenStore;
  sender?: Sender;
  renderers?: Partial<Renderers>;
  services?: Partial<CommandServices>;
  connect?: (options: GatewayOptions<CommandServices>) => Gateway;
  /** The system's limits for this process. */
  limits?: Limits;
  /** The timeouts of requests' headers at the receiver. */
  headers?: typeof HEADERS;
  /** Milliseconds that each of the three interfaces has to respond. */
  upstreamTimeoutMs?: number;
  /** Notified when the database can no longer be used. */
  onDatabase?: StoreListener;
}

type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
