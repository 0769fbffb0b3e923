import { setTimeout as wait } from 'node:timers/promises';
import { startBot } from './bot.ts';
import { newFolder, start, TOKEN } from './children.ts';
import { addressOf, bodyOf } from './event.ts';
import { postTo } from './load.ts';
import { fill } from './sqlite/fill.ts';
import { hold } from './steady.ts';
import { startStub } from './stub.ts';
import { type Row, report, short } from './table.ts';

export const SUBSCRIPTIONS = 100_000;
export const CHANNELS = Array.from({ length: 2_000 }, (_, n) => String(1_000 + n));
const RATES = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000];
/** How long each rate is held. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);

let made = 0;
const nextBody = (): string => {
  const n = made++;
  return bodyOf(n, addressOf((n * 7_919) % SUBSCRIPTIONS));
};

async function bareRate(): Promise<number> {
  const server = await start<{ url: string }>('bench/servers.ts', ['bare']);
  const { rate } = await postTo(`${server.ready.url}/hooks/${TOKEN}`, 100, 2);
  await server.stop();
  return rate;
}

/** The highest constant rate from the request to Discord without a growing backlog. */
export async function whole(): Promise<void> {
  using folder = newFolder();
  fill(folder.path, SUBSCRIPTIONS, CHANNELS);
  report('whole', await holdRates(folder.path, RATES));
}

/**
 * Holds one rate after the other, until one is not held: the deliveries that wait for the router at the end are in flight.
 * Alerts wait for as long as it takes to post once to each channel. `environment` names the database if it is not in the
 * folder.
 */
export async function holdRates(
  folder: string,
  rates: readonly number[],
  environment: Record<string, string> = {},
): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  let messages = 0;
  const stub = stack.adopt(await startStub(), ({ close }) => close());
  stub.onMessage = () => void messages++;
  const bot = await startBot(folder, { ...environment, DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl });
  stack.defer(() => bot.stop());
  await hold(bot.url, { rate: 100, seconds: 2, body: nextBody, atEnd: () => undefined });
  const rows: Row[] = [];
  for (const rate of rates) {
    const bare = await bareRate();
    const before = messages;
    let [posted, waiting] = [0, { inbox: 0, alerts: 0 }];
    const atEnd = async () => {
      posted = messages - before;
      waiting = await bot.waiting();
    };
    const { perSecond, failed } = await hold(bot.url, { rate, seconds: SECONDS, body: nextBody, atEnd });
    // Only a moment's worth is in flight, and almost nothing was refused or had to wait for a connection.
    const held = waiting.inbox < rate / 2 && failed <= (rate * SECONDS) / 100 && perSecond > rate * 0.98;
    rows.push({
      'events/s': short(perSecond),
      held: held ? 'yes' : 'no',
      'ratio to bare': short(perSecond / bare),
      'wait for the router': waiting.inbox,
      'not 200': failed,
      'alerts that wait': waiting.alerts,
      'messages/s': short(posted / SECONDS),
    });
    if (!held) break;
    while ((await bot.waiting()).inbox > 0) await wait(100);
  }
  return rows;
}
