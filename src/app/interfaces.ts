import type { NetworkConfig } from '../config.ts';
import type { ChainNode } from '../domain/chain-node.ts';
import type { Interface, UpstreamFailure } from '../domain/upstream.ts';
import { makePathToken } from '../receiver/path-tokens.ts';
import { closeToOthers, createSeal, keyFromFile, type Seal } from '../secrets.ts';
import { createChain } from '../upstream/chain.ts';
import { createDiscovery, type Discovery } from '../upstream/discovery.ts';
import { createExplorer, type Explorer } from '../upstream/explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from '../upstream/health.ts';
import { createPrices, type Prices } from '../upstream/prices.ts';
import { createProjects, type ProjectKeys, type Projects, resealProjects } from '../upstream/projects.ts';
import type { AppContext, AppOverrides } from './context.ts';
import type { Data } from './data.ts';

export interface NetworkInterfaces {
  network: Data['networks'][number];
  /** How logs, metrics and checks name the network; undefined: it is the only one. */
  label: string | undefined;
  health: InterfaceHealth;
  projects: Projects;
  explorer: Explorer | null;
  discovery: Discovery | null;
  chain: ChainNode | null;
}

export interface Interfaces {
  prices: Prices | null;
  all: readonly NetworkInterfaces[];
  /** The first network's, if this one is no longer configured. */
  of(network: number): NetworkInterfaces;
}

export async function openInterfaces(
  context: AppContext,
  data: Data,
  { upstreamTimeoutMs: timeoutMs }: Pick<AppOverrides, 'upstreamTimeoutMs'>,
): Promise<Interfaces> {
  const { config, log } = context;
  const { store, keyFile, networks } = data;
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
  const labels = networkLabels(config.networks);
  const all: NetworkInterfaces[] = [];
  for (const [index, network] of networks.entries())
    all.push(await openNetwork(context, data, network, labels[index], seal, timeoutMs));
  const byId = new Map(all.map((one) => [one.network.id, one]));
  return { prices: openPrices(context, all, timeoutMs), all, of: (network) => byId.get(network) ?? all[0]! };
}

const MAX_LABELS = 50;

/** Empty: there is only one network. */
export const networkLabels = (networks: readonly Pick<NetworkConfig, 'name'>[]): string[] =>
  networks.length === 1
    ? []
    : networks.map(({ name }, index) => (index < MAX_LABELS - 1 || networks.length <= MAX_LABELS ? name : 'others'));

/** The outages of the source are those of the first network that it serves. */
function openPrices(
  { config: { PRICES_URL: url }, clock, stack }: AppContext,
  all: readonly NetworkInterfaces[],
  timeoutMs: number | undefined,
): Prices | null {
  const first = all.find(({ network }) => network.PRICES_CHAIN !== undefined);
  if (!url || !first) return null;
  const { health, network } = first;
  const prices = createPrices({ url, clock, timeoutMs, onResponse: (failure) => health.note('prices', failure) });
  health.watch('prices', () => prices.probe(network.PRICES_CHAIN!));
  stack.defer(prices.close);
  return prices;
}

async function openNetwork(
  { config, clock, log: ofAll, metrics, stack }: AppContext,
  { store, tokens }: Data,
  network: NetworkInterfaces['network'],
  label: string | undefined,
  seal: Seal,
  timeoutMs: number | undefined,
): Promise<NetworkInterfaces> {
  const log = label === undefined ? ofAll : ofAll.child({ network: network.name });
  const health = createInterfaceHealth({ clock, log, errors: metrics.interfaceErrors, network: label });
  stack.defer(health.close);
  const common = (name: Interface) => ({
    ...clock,
    timeoutMs,
    onResponse: (failure: UpstreamFailure | null) => health.note(name, failure),
  });
  const projects = createProjects({
    ...common('notification'),
    store,
    network: network.id,
    seal,
    url: network.NOTIFICATION_URL,
    operator: operatorKeys(network),
    operatorSigning: network.NOTIFICATION_SIGNING_SECRET,
    operatorGuildIds: config.OPERATOR_GUILD_IDS,
    newToken: makePathToken,
    onTokens: tokens.refresh,
  });
  if (projects.probe) health.watch('notification', projects.probe);
  await projects.readSigning();
  const {
    EXPLORER_API_URL: explorerUrl,
    EXPLORER_ADDRESS_PARAM: addressParam,
    EXPLORER_API_KEY: apiKey,
    DISCOVERY_URL: discoveryUrl,
    RPC_URL: urls,
    RPC_RATE: rate,
  } = network;
  const explorer = explorerUrl
    ? createExplorer({ ...common('explorer'), url: explorerUrl, addressParam, apiKey })
    : null;
  if (explorer) health.watch('explorer', explorer.probe);
  const discovery = discoveryUrl ? createDiscovery({ ...common('discovery'), url: discoveryUrl }) : null;
  if (discovery) health.watch('discovery', discovery.probe);
  const chain = urls ? createChain({ urls, rate, clock, timeoutMs }) : null;
  return { network, label, health, projects, explorer, discovery, chain };
}

function operatorKeys({
  NOTIFICATION_PROJECT_ID: projectId,
  NOTIFICATION_API_KEY: apiKey,
  NOTIFICATION_API_SECRET: apiSecret,
}: NetworkConfig): ProjectKeys | null {
  return projectId && apiKey && apiSecret ? { projectId, apiKey, apiSecret } : null;
}
