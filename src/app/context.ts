import type { Logger } from 'pino';
import type { CommandServices } from '../../commands/shared/services.ts';
import type { Config } from '../config.ts';
import type { DelivererOptions } from '../delivery/deliverer.ts';
import type { GatewayOptions, startGateway } from '../discord/gateway.ts';
import type { Clock } from '../domain/clock.ts';
import type { Sender } from '../domain/sender.ts';
import type { Limits } from '../limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PathTokens } from '../receiver/path-tokens.ts';
import type { watchReachability } from '../receiver/reachability.ts';
import type { HEADERS, startReceiver } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Interfaces, NetworkInterfaces } from '../upstream/interfaces.ts';

export interface AppContext {
  config: Config;
  log: Logger;
  clock: Clock;
  random(): number;
  metrics: Metrics;
  /** Closes what was started, latest first: when the app stops, or when a later part cannot start. */
  stack: AsyncDisposableStack;
}

export interface Data {
  /** For the log: without a password. */
  name: string;
  /** null: the database is on a server. */
  file: string | null;
  /** Seals guilds' projects, unless the environment has the key. */
  keyFile: string;
  database: OpenStore;
  store: Store;
  networks: readonly NetworkInterfaces['network'][];
  tokens: PathTokens;
  /** null: there is no backup; undefined: somebody else makes them. */
  lastBackup(): number | null | undefined;
}

/** What every process on a database opens, whatever its role. */
export interface Base extends AppContext, Data {
  interfaces: Interfaces;
}

export interface Receiving {
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** Without a path. */
  publicUrl: string;
  reachability: ReturnType<typeof watchReachability>;
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
