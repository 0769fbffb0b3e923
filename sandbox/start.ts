/** The whole product in one place: chain, services, Discord stand-in and bot, wired as an operator would wire them. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Project } from '../services/notification/types.ts';
import { type Services, startServices } from '../services/start.ts';
import { type Bot, superviseBot } from './bot.ts';
import { type Chain, startChain } from './chain/index.ts';
import { type Discord, seed, startDiscord } from './discord/index.ts';
import { freePorts } from './ports.ts';
import { RunningSandbox, type Sandbox } from './running.ts';
import { createWebhook } from './webhook.ts';

/** A second project at the notification service, for trying `/setup project`; the README names its keys. */
const ORCHIDS: Project = { id: 'orchid', key: 'orchid-key', secret: 'orchid-secret' };
/** What the pretended coin is called. */
const COIN = 'HARBOR';
const BLOCK_POLL_MS = 250;
const BOT_READY_MS = 90_000;
/** On a busy machine the bot may miss Discord's three seconds. */
const TRIES = 5;

/** Hears of each part as it stands, and is given the way to end it; what was given last is ended first. */
export interface Progress {
  /** Whether the start should be given up. */
  readonly stopping: boolean;
  onClose(close: () => Promise<unknown>): void;
  say(line: string): void;
}

/** Thrown when the start was given up because somebody asked to stop. */
export class GivenUp extends Error {}

/** Starts everything, and sets it up so that alerts come at once. Throws with a sentence when a part does not start. */
export async function startSandbox(progress: Progress): Promise<Sandbox> {
  const started = <T>(part: T, close: (part: T) => Promise<unknown>): T => {
    progress.onClose(() => close(part));
    if (progress.stopping) throw new GivenUp();
    return part;
  };
  const folder = started(await temporaryFolder(), (path) => rm(path, { recursive: true, force: true }));
  const chain = started(await startChain(), (part) => part.close());
  if (chain.notice !== null) progress.say(chain.notice);
  progress.say(`chain      ${chain.kind} at ${chain.rpcUrl}`);
  const project: Project = { id: 'sandbox', key: secret(), secret: secret() };
  const services = started(await startOwnServices(chain, folder, project), (part) => part.close());
  progress.say(`services   notification, explorer and discovery at ${services.url}`);
  const discord = started(await startDiscord(), (part) => part.close());
  progress.say(`discord    a stand-in at ${discord.url}`);

  const [port, opsPort] = await freePorts(2);
  const receiver = { port: port!, token: secret() };
  const webhook = await createWebhook(
    services.notificationUrl,
    project,
    `http://127.0.0.1:${receiver.port}/hooks/${receiver.token}`,
  );
  await webhook.add(firstWatched(chain));
  const sandbox = new RunningSandbox({ chain, discord, services, webhook, database: databaseIn(folder) });
  started(sandbox, (part) => part.close());
  const environment = botEnvironment({ discord, services, project, receiver, opsPort: opsPort!, folder });
  const onCrash = ({ state, log }: Bot): void =>
    progress.say(`The bot ended by itself. ${state.note} It said last:\n${log.slice(-8).join('\n')}`);
  const bot = started(superviseBot({ environment, onChange: () => sandbox.changed(), onCrash }), (part) => part.stop());
  sandbox.bot = bot;
  await startBot(bot, discord);
  progress.say(`bot        process ${bot.state.pid}, its receiver at http://127.0.0.1:${receiver.port}`);
  await subscribe(discord, chain);
  if (progress.stopping) throw new GivenUp();
  await sandbox.setTraffic(true);
  return sandbox;
}

/** Throws with a sentence where none can be made. */
async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'ledgerbell-sandbox-'));
  } catch (error) {
    throw new Error(`No folder can be made in ${tmpdir()}: ${(error as Error).message}. Name another one with TMPDIR.`);
  }
}

const databaseIn = (folder: string): string => join(folder, 'ledgerbell.sqlite');
const secret = (): string => randomBytes(24).toString('hex');

