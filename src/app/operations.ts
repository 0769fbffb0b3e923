import packageJson from '../../package.json' with { type: 'json' };
import { inTime, SECOND } from '../domain/clock.ts';
import { diskFree, fileSizes } from '../metrics/files.ts';
import type { Metrics } from '../metrics/render.ts';
import { toValues } from '../metrics/values.ts';
import { listen } from '../receiver/listen.ts';
import { createOps } from '../receiver/ops.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import type { Interfaces } from './interfaces.ts';
import { databasePart, readReadiness } from './readiness.ts';
import type { Receiving } from './receiving.ts';
import type { Work } from './work.ts';

/** How long a scrape waits for what is counted in the database. */
const SCRAPE_TIMEOUT_MS = 5 * SECOND;

/** Starts the operator's server; returns where it listens. */
export async function startOperations(
  { config, clock, now, counts, stack }: AppContext,
  metrics: () => Promise<Metrics>,
  { file, schema, store, database, shared, lastBackup }: Data,
  { health }: Interfaces,
  { receiver, storageFault, reach }: Receiving,
  work: Work,
): Promise<string> {
  const figures = async () => ({
    // A fault is what the other figures are read for: they do not depend on the database.
    backlog: await inTime(store.metrics.backlog(now()), SCRAPE_TIMEOUT_MS, clock).catch(() => null),
    isDatabaseReady: (await databasePart(database, storageFault(), clock)).ready,
    syncMs: database.syncMs(),
    shards: work.current()?.gateway.shards() ?? null,
    elections: shared?.leadership.elections() ?? 0,
    files: await fileSizes(file),
    diskFree: file === null ? null : await diskFree(file),
    build: { version: packageJson.version, schema: String(schema), node: process.version },
    sending: work.current()?.deliverer.state() ?? null,
    commits: receiver.intake.state().commits,
    lastBackup: lastBackup(),
    interfaces: { outages: health.outages(), errors: health.errors() },
    now: now(),
  });
  const sources = {
    database,
    storageFault,
    working: work.current,
    outages: health.outages,
    unreachable: reach.unreachable,
    clock,
  };
  const ops = createOps({
    scrape: async () => (await metrics()).render(toValues(counts, await figures())),
    readiness: () => readReadiness(sources),
    role: work.role,
  });
  stack.defer(() => ops.close());
  return listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
}
