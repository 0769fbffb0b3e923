import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chain } from '../../sandbox/chain/index.ts';
import { createManualClock, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { createWebhook } from '../../sandbox/webhook.ts';
import { type Services, type ServicesOptions, startServices } from '../../services/start.ts';
import { registered } from '../app.ts';
import { type BotProcess, launchBot } from '../bot-process.ts';
import { createPeople } from '../commands/people.ts';
import { shownIn } from '../discord/shown.ts';

export const PROJECT = {
  id: 'project-of-the-test',
  key: 'public-key',
  secret: 'very-secret-key',
  signingSecrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
};

export type WholeWorld = Awaited<ReturnType<typeof startWholeWorld>>;

/** Starts the services over chains, a stand-in for Discord, and the real bot as a process of its own. */
export async function startWholeWorld(
  chains: readonly Chain[],
  options: Partial<ServicesOptions>,
  environmentOf: (services: Services) => Record<string, string | undefined>,
) {
  await using stack = new AsyncDisposableStack();
  for (const chain of chains) stack.defer(() => chain.close());
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'ledgerbell-')), (path) => rmSync(path, { recursive: true }));
  const dir = join(folder, 'services');
  const services = await startServices({
    dir,
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    pollMs: 50,
    ...options,
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
    OPERATOR_GUILD_IDS: seed.harbor.id,
    ...environmentOf(services),
  });
  stack.defer(bot.close);
  await bot.start();
  await registered(discord);
  const ends = stack.move();

  return {
    ...createPeople(discord),
    services,
    discord,
    bot,
    alerts: () => discord.messages(seed.harbor.alerts).flatMap(({ message }) => shownIn(message)),
    addWebhook: async (root: string, token: string, addresses: readonly string[]) => {
      const webhook = await createWebhook(root, PROJECT, `http://127.0.0.1:${port}/hooks/${token}`);
      await webhook.add(addresses);
      return webhook;
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
