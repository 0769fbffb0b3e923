import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { createCommandServices, openExplorer, openProjects } from './command-services.ts';
import { type Config, databaseFile } from './config.ts';
import { startDeliverer } from './delivery/deliver.ts';
import { relabel } from './delivery/relabel.ts';
import { watchSilence } from './delivery/silence.ts';
import { renderDigest } from './discord/digest.ts';
import { type GatewayState, startGateway } from './discord/gateway.ts';
import type { RenderSettings } from './discord/line.ts';
import { renderParked, renderSilence } from './discord/notice.ts';
import { renderAlerts, renderPlain } from './discord/render.ts';
import { createSender } from './discord/sender.ts';
import { type Clock, steadyTime, systemClock } from './domain/clock.ts';
import { isLinkable } from './domain/text.ts';
import { createMetrics } from './metrics.ts';
import { createIntake } from './receiver/intake.ts';
import { listen } from './receiver/listen.ts';
import { createOps, type Readiness } from './receiver/ops.ts';
import { openPaths } from './receiver/paths.ts';
import { watchQuarantine } from './receiver/quarantine.ts';
import { createReceiver, REFUSAL_REASONS } from './receiver/server.ts';

import { startRouter } from './routing/route.ts';
import { createTokenCatalog } from './routing/token-catalog.ts';
import type { OpenStore } from './store/sqlite/client.ts';
import { startDailyBackups } from './store/sqlite/daily.ts';
import type { Store } from './store/store.ts';
import { startUpkeep } from './upkeep.ts';

/** A path token of fewer characters may be guessed. */
const TOKEN_LENGTH = 16;

/** A running bot. */
export interface App {
  /** Where the receiver listens, without the path. */
  receiver: string;
  /** Where the operator's server listens. */
  ops: string;
  close(): Promise<void>;
}

/** Puts every part together and starts it; the only file that knows them all. The database is closed with the app. */
export async function startApp(
  config: Config,
  { database, log, clock = systemClock }: { database: OpenStore; log: Logger; clock?: Clock },
): Promise<App> {
  const file = databaseFile(config);
  const { store, close: closeStore } = database;
  const now = clock.now;
  const settings: RenderSettings = { explorerUrl: linkedExplorer(config, log), nativeSymbol: config.NATIVE_SYMBOL };
  let publicUrl = config.PUBLIC_URL ?? '';
  if (config.RECEIVER_TOKEN !== undefined && config.RECEIVER_TOKEN.length < TOKEN_LENGTH) {
    log.warn('RECEIVER_TOKEN is short enough to be guessed; set a longer one (openssl rand -hex 24)');
  }
  const paths = await openPaths({ store, fixed: config.RECEIVER_TOKEN, now, publicUrl: () => publicUrl });
  const projects = await openProjects(config, { store, file, receiver: paths, now, log }).catch(async (error) => {
    await closeStore();
    throw error;
  });
  const refusals = rememberRefusals(now);

  const sender = createSender({ token: config.DISCORD_TOKEN, apiUrl: config.DISCORD_API_URL });
  const deliverer = startDeliverer({
    store,
    sender,
    clock,
    log,
    render: (alerts, reference, now) => renderAlerts(alerts, reference, settings, now),
    renderPlain,
    renderParked,
    renderDigest: (alerts, reference, reason, now) => renderDigest(alerts, reference, settings, reason, now),
  });
  const explorer = openExplorer(config, now);
  const arrivals = steadyTime(now, () => performance.now());
  const tellFault = (reason: string | null) =>
    reason === null
      ? log.info('deliveries can be stored again')
      : log.error({ reason }, 'cannot store deliveries: returning 503, the sender will retry');
  const intake = createIntake({ store, now: arrivals, onStored: (rows) => router.wake(rows), onFault: tellFault });
  const router = startRouter({
    store,
    now,
    log,
    ackedAt: intake.outcome,
    catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
    nativeSymbol: config.NATIVE_SYMBOL,
    onAlerts: deliverer.alertsStored,
    onRouted({ ids, quarantined }) {
      intake.forget(ids);
      metrics.counts.routed += ids.length;
      if (quarantined > 0) void watchQuarantine(store, intake, log);
    },
  });
  const silence = watchSilence({ store, clock, log, render: renderSilence, onNotice: deliverer.wake });
  const backups = startDailyBackups({ file, clock, log });
  const metrics = createMetrics({
    refusals: REFUSAL_REASONS,
    read: async () => ({
      backlog: await store.metrics.backlog(now()),
      sending: deliverer.state(),
      commits: intake.state().commits,
      lastBackup: backups.last(),
      now: now(),
    }),
  });
  const receiver = createReceiver({
    config,
    intake,
    tokens: paths.tokens,
    now: arrivals,
    after: (ms, run) => clock.after(ms, run),
    log,
    onReceived: () => void metrics.counts.received++,
    onRefused(reason, source, scope) {
      metrics.counts.refused[reason]++;
      if (reason !== 'source') return;
      refusals.note(source, scope);
      log.warn({ source }, 'delivery from an address that is not in RECEIVER_SOURCES');
    },
  });
  await watchQuarantine(store, intake, log);

  let receiverUrl: string;
  try {
    receiverUrl = await listen(receiver, config.HOST, config.PORT, 'PORT');
  } catch (error) {
    await Promise.all([silence.close(), backups.close()]);
    await closeStore();
    throw error;
  }
  publicUrl ||= receiverUrl;
  const parts = createCommandServices(config, {
    store,
    explorer,
    projects,
    receiver: paths,
    publicUrl,
    version: packageJson.version,
    render: settings,
    now,
    lastRefused: refusals.last,
    async onRelabeled(guildId, addresses) {
      const { channels, ...done } = await relabel(store, guildId, addresses, now());
      deliverer.wake(channels);
      return done;
    },
  });
  const gateway = startGateway({
    token: config.DISCORD_TOKEN,
    apiUrl: config.DISCORD_API_URL,
    commands: async () => (await import('../commands/index.ts')).commands,
    parts,
    log,
    onAccessChange: deliverer.guildChanged,
    onChannelRemoved: (channelId) => void channelRemoved(store, channelId, now(), log),
    onGuildRemoved: deliverer.guildRemoved,
    onGuilds: (guildIds, share) => void deliverer.guildsSynced(guildIds, share),
    onGuildUsed: deliverer.guildUsed,
    onToken: deliverer.tokenChecked,
    random: Math.random,
  });
  const ops = createOps({
    scrape: metrics.scrape,
    readiness: () => readiness(store, intake.fault(), gateway.state(), deliverer.state()),
  });

  let stopUpkeep = () => {};
  const close = async () => {
    stopUpkeep();
    intake.stopAdmitting();
    const patience = clock.after(2_000, () => receiver.server.closeAllConnections());
    receiver.server.closeIdleConnections();
    await receiver.close();
    patience();
    await router.close();
    await Promise.all([silence.close(), deliverer.close(), gateway.close(), ops.close(), backups.close()]);
    await closeStore();
  };

  let opsUrl: string;
  try {
    opsUrl = await listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
  } catch (error) {
    await close();
    throw error;
  }
  router.wake();
  stopUpkeep = startUpkeep(store, clock, log, {
    look() {
      // `npm run deadletters` puts deliveries and alerts back in a process of its own: nothing else tells this one.
      router.wake();
      void deliverer.rescan();
      void watchQuarantine(store, intake, log);
    },
    async isMember(guildId) {
      const isThere = await sender.isMember(guildId);
      if (isThere) deliverer.guildChanged(guildId);
      return isThere;
    },
    async onBegun(guild) {
      log.info({ guild }, 'erasing the data of a server that removed the bot 30 days ago');
      await paths.refresh();
    },
  });
  const off = (['NOTIFICATION_URL', 'EXPLORER_API_URL', 'DISCOVERY_URL'] as const).filter((name) => !config[name]);
  log.info(
    { receiver: receiverUrl, ops: opsUrl, publicUrl, database: file, off, version: packageJson.version },
    'started',
  );
  return { receiver: receiverUrl, ops: opsUrl, close };
}

