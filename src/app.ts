import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { commands } from '../commands/index.ts';
import type { CommandServices } from '../commands/shared/services.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createCommandServices, openExplorer, openProjects } from './command-services.ts';
import { type Config, databaseFile } from './config.ts';
import { type DelivererOptions, startDeliverer } from './delivery/deliver.ts';
import { relabel } from './delivery/relabel.ts';
import { watchSilence } from './delivery/silence.ts';
import { renderDigest } from './discord/digest.ts';
import { type GatewayOptions, type GatewayState, startGateway } from './discord/gateway.ts';
import type { RenderSettings } from './discord/line.ts';
import { renderParked, renderSilence } from './discord/notice.ts';
import { renderAlerts, renderPlain } from './discord/render.ts';
import { createSender } from './discord/sender.ts';
import { type Clock, steadyTime, systemClock } from './domain/clock.ts';
import type { Sender } from './domain/send-outcome.ts';
import { isLinkable } from './domain/text.ts';
import { openLog } from './log.ts';
import { createCounts, renderMetrics } from './metrics.ts';
import { createAcks } from './receiver/acks.ts';
import { listen } from './receiver/listen.ts';
import { createOps, type Readiness } from './receiver/ops.ts';
import { openPathTokens, receiverPaths } from './receiver/paths.ts';
import { createQuarantineLimit } from './receiver/quarantine.ts';
import { REFUSAL_REASONS } from './receiver/server.ts';
import { startReceiver } from './receiver/start.ts';
import { startRouter } from './routing/route.ts';
import { createTokenCatalog } from './routing/token-catalog.ts';
import { type OpenStore, openStore } from './store/sqlite/client.ts';
import { startDailyBackups } from './store/sqlite/daily.ts';
import { takePlace } from './store/sqlite/folder.ts';
import type { Store } from './store/store.ts';
import { startUpkeep } from './upkeep.ts';
import type { Explorer } from './upstream/explorer.ts';

/** A path token with fewer characters may be guessed. */
const MIN_TOKEN_LENGTH = 16;

/** What tests put in the place of the usual. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  /** Milliseconds that really passed, since any moment. */
  elapsed?: () => number;
  /** From 0 to 1. */
  random?: () => number;
  /** An open database instead of the file that the configuration names; it is closed with the app. */
  database?: OpenStore;
  sender?: Sender;
  explorer?: Pick<Explorer, 'token'> | null;
  renderers?: Partial<Renderers>;
  services?: Partial<CommandServices>;
  connect?: (options: GatewayOptions<CommandServices>) => Gateway;
  /** The database's thread has ended, so nothing works any more. */
  onDatabaseLost?: (error: Error) => void;
}

type Renderers = Pick<DelivererOptions, 'render' | 'renderPlain' | 'renderParked' | 'renderDigest'>;
type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'close'>;

/** A running bot. */
export interface App {
  /** Where the receiver listens, without the path. */
  receiver: string;
  /** Where the operator's server listens. */
  ops: string;
  /** For tests that act in the place of the network. */
  internals: {
    store: Store;
    intake: Awaited<ReturnType<typeof startReceiver>>['intake'];
    deliverer: ReturnType<typeof startDeliverer>;
    services: CommandServices;
  };
  /** Stops receiving first; what is being sent has 5 s to finish. */
  close(): Promise<void>;
}

