import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { createManualClock, type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { type Services, startServices } from '../../services/start.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { BARE_ENVIRONMENT } from '../bare-environment.ts';
import { inTime } from '../until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PROJECT = {
  id: 'project-of-the-test',
  key: 'public-key',
  secret: 'very-secret-key',
  signingSecrets: [SIGNING_SECRET],
};

/** A chain, the services over it, a stand-in for Discord, and the real bot as a process of its own. */
export interface WholeWorld {
  chain: Chain;
  services: Services;
  discord: Discord;
  webhookId: string;
  receiverUrl: string;
  opsUrl: string;
  /** Everything that the bot logged. */
  log(): string;
  /** Ends the bot with a signal and waits for its end; returns the exit code. */
  stopBot(signal: NodeJS.Signals): Promise<number | null>;
  startBot(): Promise<void>;
  /** Advances the notification service's clock and lets it deliver what is due then. */
  passTime(ms: number): void;
  close(): Promise<void>;
}

export async function startWholeWorld(): Promise<WholeWorld> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.adopt(mkdtempSync(join(tmpdir(), 'ledgerbell-')), (it) => rmSync(it, { recursive: true }));
  const chain = stack.adopt(await startChain(), (it) => it.close());
  let ahead = 0;
  const services = await startServices({
    clock: { ...systemClock, now: () => Date.now() + ahead },
    rpcUrl: chain.rpcUrl,
    dir: join(directory, 'services'),
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    pollMs: 50,
    cataloged: [chain.tokens.dollar.address, chain.tokens.bell.address],
  });
  stack.defer(() => services.close());
  // Its time stands still, so that no deadline passes: a busy machine may take long.
  const discord = await startDiscord({ limits: 'none', clock: createManualClock(Date.now()) });
  stack.defer(() => discord.close());
  let bot: ChildProcess | undefined;
  let log = '';
  const [port] = await freePorts(1);
  let opsUrl = '';

  const startBot = async () => {
    bot = spawn(process.execPath, ['src/main.ts'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...BARE_ENVIRONMENT,
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: discord.apiUrl,
        PORT: String(port),
        OPS_PORT: '0',
        DATABASE_URL: `sqlite:${join(directory, 'bot.sqlite')}`,
        RECEIVER_TOKEN: 'path-token-of-the-test',
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
      },
    });
    const lines = createInterface({ input: bot.stdout! });
    const started = Promise.withResolvers<{ receiver: string; ops: string }>();
    lines.on('line', (line) => {
      log += `${line}\n`;
      const entry = JSON.parse(line) as { msg: string; receiver: string; ops: string };
      if (entry.msg === 'started') started.resolve(entry);
    });
    bot.once('exit', (code) => started.reject(new Error(`The bot ended with code ${code}.\n${log}`)));
    const urls = await inTime('the bot starts', started.promise);
    opsUrl = urls.ops;
  };
  stack.defer(async () => {
    if (bot?.exitCode !== null || bot.signalCode !== null) return;
    bot.kill('SIGKILL');
    await once(bot, 'exit');
  });
  await startBot();
  await discord.until('the commands are registered', ({ state }) =>
    state.commands.some(({ commands }) => commands.length > 0),
  );

  const receiverUrl = `http://127.0.0.1:${port}/hooks/path-token-of-the-test`;
  const call = async (path: string, body: object) => {
    const answer = await request(`${services.notificationUrl}${path}?apiKey=${PROJECT.key}`, {
      method: 'POST',
      headers: { 'API-SECRET': PROJECT.secret, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.statusCode !== 201) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return (await answer.body.json()) as Record<string, unknown>;
  };
  const webhook = await call('/webhook', { projectId: PROJECT.id, webhookUrl: receiverUrl, eventType: 'ALL' });
  const webhookId = String(webhook._id ?? webhook.webhookId);
  await call('/webhook/add-addresses', { webhookId, addresses: [chain.wallets.Treasury, chain.wallets.Payroll] });

  const ends = stack.move();

  return {
    chain,
    services,
    discord,
    webhookId,
    receiverUrl,
    get opsUrl() {
      return opsUrl;
    },
    log: () => log,
    startBot,
    passTime(ms) {
      ahead += ms;
      services.notification!.setFaults({});
    },
    async stopBot(signal) {
      const ended = once(bot!, 'exit');
      bot!.kill(signal);
      const [code] = (await inTime('the bot ends', ended)) as [number | null];
      return code;
    },
    close: () => ends.disposeAsync(),
  };
}
