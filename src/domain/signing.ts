import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** A signing secret: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks). */
export const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** What a signature covers. */
export interface SignedMessage {
  /** The header `webhook-id`. */
  id: string;
  /** The header `webhook-timestamp`: seconds since 1970, decimal. */
  timestamp: string;
  body: string | Uint8Array;
}

/** The HMAC-SHA256 with which this secret signs a message. */
export function signatureOf(secret: string, { id, timestamp, body }: SignedMessage): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
