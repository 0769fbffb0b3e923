import { DAY } from '../domain/clock.ts';
import type { InboxUsage } from '../domain/inbox.ts';
import type { QuotaLimits, QuotaReason, ScopeQuota } from '../domain/quota.ts';

/** What one scope has used. */
interface Usage extends Omit<InboxUsage, 'scope'> {
  refused: ScopeQuota['refused'];
}

const dayOf = (at: number) => Math.floor(at / DAY);

/** Counts what each scope uses of its limits. */
export function createScopeUsage(limits: QuotaLimits, now: () => number) {
  const scopes = new Map<number, Usage>();

  function of(scope: number): Usage {
    const known = scopes.get(scope);
    if (known) return known;
    const usage = { waiting: 0, waitingBytes: 0, day: dayOf(now()), dayBytes: 0, refused: null };
    scopes.set(scope, usage);
    return usage;
  }

  /** What a scope has used, with the bytes of today. */
  function today(scope: number): Usage {
    const usage = of(scope);
    const day = dayOf(now());
    if (usage.day !== day) Object.assign(usage, { day, dayBytes: 0 });
    return usage;
  }

  return {
    /** Why nothing more of a scope may be stored now, or null. */
    excess(scope: number): QuotaReason | null {
      const { waiting, waitingBytes, dayBytes } = today(scope);
      if (waiting >= limits.waiting || waitingBytes >= limits.waitingBytes) return 'backlog';
      return dayBytes >= limits.dayBytes ? 'daily' : null;
    },
    refused(scope: number, reason: QuotaReason): void {
      const usage = of(scope);
      usage.refused = { reason, count: (usage.refused?.count ?? 0) + 1, at: now() };
    },
    /** A body was stored and waits for the router. */
    stored(scope: number, bytes: number): void {
      const usage = today(scope);
      usage.waiting++;
      usage.waitingBytes += bytes;
      usage.dayBytes += bytes;
    },
    /** A body left the inbox. */
    routed(scope: number, bytes: number): void {
      const usage = of(scope);
      usage.waiting = Math.max(0, usage.waiting - 1);
      usage.waitingBytes = usage.waiting === 0 ? 0 : Math.max(0, usage.waitingBytes - bytes);
    },
    /** The bytes and deliveries as the database has them: earlier and other processes count, too. */
    load(found: readonly InboxUsage[]): void {
      for (const usage of scopes.values()) Object.assign(usage, { waiting: 0, waitingBytes: 0 });
      for (const { scope, ...usage } of found) Object.assign(of(scope), usage);
    },
    /** How much a scope has used, and what it may use. */
    usage(scope: number): ScopeQuota {
      const { waiting, dayBytes, refused } = today(scope);
      return { waiting, storedToday: dayBytes, refused, limits };
    },
  };
}
