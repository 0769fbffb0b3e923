import { MEGABYTE, quotaLimits } from '../config.ts';
import { steadyTime } from '../domain/clock.ts';
import { mostConnections, readLimits } from '../limits.ts';
import { createAcks } from '../receiver/acks.ts';
import { createAdmission } from '../receiver/admission.ts';
import { rememberBadSignatures } from '../receiver/bad-signatures.ts';
import { watchDisk } from '../receiver/disk-reserve.ts';
import { probeReceiver } from '../receiver/probe.ts';
import { createQuarantineLimit } from '../receiver/quarantine.ts';
import { createQuotas } from '../receiver/quotas.ts';
import { watchReach } from '../receiver/reach.ts';
import { rememberRefusedSources } from '../receiver/refused-sources.ts';
import { createSignatureCheck } from '../receiver/signature.ts';
import { startReceiver } from '../receiver/start.ts';
import { startRouter } from '../routing/route.ts';
import { createTokenCatalog } from '../routing/token-catalog.ts';
import type { Explorer } from '../upstream/explorer.ts';
import type { Projects } from '../upstream/projects.ts';
import type { Data } from './data.ts';
import type { Parts } from './parts.ts';
import type { Sending } from './sending.ts';

/** The parts that a delivery goes through. */
export type Receiving = Awaited<ReturnType<typeof startReceiving>>;

/**
 * Starts the way of a delivery: receiver → inbox → router → outbox. The router is made first, because the receiver wakes
 * it; both share what the router must know of open requests.
 */
export async function startReceiving(
  parts: Parts,
  { file, database, store, tokens }: Data,
  { deliverer }: Pick<Sending, 'deliverer'>,
  { projects, explorer }: { projects: Projects; explorer: Pick<Explorer, 'token'> | null },
) {
  const { config, log, clock, now, elapsed, counts, stack } = parts;
  const acks = createAcks();
  const steadyNow = steadyTime(now, elapsed);
  const admission = createAdmission(steadyNow);
  const reserveBytes = config.DISK_RESERVE_MB * MEGABYTE;
  const quotas = createQuotas({ limits: quotaLimits(config), reserveBytes, now });
  quotas.load(await store.inbox.usage());
  const quarantine = createQuarantineLimit(store, quotas, log);
  await quarantine.measure();
  stack.defer(watchDisk({ file, reserveBytes, clock, log, onChecked: quotas.diskFree }));

  const router = startRouter({
    store,
    now,
    log,
    ackedAt: acks.ackedAt,
    isReceiverBusy: admission.isBusy,
    operatorProject: projects.operatorId,
    catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
    nativeSymbol: config.NATIVE_SYMBOL,
    onAlerts: deliverer.alertsStored,
    onRouted({ ids, bodies, quarantined }) {
      acks.forget(ids);
      quotas.routed(bodies);
      counts.routed += ids.length;
      if (quarantined > 0) void quarantine.measure();
    },
  });
  stack.defer(router.close);

  const refusedSources = rememberRefusedSources(now, log);
  const badSignatures = rememberBadSignatures(now, log);
  const receiver = await startReceiver({
    config,
    store,
    acks,
    admission,
    scopeOf: tokens.scopeOf,
    maxConnections: mostConnections(readLimits()),
    checkSignature: createSignatureCheck(projects.signingSecrets, now),
    onBadSignature: badSignatures.note,
    now: steadyNow,
    after: (ms, run) => clock.after(ms, run),
    log,
    quotas,
    syncMs: database.syncMs,
    onStored: router.wake,
    onReceived: () => void counts.received++,
    onRefused(reason, source, scope) {
      counts.refused[reason]++;
      if (source) refusedSources.note(source, scope);
    },
  });
  stack.defer(receiver.close);

  const publicUrl = config.PUBLIC_URL ?? receiver.url;
  const isRepeated = config.PUBLIC_URL !== undefined;
  const reach = watchReach({ probe: () => probeReceiver(publicUrl), isRepeated, clock, log });
  stack.defer(reach.close);
  const storageFault = () => receiver.intake.fault() ?? quarantine.fault();
  return { quarantine, storageFault, quotas, router, refusedSources, badSignatures, receiver, publicUrl, reach };
}
