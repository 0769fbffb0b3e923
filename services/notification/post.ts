import { type Dispatcher, request } from 'undici';
import { SECOND } from '../../src/domain/clock.ts';
import { signatureOf } from '../../src/domain/project.ts';
import { authorizationOf } from '../credentials.ts';
import type { Parts } from './parts.ts';
import type { Delivery } from './store/outbox.ts';

const TIMEOUT_MS = 3 * SECOND;

export interface PostResult {
  /** null without a response; `error` is then the reason. */
  status: number | null;
  error?: string;
  isTimedOut?: true;
}

/** `attempt` counts from 1. Never throws. */
export async function post(parts: Parts, agent: Dispatcher, delivery: Delivery, attempt: number): Promise<PostResult> {
  const { url, body } = delivery;
  const timeout = new AbortController();
  const stopTimer = parts.clock.after(TIMEOUT_MS, () => timeout.abort());
  try {
    const response = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...identityHeaders(parts, delivery, attempt),
        ...authorizationOf(new URL(url)),
      },
      body,
      dispatcher: agent,
      signal: timeout.signal,
    });
    await response.body.dump().catch(() => undefined); // The status alone counts.
    return { status: response.statusCode };
  } catch (error) {
    if (timeout.signal.aborted) {
      return { status: null, error: `no response within ${TIMEOUT_MS} ms`, isTimedOut: true };
    }
    const { code, message } = error as { code?: string; message: string };
    return { status: null, error: code ?? message };
  } finally {
    stopTimer();
  }
}

/** Two signatures while a secret is rotated. */
function identityHeaders({ store, clock, secretsOf }: Parts, delivery: Delivery, attempt: number) {
  const { place, matched, blockTime, removed, movedFrom, replay, body } = delivery;
  const id = `msg_${store.instance}_${delivery.id}`;
  const timestamp = String(Math.floor(clock.now() / SECOND));
  const signatures = secretsOf(delivery.projectId).map(
    (secret) => `v1,${signatureOf(secret, { id, timestamp, body }).toString('base64')}`,
  );
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.length === 0 ? null : signatures.join(' '),
    'ledgerbell-attempt': String(attempt),
    'ledgerbell-chain-id': store.chain.state()?.chainId ?? null,
    'ledgerbell-place': place,
    'ledgerbell-matched-address': matched,
    'ledgerbell-block-time': blockTime === null ? null : String(blockTime),
    'ledgerbell-removed': removed === 1 ? 'true' : null,
    'ledgerbell-moved-from': movedFrom,
    'ledgerbell-replay': replay > 0 ? 'true' : null,
  };
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null));
}
