import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { type Discord, type ManualClock, seed } from '../../sandbox/discord/index.ts';
import { type App, startApp } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { configOf, PATH_TOKEN, registered, testLog } from '../app.ts';
import { until } from '../until.ts';
import { accepted, startStandIn, temporaryFile, WATCHING } from './bot.ts';

export const CHANNEL = seed.harbor.alerts;
export const MESSAGES = '/channels/:channel/messages';

export async function startHere(
  file: string,
  discord: Discord,
  clock: Clock = systemClock,
  environment: Record<string, string> = {},
): Promise<App> {
  const app = await startApp(configOf(discord, file, environment), { log: testLog(), clock });
  await app.internals.store.subscriptions.add(WATCHING, 10);
  return app;
}

export async function post(app: App, body: string | Buffer, token = PATH_TOKEN): Promise<number> {
  const answer = await request(`${app.receiver}/hooks/${token}`, { method: 'POST', body });
  await answer.body.dump();
  return answer.statusCode;
}

interface WholeOptions {
  clock?: Clock;
  environment?: Record<string, string>;
  discordClock?: ManualClock;
  prepare?(discord: Discord): void;
}

export type Whole = Awaited<ReturnType<typeof startWhole>>;

export async function startWhole({ clock, environment, discordClock, prepare }: WholeOptions = {}) {
  const file = temporaryFile();
  const { discord } = await startStandIn(discordClock && { clock: discordClock });
  prepare?.(discord);
  let app = await startHere(file, discord, clock, environment);
  onTestFinished(() => app.close());
  const get = async (path: string) => {
    const answer = await request(app.ops + path);
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  /** Every metric of the bot as `name{label}` → value, without `ledgerbell_`. */
  const metrics = async (): Promise<Map<string, number>> => {
    const lines = (await get('/metrics')).text.matchAll(/^ledgerbell_(\S+|\w+\{.*\}) (\S+)$/gm);
    return new Map([...lines].map(([, name, value]) => [name!, Number(value)]));
  };
  const send = (body: string | Buffer | object, token?: string) =>
    post(app, typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body), token);
  return {
    file,
    discord,
    get store() {
      return app.internals.store;
    },
    get services() {
      return app.internals.working().services;
    },
    get,
    parts: async () => (JSON.parse((await get('/readyz')).text) as { parts: Record<string, object> }).parts,
    metrics,
    post: send,
    deliver: (body: string | Buffer | object, token?: string) => accepted(() => send(body, token)),
    async reaches(name: string, value: number) {
      let now = new Map<string, number>();
      await until(`${name} is ${value}`, async () => {
        now = await metrics();
        return now.get(name) === value;
      });
      return now;
    },
    posted: (count: number) =>
      discord.until(`${count} messages are posted`, () => discord.messages(CHANNEL).length === count),
    registered: () => registered(discord),
    async restart(between: () => void = () => undefined) {
      await app.close();
      between();
      app = await startHere(file, discord, clock, environment);
    },
  };
}
