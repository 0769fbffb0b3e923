import type { Logger } from 'pino';
import { createCoolDown } from '../commands/shared/cool-down.ts';
import { createGuildQueue } from '../commands/shared/guild-queue.ts';
import type { CommandServices } from '../commands/shared/services.ts';
import type { Config } from './config.ts';
import { drawChart } from './discord/chart.ts';
import { type RenderSettings, wordsOf } from './discord/line.ts';
import { sampleMessage } from './discord/sample.ts';
import { makePathToken } from './receiver/paths.ts';
import { closeToOthers, createSeal, keyFromFile } from './secrets.ts';
import type { Store } from './store/store.ts';
import { eraseGuild } from './upkeep.ts';
import { createAttachmentReader } from './upstream/attachment.ts';
import { createDiscovery, type Discovery } from './upstream/discovery.ts';
import { createExplorer, type Explorer } from './upstream/explorer.ts';
import type { InterfaceHealth } from './upstream/health.ts';
import type { ProjectKeys } from './upstream/project-client.ts';
import { createProjects, type Projects, resealProjects } from './upstream/projects.ts';

/** Opens the guilds' own projects; the key that seals them comes from the environment or from `keyFile`. */
export async function openProjects(
  config: Config,
  options: {
    store: Store;
    keyFile: string;
    health: InterfaceHealth;
    onTokens(): Promise<void>;
    now(): number;
    log: Logger;
  },
): Promise<Projects> {
  const { store, keyFile, health, onTokens, now, log } = options;
  const seal = createSeal(config.SECRETS_KEY ?? [keyFromFile(keyFile)]);
  if (!config.SECRETS_KEY) closeToOthers(keyFile, log);
  const { resealed, closed } = await resealProjects(store, seal);
  if (resealed > 0) log.info({ resealed }, 're-encrypted projects with the new key');
  if (closed.length > 0) {
    log.error(
      { guilds: closed },
      'cannot decrypt these servers’ projects: restore the key that encrypted them, or have each server store its project again',
    );
  }
  const projects = createProjects({
    store,
    seal,
    url: config.NOTIFICATION_URL,
    operator: operatorKeys(config),
    operatorSigning: config.NOTIFICATION_SIGNING_SECRET,
    operatorGuildIds: config.OPERATOR_GUILD_IDS,
    now,
    newToken: makePathToken,
    onTokens,
    onAnswer: (failure) => health.note('notification', failure),
  });
  if (projects.probe) health.watch('notification', projects.probe);
  await projects.readSigning();
  return projects;
}

/** The explorer's look-up; null when the interface is off. */
export function openExplorer(config: Config, health: InterfaceHealth, now: () => number): Explorer | null {
  if (!config.EXPLORER_API_URL) return null;
  const explorer = createExplorer({
    url: config.EXPLORER_API_URL,
    addressParam: config.EXPLORER_ADDRESS_PARAM,
    apiKey: config.EXPLORER_API_KEY,
    now,
    onAnswer: (failure) => health.note('explorer', failure),
  });
  health.watch('explorer', explorer.probe);
  return explorer;
}

/** The directory of providers; null when the interface is off. */
function openDiscovery({ DISCOVERY_URL: url }: Config, health: InterfaceHealth, now: () => number): Discovery | null {
  if (!url) return null;
  const discovery = createDiscovery({ url, now, onAnswer: (failure) => health.note('discovery', failure) });
  health.watch('discovery', discovery.probe);
  return discovery;
}

/** Creates the services that commands can use. */
export function createCommandServices(
  config: Config,
  options: Pick<
    CommandServices,
    | 'projects'
    | 'receiver'
    | 'lastRefused'
    | 'lastBadSignature'
    | 'sendingHold'
    | 'receiverQuota'
    | 'probeReceiver'
    | 'sendingPauses'
    | 'onRelabeled'
    | 'now'
  > & {
    store: Store;
    explorer: Pick<Explorer, 'token'> | null;
    health: InterfaceHealth;
    publicUrl: string;
    version: string;
    schema: number;
    render: RenderSettings;
  },
): CommandServices {
  const { store, health, publicUrl, version, schema, render, now, ...given } = options;
  return {
    ...store,
    storedProjects: store.projects,
    ...given,
    guildQueue: createGuildQueue(),
    coolDown: createCoolDown(now),
    now,
    discovery: openDiscovery(config, health, now),
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
    ...wordsOf(render),
    chart: drawChart,
    eraseGuild: (guildId) => eraseGuild(store, guildId),
    sample: (subscription, server) => sampleMessage(subscription, render, now(), server),
    readAttachment: createAttachmentReader(config.DISCORD_API_URL),
  };
}

function operatorKeys(config: Config): ProjectKeys | null {
  const {
    NOTIFICATION_PROJECT_ID: projectId,
    NOTIFICATION_API_KEY: apiKey,
    NOTIFICATION_API_SECRET: apiSecret,
  } = config;
  return projectId && apiKey && apiSecret ? { projectId, apiKey, apiSecret } : null;
}
