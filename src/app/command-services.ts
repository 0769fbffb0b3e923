import { createCooldown, createGuildQueue } from '../../commands/shared/fair-use.ts';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import type { CommandServices, NetworkServices } from '../../commands/shared/services.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Checker } from '../completeness/checker.ts';
import type { startDeliverer } from '../delivery/deliverer.ts';
import { createCharts } from '../discord/chart.ts';
import { sampleMessage } from '../discord/render/sample.ts';
import type { RenderSettings } from '../discord/render/wording.ts';
import { eraseGuild } from '../maintenance.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import { createAttachmentReader } from '../upstream/attachment.ts';
import type { Parts } from './context.ts';

export function createCommandServices(
  { config, store, networks: named, tokens, interfaces, receiving, clock, log }: Parts,
  settings: RenderSettings,
  deliverer: ReturnType<typeof startDeliverer>,
  checkers: readonly Checker[],
  statement: CommandServices['statement'],
): CommandServices {
  const { publicUrl, receiver, reachability } = receiving;
  const networks = interfaces.all.map(({ network, projects, explorer, discovery, health, chain }): NetworkServices => {
    const { explorerUrl, nativeSymbol } = network;
    return {
      network,
      projects,
      explorer,
      discovery,
      chain,
      interfaces: health,
      settings: {
        maxSubscriptions: config.MAX_SUBSCRIPTIONS,
        maxChannelsPerAddress: config.MAX_CHANNELS_PER_ADDRESS,
        explorerUrl,
        discoveryUrl: network.DISCOVERY_URL,
        publicUrl,
        networks: named,
        nativeSymbol,
        operatorGuildIds: config.OPERATOR_GUILD_IDS,
        hasPrices:
          config.PRICES_URL !== undefined && config.networks.some((network) => network.PRICES_CHAIN !== undefined),
        version: packageJson.version,
        schema: SCHEMA_VERSION,
      },
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
    guildPause: deliverer.guildPause,
    receiverQuota: receiver.quotas.usage,
    probeReceiver: reachability.probe,
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
