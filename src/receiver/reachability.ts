import type { Logger } from 'pino';
import { request } from 'undici';
import { type Clock, MINUTE, repeat } from '../domain/clock.ts';
import type { Reachability } from '../domain/inbox.ts';

const TIMEOUT_MS = 5_000;
/** A minute after the start the proxy may be up, too. */
const FIRST_MS = MINUTE;
const EVERY_MS = 10 * MINUTE;

export interface Unreachable {
  since: number;
  reason: string;
}

/** An unknown token gets this receiver's own 404. Never throws. */
export async function probeReceiver(publicUrl: string, timeoutMs = TIMEOUT_MS): Promise<Reachability> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, body } = await request(`${publicUrl}/hooks/probe`, { method: 'POST', signal });
    const text = await body.text();
    if (statusCode === 404 && text === '{"ok":false}') return { status: 'reachable' };
    return { status: 'other', code: statusCode };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { status: 'unreachable', reason: signal.aborted ? 'timeout' : code };
  }
}

export function watchReachability(options: {
  probe(): Promise<Reachability>;
  /** Whether it also probes without being asked. */
  isRepeated: boolean;
  clock: Clock;
  log: Logger;
}) {
  const { clock, log } = options;
  let unreachable: Unreachable | null = null;
  const stop = options.isRepeated ? repeat(clock, EVERY_MS, probe, FIRST_MS) : () => {};

  async function probe(): Promise<Reachability> {
    const found = await options.probe();
    const before = unreachable;
    if (found.status === 'reachable') {
      if (before) log.info({ forMs: Math.max(0, clock.now() - before.since) }, 'PUBLIC_URL is reachable again');
      unreachable = null;
    } else {
      const reason = found.status === 'other' ? `HTTP ${found.code}` : found.reason;
      if (before?.reason !== reason) log.warn({ reason }, 'PUBLIC_URL is not reachable from here');
      unreachable = { since: before?.since ?? clock.now(), reason };
    }
    return found;
  }

  return {
    probe,
    /** null also before the first probe. */
    unreachable: (): Unreachable | null => unreachable,
    close: stop,
  };
}
