import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { startChain } from '../../sandbox/chain/index.ts';
import { createManualClock, startDiscord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { type Services, startServices } from '../../services/start.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { PATH_TOKEN, registered } from '../app.ts';
import { type BotProcess, launchBot } from '../bot-process.ts';

const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const PROJECT = {
  id: 'project-of-the-test',
  key: 'public-key',
  secret: 'very-secret-key',
  signingSecrets: [SIGNING_SECRET],
};

export type WholeWorld = Awaited<ReturnType<typeof startWholeWorld>>;

/** Starts a chain, the services over it, a stand-in for Discord, and the real bot as a process of its own. */
export async function startWholeWorld() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'ledgerbell-')), (path) => rmSync(path, { recursive: true }));
  const chain = stack.adopt(await startChain(), (it) => it.close());
  let ahead = 0;
  const services = await startServices({
    clock: { ...systemClock, now: () => Date.now() + ahead },
    rpcUrl: chain.rpcUrl,
    dir: join(folder, 'services'),
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    pollMs: 50,
    cataloged: [chain.tokens.dollar.address, chain.tokens.bell.address],
  });
  stack.defer(() => services.close());
  // Its time stands still, so that no deadline passes: a busy machine may take long.
  const discord = await startDiscord({ limits: 'none', clock: createManualClock(Date.now()) });
  stack.defer(() => discord.close());
  const [port] = await freePorts(1);
  const bot = createRestartableBot({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    PORT: String(port),
    OPS_PORT: '0',
    DATABASE_URL: `sqlite:${join(folder, 'bot.sqlite')}`,
    RECEIVER_TOKEN: PATH_TOKEN,
    RECEIVER_SOURCES: '127.0.0.1',
    NOTIFICATION_URL: services.notificationUrl,
    NOTIFICATION_PROJECT_ID: PROJECT.id,
    NOTIFICATION_API_KEY: PROJECT.key,
    NOTIFICATION_API_SECRET: PROJECT.secret,
    NOTIFICATION_SIGNING_SECRET: SIGNING_SECRET,
    OPERATOR_GUILD_IDS: discord.state.guilds[0]!.id,
    EXPLORER_API_URL: services.explorerApiUrl,
    EXPLORER_URL: services.explorerUrl,
    DISCOVERY_URL: services.discoveryUrl,
  });
  stack.defer(bot.close);
  await bot.start();
  await registered(discord);
  await addWebhook(services, `http://127.0.0.1:${port}/hooks/${PATH_TOKEN}`, [
    chain.wallets.Treasury,
    chain.wallets.Payroll,
  ]);
  const ends = stack.move();

  return {
    chain,
    discord,
    bot,
    /** Advances the notification service's clock and lets it deliver what is due then. */
    passTime(ms: number) {
      ahead += ms;
      services.notification!.setFaults({});
    },
    close: () => ends.disposeAsync(),
  };
}

function createRestartableBot(environment: Record<string, string | undefined>) {
  let bot: BotProcess | undefined;
  let log = '';
  let opsUrl = '';
  return {
    opsUrl: () => opsUrl,
    log: () => log,
    async start(): Promise<void> {
      bot = launchBot(environment);
      bot.lines.on('line', (line) => {
        log += `${line}\n`;
      });
      const started = await bot.started();
      if (!started) throw new Error(`The bot does not start.\n${bot.tail()}`);
      opsUrl = started.ops;
    },
    async stop(signal: NodeJS.Signals): Promise<number | null> {
      bot!.kill(signal);
      return (await bot!.ended()).code;
    },
    close: async (): Promise<void> => bot?.destroy(),
  };
}

export async function addWebhook(
  { notificationUrl }: Pick<Services, 'notificationUrl'>,
  webhookUrl: string,
  addresses: string[],
): Promise<void> {
  const call = async (path: string, body: object) => {
    const response = await request(`${notificationUrl}${path}?apiKey=${PROJECT.key}`, {
      method: 'POST',
      headers: { 'API-SECRET': PROJECT.secret, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.statusCode !== 201) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`);
    return (await response.body.json()) as Record<string, unknown>;
  };
  const { _id, webhookId } = await call('/webhook', { projectId: PROJECT.id, webhookUrl, eventType: 'ALL' });
  await call('/webhook/add-addresses', { webhookId: String(_id ?? webhookId), addresses });
}
