import { type Clock, MINUTE } from '../../src/domain/clock.ts';

const NONCE_MS = 5 * MINUTE;

/** Creates the store of nonces: which message had which, for as long as Discord checks that. */
export function createNonces(clock: Clock) {
  const known = new Map<string, { at: number; id: string }>();
  return {
    get(nonce: string): string | undefined {
      const found = known.get(nonce);
      return found && found.at + NONCE_MS > clock.now() ? found.id : undefined;
    },
    set(nonce: string, id: string): void {
      const now = clock.now();
      for (const [old, { at }] of known) {
        if (at + NONCE_MS > now) break;
        known.delete(old);
      }
      known.delete(nonce);
      known.set(nonce, { at: now, id });
    },
    clear: () => known.clear(),
  };
}
