import { type SignedMessage, signatureOf } from '../../src/domain/signing.ts';
import type { Delivery } from './store/outbox.ts';

/** Input of {@link identityHeaders}. */
export interface Identity {
  delivery: Pick<Delivery, 'id' | 'place' | 'matched' | 'removed' | 'movedFrom' | 'replay' | 'blockTime' | 'body'>;
  /** Names the file that the delivery is in. */
  instance: string;
  /** Decimal; null while it is not known. */
  chainId: string | null;
  /** Counts from 1. */
  attempt: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Two while a secret is rotated; unsigned if empty. */
  secrets: readonly string[];
}

/** The headers that identify a delivery, and its signature. The body stays as the specification has it. */
export function identityHeaders({
  delivery,
  instance,
  chainId,
  attempt,
  now,
  secrets,
}: Identity): Record<string, string> {
  const id = `msg_${instance}_${delivery.id}`;
  const timestamp = String(Math.floor(now / 1_000));
  const optional = {
    'ledgerbell-chain-id': chainId,
    'ledgerbell-place': delivery.place,
    'ledgerbell-matched-address': delivery.matched,
    'ledgerbell-block-time': delivery.blockTime === null ? null : String(delivery.blockTime),
    'ledgerbell-removed': delivery.removed === 1 ? 'true' : null,
    'ledgerbell-moved-from': delivery.movedFrom,
    'ledgerbell-replay': delivery.replay > 0 ? 'true' : null,
    'webhook-signature': secrets.length === 0 ? null : signatures({ id, timestamp, body: delivery.body }, secrets),
  };
  const present = Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'ledgerbell-attempt': String(attempt),
    ...Object.fromEntries(present),
  };
}

function signatures(message: SignedMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${signatureOf(secret, message).toString('base64')}`).join(' ');
}
