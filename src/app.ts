import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { commands } from '../commands/index.ts';
import type { CommandServices } from '../commands/shared/services.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createCommandServices, openExplorer, openProjects } from './command-services.ts';
import { type Config, databaseFile, MEGABYTE, quotaLimits } from './config.ts';
import { type DelivererOptions, startDeliverer } from './delivery/deliver.ts';
import { relabel } from './delivery/relabel.ts';
import { watchSilence } from './delivery/silence.ts';
import { renderDigest } from './discord/digest.ts';
import { type GatewayOptions, startGateway } from './discord/gateway.ts';
import type { RenderSettings } from './discord/line.ts';
import { renderParked, renderSilence } from './discord/notice.ts';
import { renderAlerts, renderPlain } from './discord/render.ts';
import { createSender } from './discord/sender.ts';
import { type Clock, inTime, SECOND, steadyTime, systemClock } from './domain/clock.ts';
import type { Sender } from './domain/send-outcome.ts';
import { isLinkable } from './domain/text.ts';
import type { Interface, Outage } from './domain/upstream.ts';
import { mostConnections, readLimits } from './limits.ts';
import { openLog } from './log.ts';
import { createCounts } from './metrics/counts.ts';
import { diskFree, fileSizes } from './metrics/files.ts';
import { createMetrics } from './metrics/render.ts';
import { toValues } from './metrics/values.ts';
import { createAcks } from './receiver/acks.ts';

import { watchDisk } from './receiver/disk-reserve.ts';

import { assertListenable, listen } from './receiver/listen.ts';

import { createOps, type Readiness } from './receiver/ops.ts';
import { openPathTokens, receiverPaths } from './receiver/paths.ts';
import { probeReceiver } from './receiver/probe.ts';
import { createQuarantineLimit } from './receiver/quarantine.ts';
import { createQuotas } from './receiver/quotas.ts';
import { type Unreachable, watchReach } from './receiver/reach.ts';
import { rememberRefusedSources } from './receiver/refused-sources.ts';
import { REFUSAL_REASONS } from './receiver/server.ts';
import { createSignatureCheck, type SignatureFault } from './receiver/signature.ts';
import { startReceiver } from './receiver/start.ts';
import { startRouter } from './routing/route.ts';
import { createTokenCatalog } from './routing/token-catalog.ts';
import { type OpenStore, openStore, type StoreListener } from './store/sqlite/client.ts';
import { startDailyBackups } from './store/sqlite/daily.ts';
import { takePlace } from './store/sqlite/folder.ts';
import { migrations } from './store/sqlite/migrations.ts';
import type { Store } from './store/store.ts';
import { startUpkeep } from './upkeep.ts';
import { createInterfaceHealth } from './upstream/health.ts';
import { openWorkTime } from './work-time.ts';

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

type Renderers = Pick<DelivererOptions, 'render' | 'renderPlain' | 'renderParked' | 'renderDigest'>;
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
    intake: Awaited<ReturnType<typeof startReceiver>>['intake'];
    deliverer: ReturnType<typeof startDeliverer>;
    services: CommandServices;
  };
  /** Stops receiving first; requests to Discord have 5 s to finish. */
  close(): Promise<void>;
}

