import { SECOND } from '../domain/clock.ts';
import type { QuotaLimits, QuotaReason } from '../domain/quota.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import { createBuckets } from '../domain/token-bucket.ts';
import { createDiskReserve } from './disk-reserve.ts';
import { createScopeUsage } from './scope-usage.ts';

/** Limits each receiver URL, so that no server can use up what others need. */
export type Quotas = ReturnType<typeof createQuotas>;

/** Knows how much each scope has used. The operator's scope is limited only by its quarantine, and by a rate if one is set. */
export function createQuotas(options: {
  limits: QuotaLimits;
  /** Free bytes of the disk that are kept for the operator's URL. */
  reserveBytes: number;
  now(): number;
}) {
  const { limits, reserveBytes, now } = options;
  const scopes = createScopeUsage(limits, now);
  const disk = createDiskReserve(reserveBytes, now);
  const bucketsFor = (perSecond: number) => createBuckets({ burst: limits.burst, everyMs: SECOND / perSecond });
  const rates = bucketsFor(limits.rate);
  const operatorRate = limits.operatorRate === null ? null : bucketsFor(limits.operatorRate);
  let fullQuarantines: ReadonlySet<number> = new Set();

  function excess(scope: number): QuotaReason | null {
    const isOperators = scope === OPERATOR_SCOPE;
    if (fullQuarantines.has(scope)) return 'quarantine-full';
    if (!isOperators && disk.isLow()) return 'disk-reserve';
    const used = isOperators ? null : scopes.excess(scope);
    if (used !== null) return used;
    const buckets = isOperators ? operatorRate : rates;
    if (buckets === null) return null;
    if (buckets.wait(String(scope), now()) > 0) return 'rate';
    buckets.take(String(scope), now());
    return null;
  }

  return {
    /** Counts an incoming delivery; returns why it is refused, or null. */
    admit(scope: number): QuotaReason | null {
      const reason = excess(scope);
      if (reason) scopes.refused(scope, reason);
      return reason;
    },
    /** These bodies were stored and wait for the router. */
    stored(bodies: readonly { scope: number; bytes: number }[]): void {
      for (const { scope, bytes } of bodies) {
        scopes.stored(scope, bytes);
        disk.wrote(bytes);
      }
    },
    /** These bodies left the inbox. */
    routed(bodies: readonly { scope: number; bytes: number }[]): void {
      for (const { scope, bytes } of bodies) scopes.routed(scope, bytes);
    },
    load: scopes.load,
    usage: scopes.usage,
    diskFree: disk.setFree,
    diskFull: disk.setFull,
    /** The quarantine of these scopes is full. */
    quarantineFull(scopes: ReadonlySet<number>): void {
      fullQuarantines = scopes;
    },
  };
}
