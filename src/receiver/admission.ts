import { isIP, SocketAddress } from 'node:net';
import type { IpRanges } from '../config/values.ts';
import type { Config } from '../config.ts';
import { type Clock, createBuckets, DAY, SECOND } from '../domain/clock.ts';
import type { Run } from '../domain/identity.ts';
import type { InboxUsage, NewDelivery, QuotaLimits, QuotaReason, RefusedSource, ScopeQuota } from '../domain/inbox.ts';
import { isOperatorScope } from '../domain/inbox.ts';
import { MIB } from '../domain/units.ts';
import type { PathTokens } from './path-tokens.ts';
import type { Refusal, Refusals } from './refusals.ts';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/**
 * Limits on slow requests. Once there are MAX_SLOW, a URL that has OWN_SLOW of them refuses more; at MAX_SLOW_IN_TOTAL,
 * every URL does. So endless bodies at one guild's URL do not block the others.
 */
const MAX_SLOW = 64;
const OWN_SLOW = 16;
const MAX_SLOW_IN_TOTAL = 128;
/** A request that is open for this long counts as slow. A burst that is committed at once is not an overload. */
const SLOW_MS = 100;
/** A request whose body is complete waits for the disk, and counts as slow after this. */
const SLOW_TO_STORE_MS = 1_000;
/** Most bytes of bodies in memory: of all URLs, and of one server's own. */
const MAX_BYTES = 64 * MIB;
const OWN_BYTES = 16 * MIB;
/**
 * The receiver is busy while this many requests are open, and for this long after, because one commit completes many at
 * once. Fewer are open at a constant rate of thousands per second, which leaves enough time for routing.
 */
const BUSY_REQUESTS = 64;
const BUSY_MS = 25;

/** One admitted request on its way through the receiver. `identity` stays null until its headers are verified. */
export interface Ticket extends Omit<NewDelivery, 'body'> {
  /** On the monotonic clock. */
  arrivedMs: number;
  /** Of its body in memory; null until the body is complete. */
  bytes: number | null;
}

export interface AdmissionOptions {
  config: Pick<Config, 'RECEIVER_SOURCE_CHECK' | 'TRUSTED_PROXIES'>;
  networks: readonly { id: number; RECEIVER_SOURCES: IpRanges }[];
  tokens: Pick<PathTokens, 'networkOf'>;
  run: Pick<Run, 'stamp'>;
  quotas: Pick<Quotas, 'admit'>;
  refusals: Pick<Refusals, 'record'>;
  storage: { slow(): void };
  clock: Pick<Clock, 'now' | 'elapsed'>;
}

export type Admission = ReturnType<typeof createAdmission>;

/** The one place that admits or refuses requests before their bodies are read. */
export function createAdmission(options: AdmissionOptions) {
  const { config, networks, tokens, run, quotas, refusals, storage } = options;
  const { now, elapsed } = options.clock;
  const sourcesOf = new Map(networks.map(({ id, RECEIVER_SOURCES: sources }) => [id, sources]));
  /** In the order of arrival. */
  const open = new Set<Ticket>();
  const bytesOf = new Map<number, number>();
  let bytes = 0;
  let busyAt = Number.NEGATIVE_INFINITY;
  let isClosing = false;

  return {
    /** `scope` null: of no known URL. `ip`: of the peer, or what its trusted proxy forwarded. */
    admit(scope: number | null, method: string, ip: string | undefined): Ticket | Refusal {
      if (scope === null) return { reason: 'token', scope };
      if (!METHODS.has(method)) return { reason: 'method', scope };
      // The first network's, if this one is no longer configured.
      const sources = sourcesOf.get(tokens.networkOf(scope)) ?? networks[0]!.RECEIVER_SOURCES;
      const source = config.RECEIVER_SOURCE_CHECK === 'off' ? null : refusedSource(ip, sources, config);
      if (source) {
        const refusal: Refusal = { reason: 'source', scope, source };
        if (config.RECEIVER_SOURCE_CHECK === 'enforce') return refusal;
        refusals.record(refusal);
      }
      if (isClosing) return { reason: 'closing', scope };
      const stamp = run.stamp();
      if (stamp === null) return { reason: 'late', scope };
      const excess = quotas.admit(scope);
      if (excess !== null) return { reason: excess, scope };
      if (!isOperatorScope(scope) && (bytesOf.get(scope) ?? 0) > OWN_BYTES) return { reason: 'overload', scope };
      const arrivedMs = elapsed();
      let [slow, own] = [0, 0];
      for (const ticket of open) {
        const age = arrivedMs - ticket.arrivedMs;
        if (age < SLOW_MS) break;
        if (ticket.bytes !== null && age < SLOW_TO_STORE_MS) continue;
        slow++;
        if (ticket.scope === scope) own++;
      }
      const isSlow = slow >= MAX_SLOW_IN_TOTAL || (slow >= MAX_SLOW && own >= OWN_SLOW);
      if (bytes > MAX_BYTES || isSlow) {
        if (bytes > 0) storage.slow();
        return { reason: 'overload', scope };
      }
      const ticket: Ticket = { scope, receivedAt: now(), arrivedMs, ...stamp, identity: null, bytes: null };
      open.add(ticket);
      if (open.size >= BUSY_REQUESTS) busyAt = arrivedMs;
      return ticket;
    },
    /** A complete body is in memory until it is stored or refused: `size` is 0 then. */
    hold(ticket: Ticket, size: number): void {
      const change = size - (ticket.bytes ?? 0);
      const ofScope = (bytesOf.get(ticket.scope) ?? 0) + change;
      ticket.bytes = size;
      bytes += change;
      if (ofScope === 0) bytesOf.delete(ticket.scope);
      else bytesOf.set(ticket.scope, ofScope);
    },
    close: (ticket: Ticket): void => void open.delete(ticket),
    stop(): void {
      isClosing = true;
    },
    openRequests: (): number => open.size,
    isBusy: (): boolean => open.size >= BUSY_REQUESTS || elapsed() - busyAt < BUSY_MS,
  };
}

