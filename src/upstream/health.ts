import type { Logger } from 'pino';
import { type Clock, inTime, MINUTE, repeat, SECOND } from '../domain/clock.ts';
import type { Interface, Outage, UpstreamFailure } from '../domain/upstream.ts';
import type { Metrics } from '../metrics/metrics.ts';

const PROBE_MS = MINUTE;
const CHECK_TIMEOUT_MS = 6 * SECOND;

/** Makes a cheap request to an interface; its client records the result. */
export type Probe = () => Promise<unknown>;

export type InterfaceHealth = ReturnType<typeof createInterfaceHealth>;

export function createInterfaceHealth({
  clock,
  log,
  errors,
  network,
}: {
  clock: Clock;
  log: Logger;
  /** Undefined: it is the only one. */
  network?: string | undefined;
  errors: Metrics['interfaceErrors'];
}) {
  const outages = new Map<Interface, Outage>();
  const probes = new Map<Interface, Probe>();
  const stopProbes = repeat(clock, PROBE_MS, () => {
    for (const name of outages.keys()) void probes.get(name)?.();
  });

  function began(name: Interface, failure: UpstreamFailure): void {
    log.warn({ interface: name, reason: failure.status }, 'interface unavailable');
    outages.set(name, { since: clock.now(), failure });
  }

  function ended(name: Interface, { since }: Outage): void {
    outages.delete(name);
    log.info({ interface: name, forMs: Math.max(0, clock.now() - since) }, 'interface available again');
  }

  return {
    note(name: Interface, failure: UpstreamFailure | null): void {
      const outage = outages.get(name);
      log.debug({ interface: name, outcome: failure?.status ?? 'ok' }, 'interface request');
      if (failure) {
        errors.inc({ interface: name, reason: failure.status, ...(network !== undefined && { network }) });
        if (outage) outage.failure = failure;
        else began(name, failure);
      } else if (outage) ended(name, outage);
    },
    /** Probes the interface every minute while it is down. */
    watch(name: Interface, probe: Probe): void {
      probes.set(name, probe);
    },
    async check(): Promise<void> {
      await inTime(Promise.all([...probes.values()].map((probe) => probe())), CHECK_TIMEOUT_MS, clock);
    },
    outages: (): ReadonlyMap<Interface, Readonly<Outage>> => outages,
    /** Records results, but probes no more. */
    close: stopProbes,
  };
}
