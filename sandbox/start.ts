/** The whole product in one place: chain, services, Discord stand-in and bot, wired as an operator would wire them. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Project } from '../services/notification/types.ts';
import { type Services, startServices } from '../services/start.ts';
import { SECOND } from '../src/domain/clock.ts';
import type { Bot } from './bot.ts';
import { type Chain, COIN_SYMBOL, startChain } from './chain/index.ts';
import { writeDirectory } from './directory.ts';
import { type Discord, seed, startDiscord } from './discord/index.ts';
import { freePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { runSandbox, type Sandbox } from './running.ts';
import { createWebhook } from './webhook.ts';

/** A second project at the notification service, to try `/setup project` with. The README lists its keys. */
const ORCHIDS: Project = { id: 'orchid', key: 'orchid-key', secret: 'orchid-secret' };
const BLOCK_POLL_MS = 250;
const BOT_READY_MS = 90 * SECOND;
/** On a busy machine the bot may miss Discord's limit of three seconds. */
const TRIES = 5;

/** Where a start registers its parts and prints its progress. */
export interface Progress {
  /** Gets each part that has started. Disposing it abandons the start. */
  parts: AsyncDisposableStack;
  /** Prints a line about a part. */
  print(line: string): void;
}

/** Thrown when the start was abandoned because the sandbox was asked to stop. */
export class Abandoned extends Error {}

/** How the sandbox runs the bot. */
export interface SandboxOptions {
  /** It uses a Postgres of its own instead of an SQLite file. */
  postgres?: boolean;
  /** A debugger can attach to its process, at Node's usual port. */
  inspect?: boolean;
}

/**
 * Starts everything and adds the first subscriptions. Nothing moves on the chain at first.
 *
 * @throws with a sentence when a part does not start.
 */
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
  if (chain.notice !== null) print(chain.notice);
  print(`chain      ${chain.kind} at ${chain.rpcUrl}`);
  const signingSecrets = [`whsec_${randomBytes(32).toString('base64')}`];
  const project: Project = { id: 'sandbox', key: secret(), secret: secret(), signingSecrets };
  const services = await started(await startOwnServices(chain, folder, project), (part) => part.close());
  print(`services   notification, explorer and discovery at ${services.url}`);
  const discord = await started(await startDiscord(), (part) => part.close());
  print(`discord    a stand-in at ${discord.url}`);

  const database = postgres
    ? await started(await startPostgres(), (part) => part.close())
    : { url: `sqlite:${join(folder, 'ledgerbell.sqlite')}`, notice: 'an SQLite file' };
  print(`database   ${database.notice}`);

  const [port, opsPort] = await freePorts(2);
  const receiver = { port: port!, token: secret() };
  const webhook = await createWebhook(
    services.notificationUrl,
    project,
    `http://127.0.0.1:${receiver.port}/hooks/${receiver.token}`,
  );
  await webhook.add(firstWatched(chain));
  const environment = botEnvironment({
    discord,
    services,
    project,
    receiver,
    opsPort: opsPort!,
    database: database.url,
  });
  const onCrash = ({ state, log }: Bot): void =>
    print(`The bot stopped unexpectedly. ${state.note} Its last log lines:\n${log.slice(-8).join('\n')}`);
  const running = runSandbox({ chain, discord, services, webhook, environment, inspect, onCrash });
  const sandbox = await started(running, (part) => part.close());
  await startBot(sandbox.bot, discord);
  print(`bot        process ${sandbox.bot.state.pid}, its receiver at http://127.0.0.1:${receiver.port}`);
  await subscribe(discord, chain);
  if (parts.disposed) throw new Abandoned();
  return sandbox;
}

/** @throws with a sentence when it cannot be created. */
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
function botEnvironment(options: {
  discord: Discord;
  services: Services;
  project: Project;
  receiver: { port: number; token: string };
  opsPort: number;
  database: string;
}): Record<string, string> {
  const { discord, services, project, receiver } = options;
  const passed = ['PATH', 'HOME', 'TMPDIR', 'TZ'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    HOST: '127.0.0.1',
    PORT: String(receiver.port),
    PUBLIC_URL: `http://127.0.0.1:${receiver.port}`,
    OPS_HOST: '127.0.0.1',
    OPS_PORT: String(options.opsPort),
    DATABASE_URL: options.database,
    LOG_LEVEL: 'debug',
    SECRETS_KEY: randomBytes(32).toString('base64'),
    RECEIVER_TOKEN: receiver.token,
    RECEIVER_SOURCES: '127.0.0.1',
    RECEIVER_SOURCE_CHECK: 'enforce',
    NOTIFICATION_URL: services.notificationUrl,
    NOTIFICATION_PROJECT_ID: project.id,
    NOTIFICATION_API_KEY: project.key,
    NOTIFICATION_API_SECRET: project.secret,
    NOTIFICATION_SIGNING_SECRET: (project.signingSecrets ?? []).join(','),
    OPERATOR_GUILD_IDS: seed.harbor.id,
    EXPLORER_API_URL: services.explorerApiUrl,
    EXPLORER_URL: services.explorerUrl,
    DISCOVERY_URL: services.discoveryUrl,
    NATIVE_SYMBOL: COIN_SYMBOL,
  };
}

/** Starts the bot and waits until it is connected and has registered its commands. */
async function startBot(bot: Bot, discord: Discord): Promise<void> {
  const ready = discord.until(
    'the bot is connected and has registered its commands',
    ({ state }) =>
      state.sessions.some(({ connected }) => connected) && state.commands.some(({ commands }) => commands.length > 0),
  );
  const exited = new Promise<never>((_resolve, reject) => {
    const timer = setInterval(() => {
      const waited = Date.now() - bot.state.since;
      if (bot.state.state === 'running' && waited < BOT_READY_MS) return;
      clearInterval(timer);
      const why = bot.state.note ?? `It did not log in within ${BOT_READY_MS / SECOND} s.`;
      reject(new Error(`The bot did not start. ${why}`));
    }, 100);
    ready.then(
      () => clearInterval(timer),
      () => undefined,
    );
  });
  bot.start();
  await Promise.race([ready, exited]);
}

function firstWatched({ wallets, tokens }: Chain): string[] {
  return [wallets.Treasury, wallets.Payroll, wallets.Grants, tokens.bell.address];
}

/**
 * Adds the first subscriptions as Ada, who owns both servers.
 *
 * @throws when the bot does not respond within {@link TRIES} tries.
 */
export async function subscribe(
  discord: Discord,
  { wallets, tokens }: Pick<Chain, 'wallets' | 'tokens'>,
): Promise<void> {
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