/**
 * Starts the bot; the only function that knows every part. The parts are created from the end of an event's way to its
 * start, because each gets the next one: sender ← deliverer ← router ← receiver. They stop in the opposite order, also
 * when a later part cannot start.
 */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = openLog(config.LOG_LEVEL), random = Math.random } = overrides;
  const { elapsed = () => performance.now(), renderers = {}, connect = startGateway } = overrides;
  const now = () => clock.now();
  const file = databaseFile(config);
  await using stack = new AsyncDisposableStack();

  if (!overrides.database && !existsSync(file)) await assertStartable(config);
  const database = overrides.database ?? (await openDatabase(file, log, overrides.onDatabase));
  const { store } = stack.adopt(database, ({ close }) => close());
  const workTime = await openWorkTime({ store, clock, elapsed, log });
  const tokens = await openPathTokens({ store, fixed: config.RECEIVER_TOKEN, now });
  const health = createInterfaceHealth({ clock, log });
  stack.defer(health.close);
  const projects = await openProjects(config, { store, file, health, onTokens: tokens.refresh, now, log });
  const explorer = openExplorer(config, health, now);
  const settings = { explorerUrl: linkedExplorer(config, log), nativeSymbol: config.NATIVE_SYMBOL };

  const discord = { token: config.DISCORD_TOKEN, apiUrl: config.DISCORD_API_URL };
  const metrics = createMetrics();
  const counts = createCounts(REFUSAL_REASONS, (seconds) => metrics.observe('message_delay_seconds', seconds));
  const sender = overrides.sender ?? createSender(discord);
  const render = { ...rendering(settings), ...renderers };
  const onAttempt: DelivererOptions['onAttempt'] = (attempt) => counts.attempted(attempt, now());
  const sending = { store, sender, clock, log, random, onAttempt, ...render };
  const deliverer = stack.adopt(startDeliverer({ ...sending, workedSince: workTime.since }), (it) => it.close());
  const silence = watchSilence({ store, clock, log, render: renderSilence, onNotice: deliverer.wake });
  stack.defer(silence.close);
  const backups = overrides.database ? null : startDailyBackups({ file, clock, log });
  stack.defer(() => backups?.close());

  const acks = createAcks();
  const quarantine = createQuarantineLimit(store, log);
  await quarantine.measure();
  const quotas = createQuotas({ limits: quotaLimits(config), now });
  quotas.load(await store.inbox.usage());
  const reserveBytes = config.DISK_RESERVE_MB * MEGABYTE;
  stack.defer(watchDisk({ file, reserveBytes, clock, log, onLow: quotas.diskLow }));
  let isReceiverBusy = () => false;
  const router = startRouter({
    store,
    now,
    log,
    ackedAt: acks.ackedAt,
    isReceiverBusy: () => isReceiverBusy(),
    operatorProject: projects.operatorId,
    catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
    nativeSymbol: config.NATIVE_SYMBOL,
    onAlerts: deliverer.alertsStored,
    onRouted({ ids, bodies, quarantined }) {
      acks.forget(ids);
      quotas.routed(bodies);
      counts.routed += ids.length;
      if (quarantined > 0) void quarantine.measure();
    },
  });
  stack.defer(router.close);

  const refusedSources = rememberRefusedSources(now, log);
  const badSignatures = rememberBadSignatures(now, log);
  const receiver = await startReceiver({
    config,
    store,
    acks,
    scopeOf: tokens.scopeOf,
    maxConnections: mostConnections(readLimits()),
    checkSignature: createSignatureCheck(projects.signingSecrets, now),
    onBadSignature: badSignatures.note,
    now: steadyTime(now, elapsed),
    after: (ms, run) => clock.after(ms, run),
    log,
    isQuarantineFull: quarantine.isFull,
    quotas,
    syncMs: database.syncMs,
    onStored: router.wake,
    onReceived: () => void counts.received++,
    onRefused(reason, source, scope) {
      counts.refused[reason]++;
      if (source) refusedSources.note(source, scope);
    },
  });
  stack.defer(receiver.close);
  isReceiverBusy = receiver.intake.isBusy;

  const publicUrl = config.PUBLIC_URL ?? receiver.url;
  const reach = watchReach({
    probe: () => probeReceiver(publicUrl),
    isRepeated: config.PUBLIC_URL !== undefined,
    clock,
    log,
  });
  stack.defer(reach.close);
  const services: CommandServices = {
    ...createCommandServices(config, {
      store,
      explorer,
      health,
      projects,
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
    // A fault is what the other figures are read for: they do not depend on the database.
    backlog: await inTime(store.metrics.backlog(now()), SCRAPE_MS).catch(() => null),
    isDatabaseReady: (await databaseState(database, receiver.intake.fault())).ready,
    syncMs: database.syncMs(),
    shards: gateway.shards(),
    files: await fileSizes(file),
    diskFree: await diskFree(file),
    build: { version: packageJson.version, schema: String(migrations.length), node: process.version },
    sending: deliverer.state(),
    commits: receiver.intake.state().commits,
    lastBackup: backups?.last() ?? null,
    interfaces: { outages: health.outages(), errors: health.errors() },
    now: now(),
  });
  const ops = createOps({
    scrape: async () => metrics.render(toValues(counts, await figures())),
    readiness: async () => ({
      ...(await readiness(database, receiver.intake.fault(), gateway, deliverer.state())),
      interfaces: interfacesPart(health.outages(), now()),
      publicUrl: reachPart(reach.unreachable(), now()),
    }),
  });
  stack.defer(() => ops.close());
  const opsUrl = await listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');

  router.wake();
  const stopUpkeep = startUpkeep(store, clock, log, {
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

/** Checks what can be checked before an empty database is created: a failed start leaves nothing behind. */
async function assertStartable({ HOST, PORT, OPS_HOST, OPS_PORT }: Config): Promise<void> {
  await assertListenable(HOST, PORT, 'PORT');
  await assertListenable(OPS_HOST, OPS_PORT, 'OPS_PORT');
}

/** Opens the configured database; creates an empty one if there is none. */
async function openDatabase(file: string, log: Logger, listener?: StoreListener): Promise<OpenStore> {
  const isNew = !existsSync(file);
  takePlace(file);
  const database = await openStore(file, { ...listener, onProgress: (details, message) => log.info(details, message) });
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}

function rendering(settings: RenderSettings): Renderers {
  return {
    render: (alerts, reference, now, frozen) => renderAlerts(alerts, reference, settings, now, frozen),
    renderPlain,
    renderParked,
    renderDigest: (alerts, reference, reason, now) => renderDigest(alerts, reference, settings, reason, now),
  };
}

/** The explorer's web root, if Discord accepts links to it. */
function linkedExplorer({ EXPLORER_URL }: Config, log: Logger): string | undefined {
  if (EXPLORER_URL === undefined || isLinkable(EXPLORER_URL)) return EXPLORER_URL;
  log.warn(
    'EXPLORER_URL is not linked: Discord rejects links to a host without a domain; set a URL that users can reach',
  );
  return undefined;
}

/** The latest delivery of each scope whose signature was refused, and how many there were since the start. */
function rememberBadSignatures(now: () => number, log: Logger) {
  const latest = new Map<number, { fault: SignatureFault; at: number; count: number }>();
  return {
    note(fault: SignatureFault, scope: number): void {
      latest.set(scope, { fault, at: now(), count: (latest.get(scope)?.count ?? 0) + 1 });
      log.warn({ scope, fault }, 'delivery rejected: its signature is missing, wrong or too old');
    },
    last: (scope: number) => latest.get(scope) ?? null,
  };
}

/** Records that a channel is gone, as after a 404: its alerts are kept for some days, and people see why. */
async function channelRemoved(store: Store, channelId: string, now: number, log: Logger): Promise<void> {
  const reason = 'channel or server is gone (10003)';
  try {
    await store.channels.setState({ channelId, state: 'unreachable', dueAt: 0, attempts: 0, since: now, reason });
  } catch (error) {
    // The next message there will get that 404 from Discord.
    log.warn({ err: error, channel: channelId }, 'cannot record a removed channel');
  }
}

/** Which shards are disconnected while others are not. */
function awayShards(shards: ReadonlyMap<number, boolean>): string {
  const away = [...shards].filter(([, isConnected]) => !isConnected).map(([shard]) => shard);
  return away.length === 0 || away.length === shards.size ? '' : `: shard ${away.join(', ')} of ${shards.size}`;
}

/** Never unready: the bot posts alerts without these interfaces. The detail shows which are down. */
function interfacesPart(outages: ReadonlyMap<Interface, Outage>, now: number): Readiness[string] {
  const away = [...outages].map(
    ([name, { since, failure }]) => `${name} unavailable for ${secondsSince(since, now)} s: ${failure.status}`,
  );
  return { ready: true, ...(away.length > 0 && { detail: away.join('; ') }) };
}

/** Never unready: others may reach the public address even if the bot cannot. */
function reachPart(unreachable: Unreachable | null, now: number): Readiness[string] {
  if (!unreachable) return { ready: true };
  const { since, reason } = unreachable;
  return { ready: true, detail: `not reachable from here for ${secondsSince(since, now)} s: ${reason}` };
}

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / SECOND));

type Sending = { authorized: boolean; breaker: boolean };

/** How long a scrape waits for what is counted in the database. */
const SCRAPE_MS = 5 * SECOND;
/** `/readyz` answers within two seconds, also when the disk hangs. */
const READY_MS = 1_500;

async function readiness(
  database: OpenStore,
  fault: string | null,
  gateway: Pick<Gateway, 'state' | 'shards'>,
  sending: Sending,
): Promise<Readiness> {
  const held = sending.authorized ? 'held back after refusals' : 'Discord refuses the token';
  const sends = sending.authorized && !sending.breaker;
  const state = gateway.state();
  const discord = state === 'ready' ? { ready: true } : { ready: false, detail: state + awayShards(gateway.shards()) };
  return {
    database: await databaseState(database, fault),
    discord,
    sending: sends ? { ready: true } : { ready: false, detail: held },
  };
}

/** Whether the database can be used, or why not. */
async function databaseState({ store, check }: OpenStore, fault: string | null): Promise<Readiness[string]> {
  const unusable = check().then(
    // Only a small read: counting the waiting rows would delay deliveries. A read also succeeds on a full disk, so
    // `fault` is checked too.
    (reason) => reason ?? store.inbox.next(1).then(() => null),
  );
  const answer = await inTime(
    unusable.then(
      (reason) => ({ reason }),
      (error: Error) => ({ reason: error.message }),
    ),
    READY_MS,
  );
  if (answer === null) return { ready: false, detail: 'the database has not responded for 1.5 s: the disk may hang' };
  if (answer.reason !== null) return { ready: false, detail: answer.reason };
  return fault === null ? { ready: true } : { ready: false, detail: `deliveries cannot be stored: ${fault}` };
}
