import type { Logger } from 'pino';
import type { SignatureFault } from './signature.ts';

/** Remembers the latest delivery of each scope whose signature was refused, and how many there were since the start. */
export function rememberBadSignatures(now: () => number, log: Logger) {
  const latest = new Map<number, { fault: SignatureFault; at: number; count: number }>();
  return {
    note(fault: SignatureFault, scope: number): void {
      latest.set(scope, { fault, at: now(), count: (latest.get(scope)?.count ?? 0) + 1 });
      log.warn({ scope, fault }, 'delivery rejected: its signature is missing, wrong or too old');
    },
    last: (scope: number) => latest.get(scope) ?? null,
  };
}
