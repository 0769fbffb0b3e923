import { quotaLimits } from '../config.ts';
import { MIB } from '../domain/bytes.ts';
import { steadyTime } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { maxConnections, readLimits } from '../limits.ts';
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
import { watchSuspension } from '../receiver/suspension.ts';
import type { Projects } from '../upstream/projects.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import { NOTIFICATIONS } from './notifications.ts';
import type { AppOverrides } from './overrides.ts';

/** The parts that take deliveries. */
export type Receiving = Awaited<ReturnType<typeof startReceiving>>;

/** Starts what takes deliveries and stores them; `work` learns of each that was stored, and when a response ended. */
export async function startReceiving(
  context: AppContext,
  { file, database, store, tokens, shared }: Data,
  { projects }: { projects: Projects },
  work: { deliveriesStored(rows: readonly InboxRow[]): void; wake(): void },
  { limits = readLimits(), headers }: Pick<AppOverrides, 'limits' | 'headers'>,
) {
  const { config, log, clock, now, elapsed, counts, stack } = context;
  const acks = createAcks(
    shared
      ? {
          after: clock.after,
          async record(responses) {
            await store.inbox.recordResponses(responses);
            // Before, the router could not have decided about these deliveries.
            shared.leadership.notify(NOTIFICATIONS.stored);
          },
        }
      : undefined,
  );
  stack.defer(acks.close);
  const steadyNow = steadyTime(now, elapsed);
  const admission = createAdmission(steadyNow);
  // With one process there is no other that a sender could have delivered to.
  const suspension = shared && watchSuspension(steadyNow, clock);
  stack.defer(() => suspension?.close());
  const reserveBytes = config.DISK_RESERVE_MB * MIB;
  const quotas = createQuotas({ limits: quotaLimits(config), reserveBytes, now });
  quotas.load(await store.inbox.usage());
  const quarantine = createQuarantineLimit(store, quotas, log);
  await quarantine.measure();
  if (file !== null) stack.defer(watchDisk({ file, reserveBytes, clock, log, onChecked: quotas.diskFree }));

  const refusedSources = rememberRefusedSources(now, log);
  const badSignatures = rememberBadSignatures(now, log);
  const receiver = await startReceiver({
    config,
    store,
    acks,
    admission,
    scopeOf: tokens.scopeOf,
    maxConnections: maxConnections(limits),
    ...(headers && { headers }),
    checkSignature: createSignatureCheck(projects.signingSecrets, now),
    onBadSignature: badSignatures.note,
    now: steadyNow,
    after: clock.after,
    log,
    quotas,
    syncMs: database.syncMs,
    onStored: work.deliveriesStored,
    onResponseEnded: work.wake,
    ...(suspension && { wasSuspended: suspension.wasSuspended }),
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
  return {
    acks,
    admission,
    quarantine,
    storageFault,
    quotas,
    refusedSources,
    badSignatures,
    receiver,
    publicUrl,
    reach,
  };
}
