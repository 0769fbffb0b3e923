import type { Logger } from 'pino';
import type { CommandServices } from '../../commands/shared/services.ts';
import type { Config } from '../config.ts';
import type { DelivererOptions } from '../delivery/deliverer.ts';
import type { GatewayOptions, startGateway } from '../discord/gateway.ts';
import type { Clock } from '../domain/clock.ts';
import type { Sender } from '../domain/sender.ts';
import type { Limits } from '../limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { HEADERS } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';

export interface AppContext {
  config: Config;
  log: Logger;
  clock: Clock;
  random(): number;
  metrics: Metrics;
  /** Closes what was started, latest first: when the app stops, or when a later part cannot start. */
  stack: AsyncDisposableStack;
}

/** Replacements for tests. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  random?: () => number;
  /** It is closed with the app and not backed up. */
  database?: OpenStore;
  sender?: Sender;
  renderers?: Partial<
    Pick<DelivererOptions, 'render' | 'renderAgain' | 'countFitting' | 'renderPlain' | 'renderParked' | 'renderDigest'>
  >;
  services?: Partial<CommandServices>;
  connect?: (options: GatewayOptions<CommandServices>) => Gateway;
  limits?: Limits;
  headers?: typeof HEADERS;
  upstreamTimeoutMs?: number;
  /** Milliseconds between two comparisons with the chain. */
  chainRoundMs?: number;
}

type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
