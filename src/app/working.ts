import type { CommandServices } from '../../commands/shared/services.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { relabel } from '../delivery/relabel.ts';
import { type GatewayOptions, startGateway } from '../discord/gateway.ts';
import { receiverPaths } from '../receiver/paths.ts';
import { watchResponses } from '../routing/responses.ts';
import { startRouter } from '../routing/route.ts';
import { createTokenCatalog } from '../routing/token-catalog.ts';
import type { Store } from '../store/store.ts';
import { createCommandServices } from './command-services.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import type { Interfaces } from './interfaces.ts';
import { startMaintenance } from './maintenance.ts';
import type { AppOverrides } from './overrides.ts';
import type { Receiving } from './receiving.ts';
import { type Sending, startSending } from './sending.ts';
import { openUptime } from './uptime.ts';

/** What one process at a time does: it routes, sends, serves commands, and deletes old data. */
export type Working = Awaited<ReturnType<typeof startWorking>>;

/**
 * Starts the work on what was received; `store` is the one that it writes to. The parts are created from the end of an
 * event's path to its start, because each gets the next one: sender ← deliverer ← router. `context.stack` ends them.
 */
export async function startWorking(
  context: AppContext,
  store: Store,
  data: Data,
  interfaces: Interfaces,
  receiving: Receiving,
  overrides: AppOverrides,
) {
  const { log, clock, elapsed, stack } = context;
  const { connect = startGateway } = overrides;
  const uptime = await openUptime({ store, clock, elapsed, log });
  const maySend = () => data.shared?.leadership.isElected() ?? true;
  const sending = startSending(context, { store, uptime, maySend }, overrides);
  const router = startRouting(context, store, data, interfaces, receiving, sending);
  stack.defer(router.close);
  const given = commandServices(context, store, data, interfaces, receiving, sending);
  const services = { ...given, ...overrides.services };
  const gateway = connect(gatewayOptions(context, store, sending, services));
  stack.defer(gateway.close);
  const { sender, deliverer } = sending;
  const stop = startMaintenance(store, clock, log, {
    since: uptime.since,
    look() {
      const { authorized, breaker } = deliverer.state();
      void uptime.tick(authorized && !breaker);
      // `npm run deadletters` replays deliveries and alerts in a separate process, which cannot wake this one.
      router.wake();
      void deliverer.rescan();
      void receiving.quarantine.measure();
    },
    async isMember(guildId) {
      const isThere = await sender.isMember(guildId);
      if (isThere) deliverer.guildChanged(guildId);
      return isThere;
    },
    async onBegun(guild) {
      log.info({ guild }, 'erasing the data of a server that removed the bot 30 days ago');
      await data.tokens.refresh();
    },
  });
  stack.defer(stop);
  router.wake();
  return { deliverer, router, gateway, services };
}

function startRouting(
  { config, log, clock, now, elapsed, counts }: AppContext,
  store: Store,
  { shared }: Data,
  { projects, explorer }: Interfaces,
  { acks, admission, quotas, quarantine }: Receiving,
  { deliverer }: Sending,
) {
  return startRouter({
    store,
    responses: watchResponses(store, acks, elapsed),
    now,
    after: clock.after,
    log,
    isShared: shared !== null,
    isReceiverBusy: admission.isBusy,
    operatorProject: projects.operatorId,
    catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
    nativeSymbol: config.NATIVE_SYMBOL,
    onAlerts: deliverer.alertsStored,
    onEdits: deliverer.wake,
    onUnnamed: () => void deliverer.rescan(),
    onRouted({ ids, bodies, quarantined }) {
      quotas.routed(bodies);
      counts.routed += ids.length;
      if (quarantined > 0) void quarantine.measure();
    },
  });
}

function commandServices(
  { config, clock, log, now }: AppContext,
  store: Store,
  { tokens, schema }: Data,
  interfaces: Interfaces,
  { publicUrl, refusedSources, badSignatures, quotas, reach }: Receiving,
  { deliverer, settings }: Sending,
): CommandServices {
  return createCommandServices(config, {
    log,
    store,
    ...interfaces,
    receiver: receiverPaths(tokens, publicUrl),
    publicUrl,
    version: packageJson.version,
    schema,
    render: settings,
    now,
    after: clock.after,
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
  { config, log, clock, now, random }: AppContext,
  store: Store,
  { deliverer }: Sending,
  services: CommandServices,
): GatewayOptions<CommandServices> {
  return {
    token: config.DISCORD_TOKEN,
    apiUrl: config.DISCORD_API_URL,
    commands: async () => (await import('../../commands/index.ts')).commands,
    services,
    settingsOf: store.guilds.settings,
    now,
    after: clock.after,
    identified: { last: store.uptime.lastIdentify, note: store.uptime.recordIdentify },
    log,
    random,
    onAccessChange: deliverer.guildChanged,
    onChannelRemoved: deliverer.channelRemoved,
    onGuildRemoved: deliverer.guildRemoved,
    onGuilds: (guildIds, shard) => void deliverer.guildsSynced(guildIds, shard),
    onGuildUsed: deliverer.guildUsed,
    onToken: deliverer.tokenChecked,
  };
}