/** The explorer's web root, where Discord takes links to it. */
function linkedExplorer({ EXPLORER_URL }: Config, log: Logger): string | undefined {
  if (EXPLORER_URL === undefined || isLinkable(EXPLORER_URL)) return EXPLORER_URL;
  log.warn(
    'EXPLORER_URL is not linked because Discord rejects links to a host without a domain; set a URL that users can reach',
  );
  return undefined;
}

/** The latest delivery from an address that is no source: of each scope, and of all. */
function rememberRefusals(now: () => number) {
  const latest = new Map<number | 'any', { source: string | null; at: number }>();
  return {
    note(source: string | null, scope: number | null): void {
      for (const key of [scope, 'any'] as const) if (key !== null) latest.set(key, { source, at: now() });
    },
    last: (scope: number | 'any') => latest.get(scope) ?? null,
  };
}

/** Notes that a channel is gone, as after a 404: what waits for it is kept for some days, and people are shown why. */
async function channelRemoved(store: Store, channelId: string, now: number, log: Logger): Promise<void> {
  const reason = 'channel or server is gone (10003)';
  try {
    await store.channels.setState({ channelId, state: 'paused', dueAt: 0, attempts: 0, since: now, reason });
  } catch (error) {
    // The next message there will get that 404 from Discord itself.
    log.warn({ err: error, channel: channelId }, 'cannot record a removed channel');
  }
}

type Sending = { authorised: boolean; breaker: boolean };

async function readiness(
  store: Store,
  fault: string | null,
  gateway: GatewayState,
  sending: Sending,
): Promise<Readiness> {
  // Only a small read: counting what waits would hold deliveries up. It works on a full disk too, hence `fault`.
  const database = await store.inbox.next(1).then(
    () => (fault === null ? { ready: true } : { ready: false, detail: `deliveries cannot be stored: ${fault}` }),
    (error: Error) => ({ ready: false, detail: error.message }),
  );
  const held = sending.authorised ? 'held back after refusals' : 'Discord refuses the token';
  const sends = sending.authorised && !sending.breaker;
  const discord = gateway === 'ready' ? { ready: true } : { ready: false, detail: gateway };
  return { database, discord, sending: sends ? { ready: true } : { ready: false, detail: held } };
}
