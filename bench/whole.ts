import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../test/store/postgres/server.ts';
import { databaseIn, fill } from './database.ts';
import { addressOf, bodyOf } from './event.ts';
import { measure } from './intake.ts';
import { hold } from './load.ts';
import { newFolder, startBot } from './processes.ts';
import { startStub } from './stub.ts';
import { type Row, report, short } from './table.ts';

const SUBSCRIPTIONS = 100_000;
const CHANNELS = Array.from({ length: 2_000 }, (_, n) => String(1_000 + n));
const RATES = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000];
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);

let made = 0;
const nextBody = (): string => {
  const n = made++;
  return bodyOf(n, addressOf((n * 7_919) % SUBSCRIPTIONS));
};

/** The highest constant rate from the request to Discord without a growing backlog. */
export async function whole(): Promise<void> {
  using folder = newFolder();
  report('whole', await holdRates(databaseIn(folder.path), RATES));
}

/** With `fsync`: whether 1,000 events a second (BENCH_SECONDS=60) leave no backlog. */
export async function postgres(): Promise<void> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '1GB', max_wal_size: '4GB' });
  report('the whole way on Postgres', await holdRates(await server.createDatabase(), [1_000]));
}

/** Stops at the first rate at which deliveries wait for the router. Alerts wait until each channel had its turn. */
async function holdRates(database: string, rates: readonly number[]): Promise<Row[]> {
  await fill(database, SUBSCRIPTIONS, CHANNELS);
  let messages = 0;
  await using stub = await startStub();
  stub.onMessage = () => void messages++;
  await using bot = await startBot(database, stub, { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });
  await hold(bot.url, { rate: 100, requests: 200, body: nextBody });
  const rows: Row[] = [];
  for (const rate of rates) {
    const { rate: bare } = await measure('bare', 100);
    const before = messages;
    let [posted, waiting] = [0, { inbox: 0, alerts: 0 }];
    const atEnd = async () => {
      posted = messages - before;
      waiting = await bot.waiting();
    };
    const { perSecond, failed } = await hold(bot.url, { rate, requests: rate * SECONDS, body: nextBody, atEnd });
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
