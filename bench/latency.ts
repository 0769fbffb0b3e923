import { rmSync } from 'node:fs';
import { request } from 'undici';
import { fill, startBot, wait } from './bot.ts';
import { newFolder, start } from './children.ts';
import { addressOf, bodyOf } from './event.ts';
import type { Naive } from './naive.ts';
import { startStub } from './stub.ts';
import { quantile, type Row, RUNS, ratioColumns, report, short, spread } from './table.ts';

const CHANNELS = Array.from({ length: 20 }, (_, n) => String(1_000 + n));
const EVENTS = 200;
const WARM_UP = 20;

interface Result {
  p50: number;
  p99: number;
}

/** Sends events at a constant rate; the times from each request's start until the stand-in has its line, in milliseconds. */
async function measure(perSecond: number, which: 'bot' | 'naive'): Promise<Result> {
  const sent = new Map<string, number>();
  const took: number[] = [];
  const stub = await startStub((body) => {
    for (const hash of new Set(body.match(/0x[0-9a-f]{64}/g))) {
      const began = sent.get(hash);
      if (began !== undefined) took.push(performance.now() - began);
      sent.delete(hash);
    }
  });
  const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl, EXPLORER_URL: 'http://explorer.example' };
  const { urlOf, stop } = which === 'bot' ? await bot(env) : await naive(env);
  let last: Promise<unknown> = Promise.resolve();
  const began = performance.now();
  for (let n = 0; n < WARM_UP + EVENTS; n++) {
    await wait(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
    const body = bodyOf(n, addressOf(n % CHANNELS.length));
    if (n >= WARM_UP) sent.set((JSON.parse(body) as { txHash: string }).txHash, performance.now());
    const headers = { 'content-type': 'application/json' };
    last = request(urlOf(n), { method: 'POST', headers, body }).then((answer) => answer.body.dump());
  }
  await last;
  while (took.length < EVENTS) await wait(20);
  await stop();
  stub.close();
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}

async function bot(env: Record<string, string>) {
  const folder = newFolder();
  fill(folder, CHANNELS.length, CHANNELS);
  const running = await startBot(folder, env);
  return {
    urlOf: () => running.url,
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function naive(env: Record<string, string>) {
  const { ready, stop } = await start<{ url: string }>('bench/naive.ts', ['hook' satisfies Naive], { env });
  return { urlOf: (n: number) => `${ready.url}/${CHANNELS[n % CHANNELS.length]}`, stop };
}

/** From the request until Discord has the message, beside a bot that posts from inside the request handler. */
export async function latency(): Promise<void> {
  const rows: Row[] = [];
  for (const perSecond of [50, 25]) {
    const ours: Result[] = [];
    const theirs: Result[] = [];
    for (let run = 0; run < RUNS; run++) {
      ours.push(await measure(perSecond, 'bot'));
      theirs.push(await measure(perSecond, 'naive'));
    }
    for (const which of ['p50', 'p99'] as const) {
      rows.push({
        'events/s': perSecond,
        of: which,
        wanted: 1.5,
        ...ratioColumns(ours.map((result, run) => result[which] / theirs[run]![which])),
        'ours ms': short(spread(ours.map((result) => result[which])).median),
        'naive ms': short(spread(theirs.map((result) => result[which])).median),
      });
    }
  }
  report('latency', rows);
}
