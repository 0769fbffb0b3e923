import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { makePathToken } from '../receiver/paths.ts';
import { closeToOthers, createSeal, keyFromFile } from '../secrets.ts';
import { createDiscovery, type Discovery } from '../upstream/discovery.ts';
import { createExplorer, type Explorer } from '../upstream/explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from '../upstream/health.ts';
import type { ProjectKeys } from '../upstream/project-client.ts';
import { createProjects, type Projects, resealProjects } from '../upstream/projects.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import type { AppOverrides } from './overrides.ts';

/** The services of others, and what is known about their health. */
export interface Interfaces {
  health: InterfaceHealth;
  projects: Projects;
  explorer: Explorer | null;
  discovery: Discovery | null;
}

/** How long a request may take, where that differs from the client's own limit. */
type Limit = { timeoutMs?: number };

/** Opens the clients of the interfaces. */
export async function openInterfaces(
  context: AppContext,
  data: Data,
  overrides: Pick<AppOverrides, 'upstreamTimeoutMs'>,
): Promise<Interfaces> {
  const { config, clock, log, now, stack } = context;
  const health = createInterfaceHealth({ clock, log });
  stack.defer(health.close);
  const { upstreamTimeoutMs: timeoutMs } = overrides;
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const projects = await openProjects(context, data, health, limit);
  return {
    health,
    projects,
    explorer: openExplorer(config, health, now, limit),
    discovery: openDiscovery(config, health, clock, limit),
  };
}

/** Opens the guilds' own projects; the key that seals them is read from the environment or from a file. */
async function openProjects(
  { config, now, log }: AppContext,
  { store, keyFile, tokens }: Data,
  health: InterfaceHealth,
  limit: Limit,
): Promise<Projects> {
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
    onTokens: tokens.refresh,
    onResponse: (failure) => health.note('notification', failure),
    ...limit,
  });
  if (projects.probe) health.watch('notification', projects.probe);
  await projects.readSigning();
  return projects;
}

/** The explorer's lookup; null when the interface is off. */
function openExplorer(config: Config, health: InterfaceHealth, now: () => number, limit: Limit): Explorer | null {
  if (!config.EXPLORER_API_URL) return null;
  const explorer = createExplorer({
    url: config.EXPLORER_API_URL,
    addressParam: config.EXPLORER_ADDRESS_PARAM,
    apiKey: config.EXPLORER_API_KEY,
    now,
    onResponse: (failure) => health.note('explorer', failure),
    ...limit,
  });
  health.watch('explorer', explorer.probe);
  return explorer;
}

/** The directory of providers; null when the interface is off. */
function openDiscovery(
  { DISCOVERY_URL: url }: Config,
  health: InterfaceHealth,
  clock: Clock,
  limit: Limit,
): Discovery | null {
  if (!url) return null;
  const discovery = createDiscovery({
    url,
    ...clock,
    onResponse: (failure) => health.note('discovery', failure),
    ...limit,
  });
  health.watch('discovery', discovery.probe);
  return discovery;
}

function operatorKeys(config: Config): ProjectKeys | null {
  const {
    NOTIFICATION_PROJECT_ID: projectId,
    NOTIFICATION_API_KEY: apiKey,
    NOTIFICATION_API_SECRET: apiSecret,
  } = config;
  return projectId && apiKey && apiSecret ? { projectId, apiKey, apiSecret } : null;
}
