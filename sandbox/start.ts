/** The whole product: chain, services, Discord stand-in and bot, wired as an operator would wire them. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Project } from '../services/notification/types.ts';
import { type Services, startServices } from '../services/start.ts';
import type { Bot } from './bot.ts';
import { type Chain, COIN_SYMBOL, startChain } from './chain/index.ts';
import { writeDirectory } from './directory.ts';
import { type Discord, seed, startDiscord } from './discord/index.ts';
import { freePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { startPrices } from './prices.ts';
import { runSandbox, type Sandbox, type SandboxNetwork } from './running.ts';
import { createWebhook } from './webhook.ts';

/** To try `/setup project` with. The README lists its keys. */
const ORCHIDS: Project = { id: 'orchid', key: 'orchid-key', secret: 'orchid-secret' };
/** The first has anvil's own chain ID. */
const HARBOR = { name: 'harbor', title: 'Harbor Chain', chainId: 31_337 };
const COVE = { name: 'cove', title: 'Cove Chain', chainId: 31_338 };
const BLOCK_POLL_MS = 250;
/** On a busy machine the bot may miss Discord's limit of three seconds. */
const TRIES = 5;

export interface Progress {
  /** Gets each part that has started. Disposing it abandons the start. */
  parts: AsyncDisposableStack;
  print(line: string): void;
}

/** The sandbox was asked to stop while it started. */
export class Abandoned extends Error {}

export interface SandboxOptions {
  /** A Postgres of its own instead of an SQLite file. */
  postgres?: boolean;
  /** A debugger can attach to the bot, at Node's usual port. */
  inspect?: boolean;
}

/** Adds the first subscriptions, too. Nothing moves on the chain at first. @throws with a sentence. */
export async function startSandbox(
  { parts, print }: Progress,
  { postgres = false, inspect = false }: SandboxOptions,
): Promise<Sandbox> {
  async function started<T>(part: T, close: (part: T) => Promise<void>): Promise<T> {
    if (!parts.disposed) return parts.adopt(part, close);
    await close(part);
    throw new Abandoned();
  }

  const folder = await started(await temporaryFolder(), (path) => rm(path, { recursive: true, force: true }));
  const chain = await started(await startChain(), (part) => part.close());
  print(`chain      anvil at ${chain.rpcUrl}`);
  const signingSecrets = [`whsec_${randomBytes(32).toString('base64')}`];
  const project: Project = { id: 'sandbox', key: secret(), secret: secret(), signingSecrets };
  const services = await started(await startOwnServices(chain, folder, project), (part) => part.close());
  print(`services   notification, explorer and discovery at ${services.url}`);
  const prices = await started(await startPrices(chain.tokens), (part) => part.close());
  print(`prices     a source at ${prices.url}`);
  const discord = await started(await startDiscord(), (part) => part.close());
  print(`discord    a stand-in at ${discord.url}`);

  const database = postgres
    ? await started(await startPostgres(), (part) => part.close())
    : { url: `sqlite:${join(folder, 'ledgerbell.sqlite')}`, notice: 'an SQLite file' };
  print(`database   ${database.notice}`);

  const ports = await freePorts(2);
  const common = botEnvironment(discord, ports, database.url, prices.url);
  const receiver = common.PUBLIC_URL!;
  async function connected(called: typeof HARBOR, ofChain: Chain, own: Services): Promise<Connected> {
    const token = secret();
    const webhook = await createWebhook(own.notificationUrl, project, `${receiver}/hooks/${token}`);
    const { wallets, tokens } = ofChain;
    await webhook.add([wallets.Treasury, wallets.Payroll, wallets.Grants, tokens.bell.address]);
    return { ...called, chain: ofChain, services: own, webhook, token };
  }
  const networks = [await connected(HARBOR, chain, services)];
  const file = join(folder, 'networks.json');
  const environment = () => ({
    ...common,
    ...(networks.length === 1 ? networkVariables(networks[0]!, project) : { NETWORKS_FILE: file }),
  });
  async function startSecond(): Promise<SandboxNetwork> {
    const other = await started(await startChain(COVE.chainId), (part) => part.close());
    const apart = await mkdtemp(join(folder, 'second-'));
    const own = await started(await startOwnServices(other, apart, project), (part) => part.close());
    networks.push(await connected(COVE, other, own));
    await writeFile(file, JSON.stringify(networks.map((network) => networkOfFile(network, project))));
    return networks[1]!;
  }
  const crashed = Promise.withResolvers<never>();
  crashed.promise.catch(() => undefined);
  function onCrash({ state, log }: Bot): void {
    print(`The bot stopped unexpectedly. ${state.note} Its last log lines:\n${log.slice(-8).join('\n')}`);
    crashed.reject(new Error(`The bot did not start. ${state.note}`));
  }
  const running = runSandbox({ discord, first: networks[0]!, prices, startSecond, environment, inspect, onCrash });
  const sandbox = await started(running, (part) => part.close());
  sandbox.bot.start();
  const isReady = ({ state: { sessions, commands } }: Discord): boolean =>
    sessions.some(({ connected }) => connected) && commands.some((command) => command.commands.length > 0);
  const ready = discord.until('the bot is connected and has registered its commands', isReady);
  await Promise.race([ready, crashed.promise]);
  print(`bot        process ${sandbox.bot.state.pid}, its receiver at ${receiver}`);
  await subscribe(discord, chain);
  if (parts.disposed) throw new Abandoned();
  return sandbox;
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'ledgerbell-sandbox-'));
  } catch (error) {
    throw new Error(`Cannot create a folder in ${tmpdir()}: ${(error as Error).message}. Set TMPDIR to another place.`);
  }
}

