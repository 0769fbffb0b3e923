import { rmSync } from 'node:fs';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import { fill, startBot, wait } from './bot.ts';
import { newFolder, start } from './children.ts';
import { addressOf, bodyOf } from './event.ts';
import { TOKEN } from './servers.ts';
import { startStub } from './stub.ts';
import { type Row, report, short } from './table.ts';

const SUBSCRIPTIONS = 100_000;
const CHANNELS = Array.from({ length: 2_000 }, (_, n) => String(1_000 + n));
const RATES = [250, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000];
/** How long each rate is held. */
const STEP_SECONDS = Number(process.env.BENCH_SECONDS ?? 20) / 4;
const TICK_MS = 10;

let sent = 0;

/** Sends at a constant rate; what waits at its end, and how many were not answered 200. */
async function hold(bot: Awaited<ReturnType<typeof startBot>>, rate: number, seconds: number) {
  const { origin, pathname } = new URL(bot.url);
  const pool = new Pool(origin, { connections: 100 });
  const open = new Set<Promise<unknown>>();
  let failed = 0;
  const post = async (body: string) => {
    const answer = await pool.request({ path: pathname, method: 'POST', body });
    if (answer.statusCode !== 200) failed++;
    await answer.body.dump();
  };
  const began = performance.now();
  let done = 0;
  for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - began) {
    for (const due = (elapsed / 1_000) * rate; done < due; done++) {
      const n = sent++;
      const work: Promise<unknown> = post(bodyOf(n, addressOf((n * 7_919) % SUBSCRIPTIONS))).catch(() => failed++);
      open.add(work);
      void work.finally(() => open.delete(work));
    }
    await wait(TICK_MS);
  }
  const { inbox, alerts } = bot.waiting();
  const waiting = inbox + open.size;
  await Promise.all(open);
  await pool.close();
  while (bot.waiting().inbox > 0) await wait(100);
  return { waiting, alerts, failed, perSecond: done / seconds, ms: performance.now() - began };
}

async function bareRate(): Promise<number> {
  const server = await start<{ url: string }>('bench/servers.ts', ['bare']);
  const url = `${server.ready.url}/hooks/${TOKEN}`;
  const headers = { 'content-type': 'application/json' };
  const result = await autocannon({
    url,
    method: 'POST',
    headers,
    body: bodyOf(1, addressOf(1)),
    duration: 2,
    connections: 100,
  });
  await server.stop();
  return result['2xx'] / result.duration;
}

/** The highest constant rate that goes the whole way, from the request to Discord, without a growing backlog. */
export async function whole(): Promise<void> {
  const folder = newFolder();
  fill(folder, SUBSCRIPTIONS, CHANNELS);
  let messages = 0;
  const stub = await startStub(() => void messages++);
  const bot = await startBot(folder, { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl });
  await hold(bot, 100, 2);
  const rows: Row[] = [];
  for (const rate of RATES) {
    const bare = await bareRate();
    const before = messages;
    const { waiting, alerts, failed, perSecond, ms } = await hold(bot, rate, STEP_SECONDS);
    // What waits at the end is under way, no backlog; and as good as nothing was refused.
    const held = waiting < rate / 2 && failed <= (rate * STEP_SECONDS) / 100;
    rows.push({
      'events/s': short(perSecond),
      held: held ? 'yes' : 'no',
      'ratio to bare': short(perSecond / bare),
      'wait for the router': waiting,
      'not 200': failed,
      'lines gathered for digests': alerts,
      'messages/s': short(((messages - before) * 1_000) / ms),
    });
    if (!held) break;
  }
  await bot.stop();
  stub.close();
  rmSync(folder, { recursive: true });
  report('whole', rows);
}
