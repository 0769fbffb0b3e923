import { createCooldown, createGuildQueue } from '../../commands/shared/fair-use.ts';
import { watchGaps } from '../../commands/shared/gap-notices.ts';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import type { CommandServices, NetworkServices } from '../../commands/shared/services.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { watchBalances } from '../completeness/balances.ts';
import { type Checker, startChecker } from '../completeness/checker.ts';
import { postStatements } from '../completeness/statement-posts.ts';
import { createStatements } from '../completeness/statement-reader.ts';
import { startDeliverer } from '../delivery/deliverer.ts';
import { watchSilence } from '../delivery/silence.ts';
import { createCharts } from '../discord/chart.ts';
import { startGateway } from '../discord/gateway.ts';
import { createRenderers, renderSettings } from '../discord/render/renderers.ts';
import { sampleMessage } from '../discord/render/sample.ts';
import type { RenderSettings } from '../discord/render/wording.ts';
import { createSender } from '../discord/sender.ts';
import { eraseGuild, openUptime, startMaintenance } from '../maintenance.ts';
import { routedNetworks } from '../routing/context.ts';
import { startRouter } from '../routing/router.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import { createAttachmentReader } from '../upstream/attachment.ts';
import type { AppOverrides, Base, Receiving } from './context.ts';

/** The part of the app that runs in one process at a time: routing, sending, commands, and retention. */
export type Working = Awaited<ReturnType<typeof startWorking>>;

/** Parts are created against the direction of events, because each gets the next: sender ← deliverer ← router. */
export async function startWorking(base: Base, receiving: Receiving, overrides: AppOverrides) {
  const { config, database, store, networks, interfaces, clock, log, stack } = base;
  const uptime = await openUptime(base);
  const settings = renderSettings(networks, log);
  const { DISCORD_TOKEN: token, DISCORD_API_URL: apiUrl } = config;
  const sender = overrides.sender ?? createSender({ token, apiUrl, lock: database.lock });
  const renderers = { ...createRenderers(settings), ...overrides.renderers };
  const deliverer = startDeliverer({ ...base, ...renderers, sender, uptimeSince: uptime.since });
  stack.defer(deliverer.close);
  const outbox = deliverer;
  stack.defer(watchSilence({ ...base, ...renderers, outbox }).close);
  const { chains } = interfaces;
  const statement = createStatements(store, chains);
  const balances = chains.size === 0 ? null : watchBalances({ ...base, ...renderers, chains, outbox });
  const posts = chains.size === 0 ? null : postStatements({ ...base, ...renderers, chains, outbox, read: statement });
  for (const watcher of [balances, posts]) if (watcher) stack.defer(watcher.close);
  const router = startRouter({
    ...base,
    receiver: receiving.receiver,
    networks: routedNetworks(interfaces.all, clock),
    outbox,
    balances,
  });
  stack.defer(router.close);

  const checkers: Checker[] = [];
  for (const { network, chain } of interfaces.all) {
    if (!chain) continue;
    const checker = startChecker({ ...base, network, chain, inbox: router, outbox, roundMs: overrides.chainRoundMs });
    stack.defer(checker.close);
    checkers.push(checker);
  }
  const parts = { settings, deliverer, checkers, statement };
  const services: CommandServices = { ...commandServices(base, receiving, parts), ...overrides.services };
  if (checkers.length > 0) stack.defer(watchGaps(services, outbox, clock, log).close);
  const { connect = startGateway } = overrides;
  const gateway = connect({
    ...base,
    ...clock,
    token,
    apiUrl,
    commands: async () => (await import('../../commands/index.ts')).commandsFor(networks.length),
    services,
    settingsOf: store.guilds.settings,
    membership: deliverer,
  });
  stack.defer(gateway.close);

  const stop = startMaintenance({
    ...base,
    since: uptime.since,
    isDiskLow: receiving.receiver.isDiskLow,
    sender,
    membership: deliverer,
    look() {
      const { authorized, breaker } = deliverer.state();
      void uptime.tick(authorized && !breaker);
      // `npm run deadletters` replays deliveries and alerts in a separate process, which cannot wake this one.
      router.wake();
      void deliverer.rescan();
      void router.measureQuarantine();
    },
  });
  stack.defer(stop);
  router.wake();
  return { deliverer, router, gateway, services, checkers, balances };
}

interface Parts extends Pick<CommandServices, 'statement'> {
  settings: RenderSettings;
  deliverer: ReturnType<typeof startDeliverer>;
  checkers: readonly Checker[];
}

function commandServices(
  { config, store, networks: named, tokens, interfaces, clock, log }: Base,
  { publicUrl, receiver, reachability }: Receiving,
  { settings, deliverer, checkers, statement }: Parts,
): CommandServices {
  const common = {
    maxSubscriptions: config.MAX_SUBSCRIPTIONS,
    maxChannelsPerAddress: config.MAX_CHANNELS_PER_ADDRESS,
    publicUrl,
    networks: named,
    operatorGuildIds: config.OPERATOR_GUILD_IDS,
    hasPrices: interfaces.all.some(({ prices }) => prices !== null),
    version: packageJson.version,
    schema: SCHEMA_VERSION,
  };
  const networks = interfaces.all.map((one): NetworkServices => {
    const { explorerUrl, nativeSymbol, DISCOVERY_URL: discoveryUrl } = one.network;
    return {
      ...one,
      interfaces: one.health,
      settings: { ...common, explorerUrl, nativeSymbol, discoveryUrl },
      cooldown: createCooldown(clock.now),
    };
  });
  return {
    ...store,
    ...networks[0]!,
    networks,
    storedProjects: store.projects,
    receiver: { ...tokens, urls: (scope) => tokens.urls(scope, publicUrl) },
    lastRefused: receiver.refusals.lastSource,
    lastBadSignature: receiver.refusals.lastSignature,
    receiverQuota: receiver.quotas.usage,
    probeReceiver: reachability.probe,
    guildPause: deliverer.guildPause,
    sendingPauses: deliverer.pauses,
    relabel: deliverer.relabel,
    wake: deliverer.wake,
    statement,
    completeness: () => checkers.map((checker) => checker.status()),
    guildQueue: createGuildQueue(),
    guildChannels: createGuildChannels(clock.now),
    now: clock.now,
    after: clock.after,
    chart: createCharts(log),
    eraseGuild: (guildId) => eraseGuild(store, guildId, tokens.refresh),
    sample: (subscription, server) => sampleMessage(subscription, settings, clock.now(), server),
    readAttachment: createAttachmentReader(config.DISCORD_API_URL),
  };
}
