import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { MINUTE } from '../domain/clock.ts';
import type { DeliveryIdentity } from '../domain/inbox.ts';
import { signatureOf } from '../domain/project.ts';

/** Between the signature's time and now. A delivery that somebody recorded cannot be replayed later. */
const TOLERANCE_MS = 5 * MINUTE;

export type SignatureFault = 'missing' | 'wrong' | 'stale';

export type SignatureCheck =
  | { status: 'verified'; identity: DeliveryIdentity }
  | { status: 'refused'; fault: SignatureFault };

/** Standard Webhooks, over the unchanged bytes. */
export function checkSignature(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  now: number,
): SignatureCheck {
  // Svix and others write the standard's headers with their own prefix.
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => textOf(headers, `webhook-${name}`) ?? textOf(headers, `svix-${name}`),
  );
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return { status: 'refused', fault: 'missing' };
  const given = signatures.split(' ').flatMap(bytesOf);
  const isRight = secrets
    .map((secret) => signatureOf(secret, { id, timestamp, body }))
    .some((expected) =>
      given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected)),
    );
  if (!isRight) return { status: 'refused', fault: 'wrong' };
  // Checked last: only the sender itself learns that its clock is wrong.
  if (Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS) return { status: 'refused', fault: 'stale' };
  const identity = {
    id,
    chainId: textOf(headers, 'ledgerbell-chain-id'),
    place: textOf(headers, 'ledgerbell-place'),
  };
  return { status: 'verified', identity };
}

function textOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `v1,` and base64; other versions are ignored. */
function bytesOf(signature: string): Buffer[] {
  return signature.startsWith('v1,') ? [Buffer.from(signature.slice('v1,'.length), 'base64')] : [];
}
