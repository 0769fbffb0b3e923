import type { Logger } from 'pino';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { QuotaReason, RefusedSource } from '../domain/inbox.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SignatureFault } from './signature.ts';

/** The reasons are also the metrics' labels. */
const STATUS = {
  token: 404,
  method: 405,
  source: 403,
  signature: 401,
  'too-large': 413,
  /** The body ended before its announced length. */
  'broken-off': 503,
  connections: 503,
  /** Too many slow requests, or too many bytes that wait for the disk. */
  overload: 503,
  /** The database was locked, its disk full, or it failed. */
  busy: 503,
  /** Not stored within 2 s after it arrived. */
  late: 503,
  closing: 503,
  rate: 503,
  backlog: 503,
  daily: 503,
  'disk-reserve': 503,
} as const satisfies Record<QuotaReason, 503> & Record<string, number>;

export type RefusalReason = keyof typeof STATUS;
export const REFUSAL_REASONS = Object.keys(STATUS) as RefusalReason[];

const MAX_SOURCES = 10;

export interface Refusal {
  reason: RefusalReason;
  scope: number | null;
  source?: RefusedSource;
  fault?: SignatureFault;
}

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals(options: {
  metrics: Pick<Metrics, 'refused'>;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  log: Logger;
}) {
  const { metrics, log } = options;
  const { now, elapsed } = options.clock;
  const sources = new Map<number | 'any', RefusedSource & { at: number }>();
  const signatures = new Map<number, { fault: SignatureFault; at: number; count: number }>();
  const unlogged = new Map<string, { at: number; count: number; sources: Set<string> }>();

  /** One line a minute for each fault and URL, with what came since the last: strangers must not fill the disk. */
  function warn(reason: 'connections' | 'signature' | RefusedSource['reason'], refusal: Omit<Refusal, 'reason'>) {
    const { scope, source, fault } = refusal;
    const key = `${fault ?? reason} ${scope}`;
    const since = unlogged.get(key) ?? { at: Number.NEGATIVE_INFINITY, count: 0, sources: new Set() };
    unlogged.set(key, since);
    since.count++;
    if (source?.source && since.sources.size < MAX_SOURCES) since.sources.add(source.source);
    if (elapsed() - since.at < MINUTE) return;
    unlogged.set(key, { at: elapsed(), count: 0, sources: new Set() });
    const line = { scope, fault, count: since.count, ...(source?.source && { sources: [...since.sources] }) };
    switch (reason) {
      case 'connections':
        return log.warn(line, 'too many connections: closing new ones');
      case 'unlisted':
        return log.warn(line, 'delivery from an address that is not in RECEIVER_SOURCES');
      case 'no-sender':
        return log.warn(line, 'delivery without a sender’s address behind the trusted proxy');
      case 'unreadable':
        return log.warn(line, 'delivery with an X-Forwarded-For that is not a list of IP addresses');
      case 'signature':
        return log.warn(line, 'delivery rejected: its signature is missing, wrong or too old');
    }
  }

  return {
    record({ reason, scope, source, fault }: Refusal): number {
      metrics.refused.inc({ reason });
      log.debug({ reason, source, scope }, 'request rejected');
      if (reason === 'connections') warn(reason, { scope });
      if (source) {
        for (const key of [scope, 'any'] as const) if (key !== null) sources.set(key, { ...source, at: now() });
        warn(source.reason, { scope, source });
      }
      if (fault && scope !== null) {
        signatures.set(scope, { fault, at: now(), count: (signatures.get(scope)?.count ?? 0) + 1 });
        warn('signature', { scope, fault });
      }
      return STATUS[reason];
    },
    lastSource: (scope: number | 'any') => sources.get(scope) ?? null,
    lastSignature: (scope: number) => signatures.get(scope) ?? null,
  };
}
