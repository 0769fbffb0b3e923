import { dirname, join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config, NetworkConfig } from '../config.ts';
import type { ChainNode } from '../domain/chain-node.ts';
import type { Clock } from '../domain/clock.ts';
import { makeFolder } from '../domain/folder.ts';
import { operatorScope } from '../domain/inbox.ts';
import { FIRST_NETWORK, type Network } from '../domain/network.ts';
import type { ChainPrices } from '../domain/transfer.ts';
import type { Interface, UpstreamFailure } from '../domain/upstream.ts';
import { type Metrics, networkLabels } from '../metrics/metrics.ts';
import { closeToOthers, createSeal, keyFromFile } from '../secrets.ts';
import type { Store } from '../store/store.ts';
import { createChain } from './chain.ts';
import { createDiscovery, type Discovery } from './discovery.ts';
import { createExplorer, type Explorer } from './explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from './health.ts';
import { createPrices, type Prices } from './prices.ts';
import {
  createProjects,
  createSigning,
  type ProjectKeys,
  type Projects,
  type ProjectsOptions,
  resealProjects,
  type Signing,
} from './projects.ts';

/** The key that seals guilds' projects, unless the environment has one. */
const KEY_NAME = 'secrets.key';

export interface NetworkInterfaces {
  network: NetworkConfig & Network;
  /** How logs, metrics and checks name the network; undefined: it is the only one. */
  label: string | undefined;
  health: InterfaceHealth;
  projects: Projects;
  explorer: Explorer | null;
  discovery: Discovery | null;
  chain: ChainNode | null;
  prices: ChainPrices | null;
}

type Opened = Omit<NetworkInterfaces, 'prices'>;

export interface Interfaces {
  all: readonly NetworkInterfaces[];
  /** By network, of those that have a node. */
  chains: ReadonlyMap<number, ChainNode>;
  signing: Signing;
}

interface InterfacesOptions extends Pick<ProjectsOptions, 'newToken' | 'onTokens'> {
  config: Pick<Config, 'SECRETS_KEY' | 'PRICES_URL' | 'OPERATOR_GUILD_IDS'>;
  store: Store;
  networks: readonly NetworkInterfaces['network'][];
  /** Of the database; null: it is on a server. */
  file: string | null;
  timeoutMs: number | undefined;
  metrics: Pick<Metrics, 'interfaceErrors'>;
  clock: Clock;
  log: Logger;
  stack: AsyncDisposableStack;
}

/** Ids stay the same: what was stored before others were added belongs to the first network. */
export async function withIds(
  networks: readonly NetworkConfig[],
  { projects }: Pick<Store, 'projects'>,
): Promise<NetworkInterfaces['network'][]> {
  const chainId = networks[0]!.chainId;
  const first = chainId === null ? null : await projects.firstNetwork(chainId);
  return networks.map((network) => ({ ...network, id: network.chainId === first ? FIRST_NETWORK : network.chainId! }));
}

export async function openInterfaces(options: InterfacesOptions): Promise<Interfaces> {
  const { config, store, networks, file, log } = options;
  const keyFile = file === null ? sharedKeyFile(options) : join(dirname(file), KEY_NAME);
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
  const ofOperator = networks.flatMap(({ id, NOTIFICATION_SIGNING_SECRET: secrets }) =>
    secrets ? [[operatorScope(id), secrets] as const] : [],
  );
  const signing = createSigning(store, seal, new Map(ofOperator));
  await signing.read();
  const labels = networkLabels(networks);
  const opened = networks.map((network, index) => openNetwork({ ...options, seal, signing }, network, labels[index]));
  const prices = openPrices(options, opened);
  const all = opened.map((one) => ({
    ...one,
    prices: (one.network.PRICES_CHAIN && prices?.on(one.network.PRICES_CHAIN)) || null,
  }));
  const chains = new Map(all.flatMap(({ network: { id }, chain }) => (chain ? [[id, chain] as const] : [])));
  return { all, chains, signing };
}

/** Processes on different machines have no folder in common. */
function sharedKeyFile({ config, log }: Pick<InterfacesOptions, 'config' | 'log'>): string {
  const keyFile = resolve('data', KEY_NAME);
  if (config.SECRETS_KEY) return keyFile;
  makeFolder(dirname(keyFile));
  log.warn({ keyFile }, 'SECRETS_KEY is not set: every process on this database needs the key in this file');
  return keyFile;
}

const MAX_PRICED_AT_START = 100;

/** The outages of the source are those of the first network that it serves. */
function openPrices(
  { config, store, clock, log, stack, timeoutMs }: InterfacesOptions,
  all: readonly Opened[],
): Prices | null {
  const url = config.PRICES_URL;
  const priced = all.filter(({ network }) => network.PRICES_CHAIN !== undefined);
  const [first] = priced;
  if (!url || !first) return null;
  const { health, network } = first;
  const prices = createPrices({ url, clock, timeoutMs, onResponse: (failure) => health.note('prices', failure) });
  health.watch('prices', () => prices.probe(network.PRICES_CHAIN!));
  stack.defer(prices.close);
  // Prices are known soon after a restart. The tokens that were listed last moved last.
  for (const { network } of priced) {
    const own = prices.on(network.PRICES_CHAIN!);
    void store.tokens
      .known('', network.id)
      .then((some) => own.ask(['native', ...some.slice(0, MAX_PRICED_AT_START).map(({ token }) => token)]))
      .catch((error: unknown) => log.debug({ err: error }, 'cannot read the tokens whose prices are asked for'));
  }
  return prices;
}

function openNetwork(
  options: InterfacesOptions & Pick<ProjectsOptions, 'seal' | 'signing'>,
  network: NetworkInterfaces['network'],
  label: string | undefined,
): Opened {
  const { config, timeoutMs, metrics, clock, log: ofAll, stack } = options;
  const log = label === undefined ? ofAll : ofAll.child({ network: network.name });
  const health = createInterfaceHealth({ clock, log, errors: metrics.interfaceErrors, network: label });
  stack.defer(health.close);
  const common = (name: Interface) => ({
    ...clock,
    timeoutMs,
    onResponse: (failure: UpstreamFailure | null) => health.note(name, failure),
  });
  const projects = createProjects({
    ...options,
    ...common('notification'),
    network: network.id,
    url: network.NOTIFICATION_URL,
    operator: operatorKeys(network),
    operatorGuildIds: config.OPERATOR_GUILD_IDS,
  });
  if (projects.probe) health.watch('notification', projects.probe);
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
