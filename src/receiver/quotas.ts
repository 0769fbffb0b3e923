import { DAY, MINUTE, SECOND } from '../domain/clock.ts';
import type { InboxUsage } from '../domain/inbox.ts';
import type { QuotaLimits, QuotaReason, ScopeQuota } from '../domain/quota.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';

/** After the disk was full, free space is reserved for the operator for this long. */
const DISK_FULL_MS = MINUTE;
/** Bytes that a byte of a body takes on the disk, at most: in the log, in the database, and in what is routed from it. */
const BYTES_PER_BYTE = 4;

interface Usage extends Omit<InboxUsage, 'scope'> {
  /** Deliveries that may come at once now. */
  tokens: number;
  refilledAt: number;
  refused: ScopeQuota['refused'];
}

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
  const scopes = new Map<number, Usage>();
  /** Free bytes of the disk at the last check, less what may have been written since. */
  let freeBytes = Number.POSITIVE_INFINITY;
  let diskFullAt = Number.NEGATIVE_INFINITY;
  let fullQuarantines: ReadonlySet<number> = new Set();

  const dayOf = (at: number) => Math.floor(at / DAY);

  function of(scope: number): Usage {
    const known = scopes.get(scope);
    if (known) return known;
    const none = { waiting: 0, waitingBytes: 0, day: dayOf(now()), dayBytes: 0, refused: null };
    const usage = { ...none, tokens: limits.burst, refilledAt: now() };
    scopes.set(scope, usage);
    return usage;
  }

  /** The bytes stored today. */
  function today(usage: Usage): number {
    const day = dayOf(now());
    if (usage.day !== day) Object.assign(usage, { day, dayBytes: 0 });
    return usage.dayBytes;
  }

  function takeToken(usage: Usage, perSecond: number): boolean {
    const at = now();
    const passed = Math.max(0, at - usage.refilledAt);
    usage.tokens = Math.min(limits.burst, usage.tokens + (passed / SECOND) * perSecond);
    usage.refilledAt = at;
    if (usage.tokens < 1) return false;
    usage.tokens--;
    return true;
  }

  function excess(scope: number, usage: Usage): QuotaReason | null {
    const isOperators = scope === OPERATOR_SCOPE;
    if (fullQuarantines.has(scope)) return 'quarantine-full';
    if (!isOperators) {
      if (freeBytes < reserveBytes || now() - diskFullAt < DISK_FULL_MS) return 'disk-reserve';
      if (usage.waiting >= limits.waiting || usage.waitingBytes >= limits.waitingBytes) return 'backlog';
      if (today(usage) >= limits.dayBytes) return 'daily';
    }
    const perSecond = isOperators ? limits.operatorRate : limits.rate;
    return perSecond === null || takeToken(usage, perSecond) ? null : 'rate';
  }

  return {
    /** Counts a delivery that comes in; returns why it is refused, or null. */
    admit(scope: number): QuotaReason | null {
      const usage = of(scope);
      const reason = excess(scope, usage);
      if (reason) usage.refused = { reason, count: (usage.refused?.count ?? 0) + 1, at: now() };
      return reason;
    },
    /** These bodies were stored and wait for the router. */
    stored(bodies: readonly { scope: number; bytes: number }[]): void {
      for (const { scope, bytes } of bodies) {
        const usage = of(scope);
        today(usage);
        freeBytes -= bytes * BYTES_PER_BYTE;
        usage.waiting++;
        usage.waitingBytes += bytes;
        usage.dayBytes += bytes;
      }
    },
    /** These bodies left the inbox. */
    routed(bodies: readonly { scope: number; bytes: number }[]): void {
      for (const { scope, bytes } of bodies) {
        const usage = of(scope);
        usage.waiting = Math.max(0, usage.waiting - 1);
        usage.waitingBytes = usage.waiting === 0 ? 0 : Math.max(0, usage.waitingBytes - bytes);
      }
    },
    /** The bytes and deliveries as the database has them: earlier and other processes count, too. */
    load(found: readonly InboxUsage[]): void {
      for (const usage of scopes.values()) Object.assign(usage, { waiting: 0, waitingBytes: 0 });
      for (const { scope, ...usage } of found) Object.assign(of(scope), usage);
    },
    /** How many bytes of the disk are free now. */
    diskFree(bytes: number): void {
      freeBytes = bytes;
    },
    /** A commit failed because the disk is full. */
    diskFull(): void {
      diskFullAt = now();
    },
    /** The quarantine of these scopes is full. */
    quarantineFull(scopes: ReadonlySet<number>): void {
      fullQuarantines = scopes;
    },
    /** How much a scope has used, and what it may use. */
    usage(scope: number): ScopeQuota {
      const usage = of(scope);
      const { waiting, refused } = usage;
      return { waiting, storedToday: today(usage), refused, limits };
    },
  };
}
