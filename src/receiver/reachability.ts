import type { Logger } from 'pino';
import { request } from 'undici';
import { type Clock, MINUTE, repeat } from '../domain/clock.ts';
import type { Reachability, UNREACHABLE } from '../domain/inbox.ts';

const TIMEOUT_MS = 5_000;
/** A minute after the start the proxy may be up, too. */
const FIRST_MS = MINUTE;
const EVERY_MS = 10 * MINUTE;

const MEANINGS: Record<string, (typeof UNREACHABLE)[number]> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-name',
  // A certificate without its intermediate certificates is not trusted either.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  EPROTO: 'no-tls',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no-tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no-tls',
};

export interface Unreachable {
  since: number;
  reason: Exclude<Reachability['status'], 'reachable'>;
}

/** An unknown token gets this receiver's own 404. Never throws. */
export async function probeReceiver(publicUrl: string, timeoutMs = TIMEOUT_MS): Promise<Reachability> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, body } = await request(`${publicUrl}/hooks/probe`, { method: 'POST', signal });
    const text = await body.text();
    if (statusCode === 404 && text === '{"ok":false}') return { status: 'reachable' };
    return { status: 'other', code: statusCode };
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    return { status: signal.aborted ? 'timeout' : (MEANINGS[code] ?? 'away') };
  }
}

export function watchReachability(options: {
  probe(): Promise<Reachability>;
  /** Whether it also probes without being asked. */
  isRepeated: boolean;
  clock: Clock;
  log: Logger;
}) {
  const { clock, log } = options;
  let unreachable: Unreachable | null = null;
  const stop = options.isRepeated ? repeat(clock, EVERY_MS, probe, FIRST_MS) : () => {};

  async function probe(): Promise<Reachability> {
    const found = await options.probe();
    const before = unreachable;
    if (found.status === 'reachable') {
      if (before) log.info({ forMs: Math.max(0, clock.now() - before.since) }, 'PUBLIC_URL is reachable again');
      unreachable = null;
    } else {
      if (before?.reason !== found.status) log.warn({ reason: found.status }, 'PUBLIC_URL is not reachable from here');
      unreachable = { since: before?.since ?? clock.now(), reason: found.status };
    }
    return found;
  }

  return {
    probe,
    /** null also before the first probe. */
    unreachable: (): Unreachable | null => unreachable,
    close: stop,
  };
}
