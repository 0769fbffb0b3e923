import { request } from 'undici';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { type App, startApp } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { configOf, PATH_TOKEN, testLog } from '../app.ts';
import { TREASURY } from '../pipeline/harness.ts';

/** Where the treasury's alerts go. */
export const CHANNEL = seed.harbor.alerts;

/** Starts the whole bot in this process; it watches the treasury in one channel. */
export async function startHere(
  file: string,
  discord: Discord,
  clock: Clock = systemClock,
  environment: Record<string, string> = {},
): Promise<App> {
  const app = await startApp(configOf(discord, file, environment), { log: testLog(), clock });
  const place = { guildId: seed.harbor.id, channelId: CHANNEL, address: TREASURY };
  await app.internals.store.subscriptions.add({ ...place, createdBy: seed.ada, createdAt: 1 }, 10);
  return app;
}

/** Delivers a body; returns the status of the response. */
export async function post(app: App, body: string | Buffer, token = PATH_TOKEN): Promise<number> {
  const answer = await request(`${app.receiver}/hooks/${token}`, { method: 'POST', body });
  await answer.body.dump();
  return answer.statusCode;
}
