import { randomInt } from 'node:crypto';

/** Names a new message in its footer, so that it can be found again: ten capitals and digits. */
export function newReference(): string {
  const half = () =>
    randomInt(36 ** 5)
      .toString(36)
      .padStart(5, '0');
  return `${half()}${half()}`.toUpperCase();
}

/** What Discord recognises a repeat of the same message by; 25 characters at the most. */
export const nonceOf = (reference: string, now: number): string => `${now.toString(36)}${reference}`.slice(0, 25);
