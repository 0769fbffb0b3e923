import pino from 'pino';
import { request } from 'undici';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { TREASURY } from '../pipeline/harness.ts';

const TOKEN = 'path-token-of-the-test';

/** Where the treasury's alerts go. */
export const CHANNEL = seed.harbor.alerts;

/** Starts the whole bot in this process; it watches the treasury in one channel. */
export async function startHere(
  file: string,
  discord: Discord,
  clock: Clock = systemClock,
  environment: Record<string, string> = {},
): Promise<App> {
  const config = readConfig({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    PORT: '0',
    OPS_PORT: '0',
    DATABASE_URL: `sqlite:${file}`,
    RECEIVER_TOKEN: TOKEN,
    RECEIVER_SOURCE_CHECK: 'off',
    ...environment,
  });
  const database = await openStore(file);
  const place = { guildId: seed.harbor.id, channelId: CHANNEL, address: TREASURY };
  await database.store.subscriptions.add({ ...place, createdBy: seed.ada, createdAt: 1 }, 10);
  return startApp(config, { database, log: pino({ level: 'silent' }), clock });
}

/** Delivers a body and gives the status of the answer. */
export async function post(app: App, body: string | Buffer, token = TOKEN): Promise<number> {
  const answer = await request(`${app.receiver}/hooks/${token}`, { method: 'POST', body });
  await answer.body.dump();
  return answer.statusCode;
}
