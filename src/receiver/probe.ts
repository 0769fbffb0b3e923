import type { Reachability, UNREACHABLE } from '../domain/reachability.ts';

const TIMEOUT_MS = 5_000;

/** The meaning of a failed connection's error codes. */
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

/** Sends a request to the public address: an unknown token gets this receiver's own 404. Never throws. */
export async function probeReceiver(publicUrl: string, timeoutMs = TIMEOUT_MS): Promise<Reachability> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${publicUrl}/hooks/probe`, { method: 'POST', redirect: 'manual', signal });
    const text = await response.text();
    if (response.status === 404 && text === '{"ok":false}') return { status: 'reachable' };
    return { status: 'other', code: response.status };
  } catch (error) {
    const code = String(((error as Error).cause as { code?: unknown } | undefined)?.code);
    return { status: signal.aborted ? 'timeout' : (MEANINGS[code] ?? 'away') };
  }
}