/**
 * Starts the bot; the only function that knows every part. The parts are made from the end of an event's way to its
 * start, because each is handed the next one: sender ← deliverer ← router ← receiver. What was started ends in the
 * opposite order, also when a later part cannot start.
 */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = openLog(config.LOG_LEVEL), random = Math.random } = overrides;
  const { elapsed = () => performance.now(), renderers = {}, connect = startGateway } = overrides;
  const now = () => clock.now();
  const file = databaseFile(config);
  await using stack = new AsyncDisposableStack();

  const database = overrides.database ?? (await openDatabase(file, log, overrides.onDatabaseLost));
  const { store } = stack.adopt(database, ({ close }) => close());
  const tokens = await openPathTokens({ store, fixed: operatorToken(config, log), now });
  const projects = await openProjects(config, { store, file, onTokens: tokens.refresh, now, log });
  const explorer = overrides.explorer === undefined ? openExplorer(config, now) : overrides.explorer;
  const settings = { explorerUrl: linkedExplorer(config, log), nativeSymbol: config.NATIVE_SYMBOL };

  const discord = { token: config.DISCORD_TOKEN, apiUrl: config.DISCORD_API_URL };
  const sender = overrides.sender ?? createSender(discord);
  const render = { ...rendering(settings), ...renderers };
  const deliverer = stack.adopt(startDeliverer({ store, sender, clock, log, random, ...render }), (it) => it.close());
  const silence = watchSilence({ store, clock, log, render: renderSilence, onNotice: deliverer.wake });
  stack.defer(silence.close);
  const backups = stack.adopt(startDailyBackups({ file, clock, log }), (it) => it.close());

  const counts = createCounts(REFUSAL_REASONS);
  const acks = createAcks();
  const quarantine = createQuarantineLimit(store, log);
  await quarantine.measure();
  const router = startRouter({
    store,
    now,
    log,
    ackedAt: acks.ackedAt,
    catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
    nativeSymbol: config.NATIVE_SYMBOL,
    onAlerts: deliverer.alertsStored,
    onRouted({ ids, quarantined }) {
      acks.forget(ids);
      counts.routed += ids.length;
      if (quarantined > 0) void quarantine.measure();
    },
  });
  stack.defer(router.close);

  const refusedSources = rememberRefusedSources(now, log);
  const receiver = await startReceiver({
    config,
    store,
    acks,
    tokens: tokens.tokens,
    now: steadyTime(now, elapsed),
    after: (ms, run) => clock.after(ms, run),
    log,
    isQuarantineFull: quarantine.isFull,
    onStored: router.wake,
    onReceived: () => void counts.received++,
    onRefused(reason, source, scope) {
      counts.refused[reason]++;
      if (reason === 'source') refusedSources.note(source, scope);
    },
  });
  stack.defer(receiver.close);

  const publicUrl = config.PUBLIC_URL ?? receiver.url;
  const services: CommandServices = {
    ...createCommandServices(config, {
      store,
      explorer,
      projects,
      receiver: receiverPaths(tokens, publicUrl),
      publicUrl,
      version: packageJson.version,
      render: settings,
      now,
      lastRefused: refusedSources.last,
      async onRelabeled(guildId, addresses) {
        const { channels, ...done } = await relabel(store, guildId, addresses, now());
        deliverer.wake(channels);
        return done;
      },
    }),
    ...overrides.services,
  };
  const gateway = connect({
    ...discord,
    commands: async () => commands,
    services,
    settingsOf: store.guilds.settings,
    now,
    log,
    random,
    onAccessChange: deliverer.guildChanged,
    onChannelRemoved: (channelId) => void channelRemoved(store, channelId, now(), log),
    onGuildRemoved: deliverer.guildRemoved,
    onGuilds: (guildIds, share) => void deliverer.guildsSynced(guildIds, share),
    onGuildUsed: deliverer.guildUsed,
    onToken: deliverer.tokenChecked,
  });
  stack.defer(gateway.close);

  const figures = async () => ({
    backlog: await store.metrics.backlog(now()),
    sending: deliverer.state(),
    commits: receiver.intake.state().commits,
    lastBackup: backups.last(),
    now: now(),
  });
  const ops = createOps({
    scrape: async () => renderMetrics(counts, await figures()),
    readiness: () => readiness(store, receiver.intake.fault(), gateway.state(), deliverer.state()),
  });
  stack.defer(() => ops.close());
  const opsUrl = await listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');

  router.wake();
  const stopUpkeep = startUpkeep(store, clock, log, {
    look() {
      // `npm run deadletters` replays deliveries and alerts in a process of its own, which cannot wake this one.
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
  stack.defer(stopUpkeep);

  const off = (['NOTIFICATION_URL', 'EXPLORER_API_URL', 'DISCOVERY_URL'] as const).filter((name) => !config[name]);
  const { version } = packageJson;
  log.info({ receiver: receiver.url, ops: opsUrl, publicUrl, database: file, off, version }, 'started');
  const started = stack.move();
  return {
    receiver: receiver.url,
    ops: opsUrl,
    internals: { store, intake: receiver.intake, deliverer, services },
    close() {
      receiver.stopAdmitting();
      return started.disposeAsync();
    },
  };
}

/** Opens the database that the configuration names; makes an empty one where there is none. */
async function openDatabase(file: string, log: Logger, onLost?: (error: Error) => void): Promise<OpenStore> {
  const isNew = !existsSync(file);
  takePlace(file);
  const database = await openStore(file, onLost);
  // With a wrong path the bot would run without any subscription: it takes every delivery and alerts nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}

function rendering(settings: RenderSettings): Renderers {
  return {
    render: (alerts, reference, now) => renderAlerts(alerts, reference, settings, now),
    renderPlain,
    renderParked,
    renderDigest: (alerts, reference, reason, now) => renderDigest(alerts, reference, settings, reason, now),
  };
}

/** The operator's path token as the environment sets it. */
function operatorToken({ RECEIVER_TOKEN }: Config, log: Logger): string | undefined {
  if (RECEIVER_TOKEN !== undefined && RECEIVER_TOKEN.length < MIN_TOKEN_LENGTH) {
    log.warn('RECEIVER_TOKEN is short enough to be guessed; set a longer one (openssl rand -hex 24)');
  }
  return RECEIVER_TOKEN;
}

/** The explorer's web root, where Discord accepts links to it. */
function linkedExplorer({ EXPLORER_URL }: Config, log: Logger): string | undefined {
  if (EXPLORER_URL === undefined || isLinkable(EXPLORER_URL)) return EXPLORER_URL;
  log.warn(
    'EXPLORER_URL is not linked: Discord rejects links to a host without a domain; set a URL that users can reach',
  );
  return undefined;
}

/** The latest delivery from an address that is not a source: of each scope, and of all. */
function rememberRefusedSources(now: () => number, log: Logger) {
  const latest = new Map<number | 'any', { source: string | null; at: number }>();
  return {
    note(source: string | null, scope: number | null): void {
      for (const key of [scope, 'any'] as const) if (key !== null) latest.set(key, { source, at: now() });
      log.warn({ source }, 'delivery from an address that is not in RECEIVER_SOURCES');
    },
    last: (scope: number | 'any') => latest.get(scope) ?? null,
  };
}

/** Records that a channel is gone, as after a 404: what waits for it is kept for some days, and people see why. */
async function channelRemoved(store: Store, channelId: string, now: number, log: Logger): Promise<void> {
  const reason = 'channel or server is gone (10003)';
  try {
    await store.channels.setState({ channelId, state: 'unreachable', dueAt: 0, attempts: 0, since: now, reason });
  } catch (error) {
    // The next message there gets that 404 from Discord itself.
    log.warn({ err: error, channel: channelId }, 'cannot record a removed channel');
  }
}

type Sending = { authorized: boolean; breaker: boolean };

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
  const held = sending.authorized ? 'held back after refusals' : 'Discord refuses the token';
  const sends = sending.authorized && !sending.breaker;
  const discord = gateway === 'ready' ? { ready: true } : { ready: false, detail: gateway };
  return { database, discord, sending: sends ? { ready: true } : { ready: false, detail: held } };
}
