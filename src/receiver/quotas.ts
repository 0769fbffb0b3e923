import { createBuckets, DAY, SECOND } from '../domain/clock.ts';
import type { InboxUsage, QuotaLimits, QuotaReason, ScopeQuota } from '../domain/inbox.ts';
import { isOperatorScope } from '../domain/project.ts';

interface Usage extends Omit<InboxUsage, 'scope'> {
  refused: ScopeQuota['refused'];
}

/** Limits each receiver URL, so that no server can use up what others need. */
export type Quotas = ReturnType<typeof createQuotas>;

/** Counts what each scope uses. The operator's is limited only in its rate, if one is set. `elapsed`: monotonic milliseconds. */
export function createQuotas(options: {
  limits: QuotaLimits;
  /** The rest of the disk is reserved for the operator's URL. */
  isDiskLow(): boolean;
  now(): number;
  elapsed(): number;
}) {
  const { limits, isDiskLow, now, elapsed } = options;
  const { burst, rate, operatorRate } = limits;
  const scopes = new Map<number, Usage>();
  const rates = createBuckets({ burst, everyMs: SECOND / rate });
  const operatorRates = operatorRate === null ? null : createBuckets({ burst, everyMs: SECOND / operatorRate });

  /** What a scope has used, with the bytes of today (UTC). */
  function today(scope: number): Usage {
    const day = Math.floor(now() / DAY);
    const usage = scopes.get(scope) ?? { waiting: 0, waitingBytes: 0, day, dayBytes: 0, refused: null };
    if (usage.day !== day) Object.assign(usage, { day, dayBytes: 0 });
    scopes.set(scope, usage);
    return usage;
  }

  function excess(scope: number): QuotaReason | null {
    const { waiting, waitingBytes, dayBytes } = today(scope);
    if (!isOperatorScope(scope)) {
      if (isDiskLow()) return 'disk-reserve';
      if (waiting >= limits.waiting || waitingBytes >= limits.waitingBytes) return 'backlog';
      if (dayBytes >= limits.dayBytes) return 'daily';
    }
    const buckets = isOperatorScope(scope) ? operatorRates : rates;
    if (buckets === null) return null;
    if (buckets.wait(String(scope), elapsed()) > 0) return 'rate';
    buckets.take(String(scope), elapsed());
    return null;
  }

  return {
    /** Counts an incoming delivery; returns why its URL takes no more now, or null. */
    admit(scope: number): QuotaReason | null {
      const reason = excess(scope);
      const usage = today(scope);
      if (reason !== null) usage.refused = { reason, count: (usage.refused?.count ?? 0) + 1, at: now() };
      return reason;
    },
    /** A body was stored. It counts as waiting until the next `load`. */
    stored(scope: number, bytes: number): void {
      const usage = today(scope);
      usage.waiting++;
      usage.waitingBytes += bytes;
      usage.dayBytes += bytes;
    },
    /** Replaces the counts by those of the database, which other processes use, too. */
    load(found: readonly InboxUsage[]): void {
      for (const usage of scopes.values()) Object.assign(usage, { waiting: 0, waitingBytes: 0 });
      for (const { scope, ...usage } of found) Object.assign(today(scope), usage);
    },
    usage(scope: number): ScopeQuota {
      const { waiting, dayBytes, refused } = today(scope);
      return { waiting, storedToday: dayBytes, refused, limits };
    },
  };
}