/** `ip` is the right-most address that is not a trusted proxy, if there is one. */
function refusedSource(
  ip: string | undefined,
  sources: IpRanges,
  { TRUSTED_PROXIES }: AdmissionOptions['config'],
): RefusedSource | null {
  const source = plainIp(ip);
  if (source === null) return { reason: 'unreadable', source };
  if (sources.check(source)) return null;
  return { reason: TRUSTED_PROXIES.check(source) ? 'no-sender' : 'unlisted', source: source.address };
}

/** null: it is no IP address. */
export function plainIp(text: string | undefined): SocketAddress | null {
  const address = (text ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  const version = isIP(address);
  return version === 0 ? null : new SocketAddress({ address, family: `ipv${version as 4 | 6}` });
}

interface Usage extends Omit<InboxUsage, 'scope'> {
  refused: ScopeQuota['refused'];
}

export type Quotas = ReturnType<typeof createQuotas>;

/** The operator's scope is limited only in its rate, if one is set. */
export function createQuotas(options: {
  limits: QuotaLimits;
  /** The rest of the disk is reserved for the operator's URL. */
  isDiskLow(): boolean;
  clock: Pick<Clock, 'now' | 'elapsed'>;
}) {
  const { limits, isDiskLow } = options;
  const { now, elapsed } = options.clock;
  const { burst, rate, operatorRate } = limits;
  const scopes = new Map<number, Usage>();
  const rates = createBuckets({ burst, everyMs: SECOND / rate });
  const operatorRates = operatorRate === null ? null : createBuckets({ burst, everyMs: SECOND / operatorRate });

  /** Days are those of UTC. */
  function today(scope: number): Usage {
    const day = Math.floor(now() / DAY);
    const usage = scopes.get(scope) ?? { waiting: 0, waitingBytes: 0, day, dayBytes: 0, refused: null };
    if (usage.day !== day) Object.assign(usage, { day, dayBytes: 0 });
    scopes.set(scope, usage);
    return usage;
  }

  return {
    admit(scope: number): QuotaReason | null {
      const usage = today(scope);
      const isOwn = !isOperatorScope(scope);
      const buckets = isOwn ? rates : operatorRates;
      let reason: QuotaReason | null = null;
      if (isOwn && isDiskLow()) reason = 'disk-reserve';
      else if (isOwn && (usage.waiting >= limits.waiting || usage.waitingBytes >= limits.waitingBytes))
        reason = 'backlog';
      else if (isOwn && usage.dayBytes >= limits.dayBytes) reason = 'daily';
      else if (buckets && buckets.wait(String(scope), elapsed()) > 0) reason = 'rate';
      if (reason === null) buckets?.take(String(scope), elapsed());
      else usage.refused = { reason, count: (usage.refused?.count ?? 0) + 1, at: now() };
      return reason;
    },
    /** The body counts as waiting until the next `load`. */
    stored(scope: number, bytes: number): void {
      const usage = today(scope);
      usage.waiting++;
      usage.waitingBytes += bytes;
      usage.dayBytes += bytes;
    },
    /** Replaces the counts with the database's, which other processes change, too. */
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
