import type { Logger } from 'pino';
import { commands } from '../commands/index.ts';
import type { CommandServices } from '../commands/shared/services.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type Data, openData } from './app/data.ts';
import type { Parts } from './app/parts.ts';
import { databasePart, readReadiness } from './app/readiness.ts';
import { type Receiving, startReceiving } from './app/receiving.ts';
import { type Renderers, type Sending, startSending } from './app/sending.ts';
import { createCommandServices, openExplorer, openProjects } from './command-services.ts';
import type { Config } from './config.ts';
import { relabel } from './delivery/relabel.ts';
import { type GatewayOptions, startGateway } from './discord/gateway.ts';
import { type Clock, inTime, SECOND, systemClock } from './domain/clock.ts';
import type { Sender } from './domain/send-outcome.ts';
import { openLog } from './log.ts';
import { createCounts } from './metrics/counts.ts';
import { diskFree, fileSizes } from './metrics/files.ts';
import { createMetrics, type Metrics } from './metrics/render.ts';
import { toValues } from './metrics/values.ts';
import { listen } from './receiver/listen.ts';
import { createOps } from './receiver/ops.ts';
import { receiverPaths } from './receiver/paths.ts';
import { REFUSAL_REASONS } from './receiver/server.ts';
import type { OpenStore, StoreListener } from './store/sqlite/client.ts';
import { migrations } from './store/sqlite/migrations.ts';
import type { Store } from './store/store.ts';
import { startUpkeep } from './upkeep.ts';
import type { Explorer } from './upstream/explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from './upstream/health.ts';
import type { Projects } from './upstream/projects.ts';

/** Replacements for tests. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  /** Milliseconds that really passed, since any moment. */
  elapsed?: () => number;
  /** From 0 to 1. */
  random?: () => number;
  /** An open database instead of the configured file; it is closed with the app and not backed up. */
  database?: OpenStore;
  sender?: Sender;
  renderers?: Partial<Renderers>;
  services?: Partial<CommandServices>;
  connect?: (options: GatewayOptions<CommandServices>) => Gateway;
  /** Notified when the database can no longer be used. */
  onDatabase?: StoreListener;
}

type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;

/** A running bot. */
export interface App {
  /** Where the receiver listens, without the path. */
  receiver: string;
  /** Where the operator's server listens. */
  ops: string;
  /** For tests that replace the network. */
  internals: {
    store: Store;
    intake: Receiving['receiver']['intake'];
    deliverer: Sending['deliverer'];
    services: CommandServices;
  };
  /** Stops receiving first; requests to Discord have 5 s to finish. */
  close(): Promise<void>;
}

/** How long a scrape waits for what is counted in the database. */
const SCRAPE_MS = 5 * SECOND;

/** The services of others, and what is known about their health. */
interface Interfaces {
  health: InterfaceHealth;
  projects: Projects;
  explorer: Explorer | null;
}

/**
 * Starts the bot; the only function that knows every part. The parts are created from the end of an event's way to its
 * start, because each gets the next one: sender ← deliverer ← router ← receiver. They stop in the opposite order, also
 * when a later part cannot start.
 */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = openLog(config.LOG_LEVEL), random = Math.random } = overrides;
  const { elapsed = () => performance.now(), connect = startGateway } = overrides;
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  const counts = createCounts(REFUSAL_REASONS, (seconds) => metrics.observe('message_delay_seconds', seconds));
  const parts: Parts = { config, log, clock, now: () => clock.now(), elapsed, random, counts, stack };

  const data = await openData(parts, overrides.database, overrides.onDatabase);
  const interfaces = await openInterfaces(parts, data);
  const sending = startSending(parts, data, overrides);
  const receiving = await startReceiving(parts, data, sending, interfaces);
  const services = { ...commandServices(parts, data, interfaces, sending, receiving), ...overrides.services };
  const gateway = connect(gatewayOptions(parts, data, sending, services));
  stack.defer(gateway.close);
  const ops = await startOps(parts, metrics, data, interfaces, sending, receiving, gateway);
  receiving.router.wake();
  startChores(parts, data, sending, receiving);

  const off = (['NOTIFICATION_URL', 'EXPLORER_API_URL', 'DISCOVERY_URL'] as const).filter((name) => !config[name]);
  const { receiver, publicUrl } = receiving;
  const { version } = packageJson;
  log.info(
    {
      receiver: receiver.url,
      ops,
      publicUrl,
      database: data.file,
      off,
      version,
      schema: migrations.length,
      node: process.version,
    },
    'started',
  );
  const started = stack.move();
  return {
    receiver: receiver.url,
    ops,
    internals: { store: data.store, intake: receiver.intake, deliverer: sending.deliverer, services },
    close() {
      receiver.stopAdmitting();
      return started.disposeAsync();
    },
  };
}