const secret = (): string => randomBytes(24).toString('hex');

function startOwnServices(chain: Chain, folder: string, project: Project): Promise<Services> {
  const { hostile, fake, ...honest } = chain.tokens;
  return startServices({
    rpcUrl: chain.rpcUrl,
    dir: join(folder, 'services'),
    projects: [project, ORCHIDS],
    webhookAllow: ['127.0.0.1'],
    nativeSymbol: COIN_SYMBOL,
    pollMs: BLOCK_POLL_MS,
    cataloged: Object.values(honest).map(({ address }) => address),
    providersFile: writeDirectory(folder),
  });
}

/** The variables that `.env.example` explains. Nothing of this process's own environment may change them. */
function botEnvironment(
  discord: Discord,
  ports: readonly number[],
  database: string,
  prices: string,
): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name]) => ['PATH', 'HOME', 'TMPDIR', 'TZ'].includes(name));
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    HOST: '127.0.0.1',
    PORT: String(ports[0]),
    PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
    OPS_HOST: '127.0.0.1',
    OPS_PORT: String(ports[1]),
    DATABASE_URL: database,
    PRICES_URL: prices,
    LOG_LEVEL: 'debug',
    SECRETS_KEY: randomBytes(32).toString('base64'),
    RECEIVER_SOURCES: '127.0.0.1',
    RECEIVER_SOURCE_CHECK: 'enforce',
    OPERATOR_GUILD_IDS: seed.harbor.id,
  };
}

/** `token` is the receiver's path token. */
type Connected = SandboxNetwork & typeof HARBOR & { token: string };

function networkVariables({ name, chain, services, token }: Connected, project: Project): Record<string, string> {
  return {
    PRICES_CHAIN: name,
    RECEIVER_TOKEN: token,
    NOTIFICATION_URL: services.notificationUrl,
    NOTIFICATION_PROJECT_ID: project.id,
    NOTIFICATION_API_KEY: project.key,
    NOTIFICATION_API_SECRET: project.secret,
    NOTIFICATION_SIGNING_SECRET: (project.signingSecrets ?? []).join(','),
    EXPLORER_API_URL: services.explorerApiUrl,
    EXPLORER_URL: services.explorerUrl,
    DISCOVERY_URL: services.discoveryUrl,
    NATIVE_SYMBOL: COIN_SYMBOL,
    RPC_URL: chain.rpcUrl,
    RPC_CONFIRMATIONS: '0',
  };
}

function networkOfFile({ name, title, chainId, chain, services, token }: Connected, project: Project) {
  return {
    name,
    title,
    chainId,
    pricesChain: name,
    nativeSymbol: COIN_SYMBOL,
    rpc: [chain.rpcUrl],
    rpcConfirmations: 0,
    receiverToken: token,
    explorerUrl: services.explorerUrl,
    explorerApiUrl: services.explorerApiUrl,
    discoveryUrl: services.discoveryUrl,
    notification: {
      url: services.notificationUrl,
      projectId: project.id,
      apiKey: project.key,
      apiSecret: project.secret,
      signingSecret: (project.signingSecrets ?? []).join(','),
    },
  };
}

/** Adds the first subscriptions as Ada, who owns both servers. */
async function subscribe(discord: Discord, { wallets, tokens }: Pick<Chain, 'wallets' | 'tokens'>): Promise<void> {
  const { harbor, orchid } = seed;
  discord.act({ do: 'role.update', roleId: harbor.watchers, mentionable: true });
  discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.mia, roleIds: [harbor.watchers] });
  const subscriptions: [channelId: string, options: Record<string, string>][] = [
    [harbor.alerts, { address: wallets.Treasury, label: 'Treasury' }],
    [harbor.alerts, { address: wallets.Payroll, label: 'Payroll' }],
    [harbor.whales, { address: tokens.bell.address, label: 'Bell token', kind: 'erc20', mention: harbor.watchers }],
    [harbor.treasury, { address: wallets.Treasury, label: 'Treasury', direction: 'outgoing' }],
    [orchid.alerts, { address: wallets.Grants, label: 'Grants' }],
  ];

  async function add(channelId: string, options: Record<string, string>): Promise<boolean> {
    const used = await discord.use({ kind: 'command', name: 'subscription add', userId: seed.ada, channelId, options });
    return (await used.final()).status === 'acknowledged';
  }

  for (const [channelId, options] of subscriptions) {
    let isDone = false;
    for (let n = 0; n < TRIES && !isDone; n++) isDone = await add(channelId, options);
    if (!isDone) throw new Error('The bot does not respond to /subscription add.');
  }
}
