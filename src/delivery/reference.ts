import { randomInt } from 'node:crypto';

/** Returns a new random reference for a message, by which it can be found: ten capitals and digits. */
export function newReference(): string {
  const half = () =>
    randomInt(36 ** 5)
      .toString(36)
      .padStart(5, '0');
  return `${half()}${half()}`.toUpperCase();
}

/** The nonce by which Discord recognizes a repeat of the same message; at most 25 characters. */
export const nonceOf = (reference: string, now: number): string => `${now.toString(36)}${reference}`.slice(0, 25);
