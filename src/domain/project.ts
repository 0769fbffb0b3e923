import { createHmac } from 'node:crypto';

/** A guild's own notification project. Its ID is its scope. */
export interface StoredProject {
  scope: number;
  guildId: string;
  network: number;
  projectId: string;
  /** The encrypted keys. */
  sealed: Uint8Array;
  /** Deliveries must be signed, with secrets that are among the sealed keys. */
  signed: boolean;
}

export type NewProject = Omit<StoredProject, 'scope' | 'network' | 'signed'> &
  Partial<Pick<StoredProject, 'network' | 'signed'>>;

/** A path token of the receiver; a retiring one waits to be revoked. */
export interface ReceiverToken {
  token: string;
  scope: number;
  network: number;
  retiring: boolean;
}

const PREFIX = 'whsec_';

/** A signing secret: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks). */
export const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

export interface SignedMessage {
  /** The header `webhook-id`. */
  id: string;
  /** The header `webhook-timestamp`: seconds since 1970, decimal. */
  timestamp: string;
  body: string | Uint8Array;
}

export function signatureOf(secret: string, { id, timestamp, body }: SignedMessage): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
