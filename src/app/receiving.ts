import { quotaLimits } from '../config.ts';
import type { Inbox } from '../domain/inbox.ts';
import { maxConnections, readLimits } from '../limits.ts';
import { probeReceiver, watchReachability } from '../receiver/reachability.ts';
import { startReceiver } from '../receiver/server.ts';
import { createSignatureCheck } from '../receiver/signature.ts';
import type { AppContext, AppOverrides } from './context.ts';
import type { Data } from './data.ts';
import type { Interfaces } from './interfaces.ts';

export type Receiving = Awaited<ReturnType<typeof startReceiving>>;

export async function startReceiving(
  context: AppContext,
  { file, database, store, networks, tokens }: Data,
  { of }: Pick<Interfaces, 'of'>,
  inbox: Inbox,
  { limits = readLimits(), headers }: Pick<AppOverrides, 'limits' | 'headers'>,
) {
  const { config, log, clock, metrics, stack } = context;
  const byId = new Map(networks.map((network) => [network.id, network]));
  const receiver = await startReceiver({
    config,
    store,
    file,
    inbox,
    scopeOf: tokens.scopeOf,
    sourcesOf: (scope) => (byId.get(tokens.networkOf(scope)) ?? networks[0]!).RECEIVER_SOURCES,
    checkSignature: createSignatureCheck(
      (scope) => of(tokens.networkOf(scope)).projects.signingSecrets(scope),
      clock.now,
    ),
    limits: quotaLimits(config),
    maxConnections: maxConnections(limits),
    ...(headers && { headers }),
    syncMs: database.syncMs,
    count: {
      received: () => metrics.received.inc(),
      refused: (reason) => metrics.refused.inc({ reason }),
    },
    clock,
    log,
  });
  stack.defer(receiver.close);
  const publicUrl = config.PUBLIC_URL ?? receiver.url;
  const isRepeated = config.PUBLIC_URL !== undefined;
  const reachability = watchReachability({ probe: () => probeReceiver(publicUrl), isRepeated, clock, log });
  stack.defer(reachability.close);
  return { receiver, publicUrl, reachability };
}