function startOwnServices(chain: Chain, folder: string, project: Project): Promise<Services> {
  const { hostile, fake, ...honest } = chain.tokens;
  return startServices({
    rpcUrl: chain.rpcUrl,
    dir: join(folder, 'services'),
    projects: [project, ORCHIDS],
    nativeSymbol: COIN,
    pollMs: BLOCK_POLL_MS,
    cataloged: Object.values(honest).map(({ address }) => address),
  });
}

/** What `.env.example` explains, and nothing of this process's own that could change it. */
function botEnvironment(parts: {
  discord: Discord;
  services: Services;
  project: Project;
  receiver: { port: number; token: string };
  opsPort: number;
  folder: string;
}): Record<string, string> {
  const { discord, services, project, receiver } = parts;
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
    OPS_PORT: String(parts.opsPort),
    DATABASE_URL: `sqlite:${databaseIn(parts.folder)}`,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    RECEIVER_TOKEN: receiver.token,
    RECEIVER_SOURCES: '127.0.0.1',
    RECEIVER_SOURCE_CHECK: 'enforce',
    NOTIFICATION_URL: services.notificationUrl,
    NOTIFICATION_PROJECT_ID: project.id,
    NOTIFICATION_API_KEY: project.key,
    NOTIFICATION_API_SECRET: project.secret,
    OPERATOR_GUILD_IDS: seed.harbor.id,
    EXPLORER_API_URL: services.explorerApiUrl,
    EXPLORER_URL: services.explorerUrl,
    DISCOVERY_URL: services.discoveryUrl,
    NATIVE_SYMBOL: COIN,
  };
}

/** Starts the bot and waits until it is in its servers and has registered its commands. */
async function startBot(bot: Bot, discord: Discord): Promise<void> {
  const ready = discord.until(
    ({ state }) =>
      state.sessions.some(({ connected }) => connected) && state.commands.some(({ commands }) => commands.length > 0),
  );
  const exited = new Promise<never>((_resolve, reject) => {
    const timer = setInterval(() => {
      const waited = Date.now() - bot.state.since;
      if (bot.state.state === 'running' && waited < BOT_READY_MS) return;
      clearInterval(timer);
      const why = bot.state.note ?? `It did not log in within ${BOT_READY_MS / 1000} s.`;
      reject(new Error(`The bot did not start. ${why}`));
    }, 100);
    void ready.then(() => clearInterval(timer));
  });
  bot.start();
  await Promise.race([ready, exited]);
}

function firstWatched({ wallets, tokens }: Chain): string[] {
  return [wallets.Treasury, wallets.Payroll, wallets.Grants, tokens.bell.address];
}

/** Types the first subscriptions, as Ada, who owns both servers; throws when the bot answers none of some tries. */
export async function subscribe(
  discord: Discord,
  { wallets, tokens }: Pick<Chain, 'wallets' | 'tokens'>,
): Promise<void> {
  const { harbor, orchid } = seed;
  discord.act({ do: 'role.update', roleId: harbor.watchers, mentionable: true });
  discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.mia, roleIds: [harbor.watchers] });
  const typed: [channelId: string, options: Record<string, string>][] = [
    [harbor.alerts, { address: wallets.Treasury, label: 'Treasury' }],
    [harbor.alerts, { address: wallets.Payroll, label: 'Payroll' }],
    [harbor.whales, { address: tokens.bell.address, label: 'Bell token', kind: 'erc20', mention: harbor.watchers }],
    [harbor.treasury, { address: wallets.Treasury, label: 'Treasury', direction: 'outgoing' }],
    [orchid.alerts, { address: wallets.Grants, label: 'Grants' }],
  ];
  const add = async (channelId: string, options: Record<string, string>): Promise<boolean> => {
    const used = await discord.use({ kind: 'command', name: 'subscription add', userId: seed.ada, channelId, options });
    return (await used.final()).status === 'acknowledged';
  };
  for (const [channelId, options] of typed) {
    let isAnswered = false;
    for (let n = 0; n < TRIES && !isAnswered; n++) isAnswered = await add(channelId, options);
    if (!isAnswered) throw new Error('The bot does not answer /subscription add.');
  }
}
