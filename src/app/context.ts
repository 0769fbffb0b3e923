import type { Logger } from 'pino';
import type { CommandServices } from '../../commands/shared/services.ts';
import type { GatewayOptions, startGateway } from '../discord/gateway.ts';
import type { createRenderers } from '../discord/render/renderers.ts';
import type { Clock } from '../domain/clock.ts';
import type { Sender } from '../domain/sender.ts';
import type { Limits } from '../limits.ts';
import type { HEADERS } from '../listen.ts';
import type { watchReachability } from '../receiver/reachability.ts';
import type { startReceiver } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';
import type { Interfaces } from '../upstream/interfaces.ts';
import type { AppContext, openData } from './data.ts';

/** The parts that every process of a database opens, whatever its role. */
export interface Base extends AppContext, Awaited<ReturnType<typeof openData>> {
  interfaces: Interfaces;
}

export interface Receiving {
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** Without a path. */
  publicUrl: string;
  reachability: ReturnType<typeof watchReachability>;
}

/** What the parts of the work need. */
export type Parts = Base & { receiving: Receiving };

/** Replacements for tests. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  random?: () => number;
  /** Closed with the app; not backed up. */
  database?: OpenStore;
  sender?: Sender;
  renderers?: Partial<ReturnType<typeof createRenderers>>;
  services?: Partial<CommandServices>;
  connect?: (options: GatewayOptions<CommandServices>) => Gateway;
  limits?: Limits;
  headers?: typeof HEADERS;
  upstreamTimeoutMs?: number;
  /** Milliseconds between two comparisons with the chain. */
  chainRoundMs?: number;
}

type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