async function openInterfaces({ config, clock, log, now, stack }: Parts, data: Data): Promise<Interfaces> {
  const { store, file, tokens } = data;
  const health = createInterfaceHealth({ clock, log });
  stack.defer(health.close);
  const projects = await openProjects(config, { store, file, health, onTokens: tokens.refresh, now, log });
  return { health, projects, explorer: openExplorer(config, health, now) };
}

function commandServices(
  { config, now }: Parts,
  { store, tokens }: Data,
  interfaces: Interfaces,
  { deliverer, settings }: Sending,
  { publicUrl, refusedSources, badSignatures, quotas, reach }: Receiving,
): CommandServices {
  return createCommandServices(config, {
    store,
    ...interfaces,
    receiver: receiverPaths(tokens, publicUrl),
    publicUrl,
    version: packageJson.version,
    render: settings,
    now,
    lastRefused: refusedSources.last,
    lastBadSignature: badSignatures.last,
    sendingHold: deliverer.hold,
    receiverQuota: quotas.usage,
    probeReceiver: reach.probe,
    sendingPauses: deliverer.pauses,
    async onRelabeled(guildId, addresses) {
      const { channels, ...done } = await relabel(store, guildId, addresses, now());
      deliverer.wake(channels);
      return done;
    },
  });
}

function gatewayOptions(
  { config, log, now, random }: Parts,
  { store }: Data,
  { deliverer }: Sending,
  services: CommandServices,
): GatewayOptions<CommandServices> {
  return {
    token: config.DISCORD_TOKEN,
    apiUrl: config.DISCORD_API_URL,
    commands: async () => commands,
    services,
    settingsOf: store.guilds.settings,
    now,
    log,
    random,
    onAccessChange: deliverer.guildChanged,
    onChannelRemoved: deliverer.channelRemoved,
    onGuildRemoved: deliverer.guildRemoved,
    onGuilds: (guildIds, share) => void deliverer.guildsSynced(guildIds, share),
    onGuildUsed: deliverer.guildUsed,
    onToken: deliverer.tokenChecked,
  };
}

/** Starts the operator's server; returns where it listens. */
async function startOps(
  { config, now, counts, stack }: Parts,
  metrics: Metrics,
  { file, store, database, lastBackup }: Data,
  { health }: Interfaces,
  { deliverer }: Sending,
  { receiver, storageFault, reach }: Receiving,
  gateway: Gateway,
): Promise<string> {
  const figures = async () => ({
    // A fault is what the other figures are read for: they do not depend on the database.
    backlog: await inTime(store.metrics.backlog(now()), SCRAPE_MS).catch(() => null),
    isDatabaseReady: (await databasePart(database, storageFault())).ready,
    syncMs: database.syncMs(),
    shards: gateway.shards(),
    files: await fileSizes(file),
    diskFree: await diskFree(file),
    build: { version: packageJson.version, schema: String(migrations.length), node: process.version },
    sending: deliverer.state(),
    commits: receiver.intake.state().commits,
    lastBackup: lastBackup(),
    interfaces: { outages: health.outages(), errors: health.errors() },
    now: now(),
  });
  const sources = {
    database,
    storageFault,
    gateway,
    sending: deliverer.state,
    outages: health.outages,
    unreachable: reach.unreachable,
    now,
  };
  const ops = createOps({
    scrape: async () => metrics.render(toValues(counts, await figures())),
    readiness: () => readReadiness(sources),
  });
  stack.defer(() => ops.close());
  return listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
}

/** Starts what is done every minute and every hour. */
function startChores(
  { clock, log, stack }: Parts,
  { store, tokens, workTime }: Data,
  { sender, deliverer }: Sending,
  { router, quarantine }: Receiving,
): void {
  const stop = startUpkeep(store, clock, log, {
    since: workTime.since,
    look() {
      const { authorized, breaker } = deliverer.state();
      void workTime.tick(authorized && !breaker);
      // `npm run deadletters` replays deliveries and alerts in a separate process, which cannot wake this one.
      router.wake();
      void deliverer.rescan();
      void quarantine.measure();
    },
    async isMember(guildId) {
      const isThere = await sender.isMember(guildId);
      if (isThere) deliverer.guildChanged(guildId);
      return isThere;
    },
    async onBegun(guild) {
      log.info({ guild }, 'erasing the data of a server that removed the bot 30 days ago');
      await tokens.refresh();
    },
  });
  stack.defer(stop);
}
