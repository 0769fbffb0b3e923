import type { Logger } from 'pino';
import type { RefusedSource } from '../domain/refused-source.ts';

/** Remembers the latest delivery that was refused for its source, of each scope and of all; logs each. */
export function rememberRefusedSources(now: () => number, log: Logger) {
  const latest = new Map<number | 'any', RefusedSource & { at: number }>();

  function report({ reason, source }: RefusedSource): void {
    switch (reason) {
      case 'unlisted':
        log.warn({ source }, 'delivery from an address that is not in RECEIVER_SOURCES');
        break;
      case 'no-sender':
        log.warn({ proxy: source }, 'delivery without a sender’s address behind the trusted proxy');
        break;
      case 'unreadable':
        log.warn('delivery with an X-Forwarded-For that is not a list of IP addresses');
        break;
    }
  }

  return {
    note(refused: RefusedSource, scope: number | null): void {
      for (const key of [scope, 'any'] as const) if (key !== null) latest.set(key, { ...refused, at: now() });
      report(refused);
    },
    last: (scope: number | 'any') => latest.get(scope) ?? null,
  };
}
