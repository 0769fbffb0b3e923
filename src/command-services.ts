import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { createGuildQueue } from '../commands/shared/guild-queue.ts';
import type { CommandServices } from '../commands/shared/services.ts';
import type { Config } from './config.ts';
import { drawChart } from './discord/chart.ts';
import { type RenderSettings, wordsOf } from './discord/line.ts';
import { sampleMessage } from './discord/sample.ts';
import { makePathToken } from './receiver/paths.ts';
import { probeReceiver } from './receiver/probe.ts';
import { createSeal, keyFromFile } from './secrets.ts';
import { migrations } from './store/sqlite/migrations.ts';
import type { Store } from './store/store.ts';
import { eraseGuild } from './upkeep.ts';
import { createAttachmentReader } from './upstream/attachment.ts';
import { createDiscovery } from './upstream/discovery.ts';
import { createExplorer, type Explorer } from './upstream/explorer.ts';
import { createProjects, type ProjectKeys, type Projects, resealProjects } from './upstream/projects.ts';

/** Opens the guilds' own projects; the key that seals them comes from the environment or lies beside the database. */
export async function openProjects(
  config: Config,
  options: { store: Store; file: string; onTokens(): Promise<void>; now(): number; log: Logger },
): Promise<Projects> {
  const { store, file, onTokens, now, log } = options;
  const seal = createSeal(config.SECRETS_KEY ?? [keyFromFile(join(dirname(file), 'secrets.key'))]);
  const { resealed, closed } = await resealProjects(store, seal);
  if (resealed > 0) log.info({ resealed }, 're-encrypted projects with the new key');
  if (closed.length > 0) {
    log.error(
      { guilds: closed },
      'cannot decrypt these servers’ projects: restore the key that encrypted them, or have each server store its project again',
    );
  }
  return createProjects({
    store,
    seal,
    url: config.NOTIFICATION_URL,
    operator: operatorKeys(config),
    operatorGuildIds: config.OPERATOR_GUILD_IDS,
    now,
    newToken: makePathToken,
    onTokens,
  });
}

/** The explorer's look-up; null when it is off. */
export function openExplorer(config: Config, now: () => number): Explorer | null {
  if (!config.EXPLORER_API_URL) return null;
  return createExplorer({
    url: config.EXPLORER_API_URL,
    addressParam: config.EXPLORER_ADDRESS_PARAM,
    apiKey: config.EXPLORER_API_KEY,
    now,
  });
}

/** Makes the services that commands can use. */
export function createCommandServices(
  config: Config,
  options: Pick<CommandServices, 'explorer' | 'projects' | 'receiver' | 'lastRefused' | 'onRelabeled' | 'now'> & {
    store: Store;
    publicUrl: string;
    version: string;
    render: RenderSettings;
  },
): CommandServices {
  const { store, publicUrl, version, render, now, ...given } = options;
  return {
    ...store,
    storedProjects: store.projects,
    ...given,
    guildQueue: createGuildQueue(),
    now,
    discovery: config.DISCOVERY_URL ? createDiscovery({ url: config.DISCOVERY_URL, now }) : null,
    settings: {
      maxSubscriptions: config.MAX_SUBSCRIPTIONS,
      explorerUrl: render.explorerUrl,
      discoveryUrl: config.DISCOVERY_URL,
      publicUrl,
      nativeSymbol: config.NATIVE_SYMBOL,
      operatorGuildIds: config.OPERATOR_GUILD_IDS,
      version,
      schema: migrations.length,
    },
    ...wordsOf(render),
    chart: drawChart,
    eraseGuild: (guildId) => eraseGuild(store, guildId),
    sample: (subscription, language) => sampleMessage(subscription, render, now(), language),
    readAttachment: createAttachmentReader(config.DISCORD_API_URL),
    probeReceiver: () => probeReceiver(publicUrl),
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
