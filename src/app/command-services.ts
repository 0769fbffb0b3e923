import type { Logger } from 'pino';
import { createCooldown } from '../../commands/shared/cooldown.ts';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import { createGuildQueue } from '../../commands/shared/guild-queue.ts';
import type { CommandServices } from '../../commands/shared/services.ts';
import type { Config } from '../config.ts';
import { createCharts } from '../discord/chart.ts';
import type { RenderSettings } from '../discord/render-context.ts';
import { sampleMessage } from '../discord/sample.ts';
import { replyWording } from '../discord/wording.ts';
import type { Store } from '../store/store.ts';
import { createAttachmentReader } from '../upstream/attachment.ts';
import type { Explorer } from '../upstream/explorer.ts';
import type { InterfaceHealth } from '../upstream/health.ts';
import { eraseGuild } from './maintenance.ts';

/** Creates the services that commands can use. */
export function createCommandServices(
  config: Config,
  options: Pick<
    CommandServices,
    | 'projects'
    | 'discovery'
    | 'receiver'
    | 'lastRefused'
    | 'lastBadSignature'
    | 'sendingHold'
    | 'receiverQuota'
    | 'probeReceiver'
    | 'sendingPauses'
    | 'onRelabeled'
    | 'now'
    | 'after'
  > & {
    log: Logger;
    store: Store;
    explorer: Pick<Explorer, 'token'> | null;
    health: InterfaceHealth;
    publicUrl: string;
    version: string;
    schema: number;
    render: RenderSettings;
  },
): CommandServices {
  const { log, store, health, publicUrl, version, schema, render, now, ...given } = options;
  return {
    ...store,
    storedProjects: store.projects,
    ...given,
    guildQueue: createGuildQueue(),
    guildChannels: createGuildChannels(now),
    cooldown: createCooldown(now),
    now,
    interfaces: health,
    settings: {
      maxSubscriptions: config.MAX_SUBSCRIPTIONS,
      maxChannelsPerAddress: config.MAX_CHANNELS_PER_ADDRESS,
      explorerUrl: render.explorerUrl,
      discoveryUrl: config.DISCOVERY_URL,
      publicUrl,
      nativeSymbol: config.NATIVE_SYMBOL,
      operatorGuildIds: config.OPERATOR_GUILD_IDS,
      version,
      schema,
    },
    ...replyWording(render),
    chart: createCharts(log),
    eraseGuild: (guildId) => eraseGuild(store, guildId, given.receiver.refresh),
    sample: (subscription, server) => sampleMessage(subscription, render, now(), server),
    readAttachment: createAttachmentReader(config.DISCORD_API_URL),
  };
}
