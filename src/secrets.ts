import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { ConfigError, startError } from './errors.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Seal {
  /** `about` is bound to the text (a guild's ID): what is sealed for one does not open for another. */
  seal(text: string, about: string): Uint8Array;
  /** The text; `stale`: an older key opened it. null: no key opens it. */
  open(sealed: Uint8Array, about: string): { text: string; stale: boolean } | null;
}

/** Seals with AES-256-GCM and a new nonce for each text. The first key seals; all keys can open. */
export function createSeal(keys: readonly Uint8Array[]): Seal {
  const [first] = keys;
  if (!first) throw new Error('No encryption key is set.');

  function openWith(key: Uint8Array, sealed: Uint8Array, about: string): string | null {
    try {
      const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return text.toString('utf8');
    } catch {
      return null;
    }
  }

  return {
    seal(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(about));
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]);
    },
    open(sealed, about) {
      for (const key of keys) {
        const text = openWith(key, sealed, about);
        if (text !== null) return { text, stale: key !== first };
      }
      return null;
    },
  };
}

export function warnIfOpen(file: string, log: Logger): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o007) !== 0)
    log.warn({ file }, 'every user of this machine may open a file of secrets: run chmod o= on it');
}

export function closeToOthers(file: string, log: Logger): void {
  try {
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch {
    // The file belongs to another user, or its file system is read-only. Its group may have been let in on purpose.
    warnIfOpen(file, log);
  }
}

/** Reads the key (base64) from a file, or creates it there. */
export function keyFromFile(file: string): Uint8Array {
  const key = Buffer.from(readOrMake(file).trim(), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new ConfigError(
    `Ledgerbell cannot start: ${file} does not contain a key (32 bytes in base64). Restore it from your ` +
      'backup, or delete the file to create a new key and have each server store its project again.',
  );
}

function readOrMake(file: string): string {
  try {
    if (!existsSync(file)) makeKey(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { message } = error as Error;
    throw startError(
      `Ledgerbell cannot start: the key file cannot be used: ${message}. ` +
        `Give ${file} and its folder to the user that runs the bot, or set SECRETS_KEY to its content.`,
      error as NodeJS.ErrnoException,
    );
  }
}

/** After a power failure the file is complete or missing. */
function makeKey(file: string): void {
  const key = randomBytes(KEY_BYTES).toString('base64');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
