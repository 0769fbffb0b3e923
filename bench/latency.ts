import { request } from 'undici';
import { MINUTE } from '../src/domain/clock.ts';
import { startBot } from './bot.ts';
import { newFolder, start } from './children.ts';
import { addressOf, bodyOf, hashOf } from './event.ts';
import { atRate, createTimer } from './pace.ts';
import { fill } from './sqlite/fill.ts';
import { type Stub, startStub } from './stub.ts';
import { quantile, type Row, RUNS, report, short, spread } from './table.ts';

/** At most 60 alerts per channel: more would be posted as digests. The bot limits itself to 40 requests/s. */
const PLAN = [
  { perSecond: 25, channels: 20, events: 80 },
  { perSecond: 50, channels: 20, events: 100 },
  { perSecond: 50, channels: 1, events: 50 },
];
/** Events before the measurement, each to its own channel. */
const WARM_UP = 40;
/** Longer than any of these alerts takes; without a limit a lost one would never end the measurement. */
const LATE_MS = MINUTE;
const HEADERS = { 'content-type': 'application/json' };

interface Result {
  p50: number;
  p99: number;
  messages: number;
}

/** The measured bot: the URL for the n-th channel's events, and a stand-in that takes its messages. */
interface Subject {
  urlOf(channel: number): string;
  stub: Stub;
  stop(): Promise<void>;
}

let serial = 0;

/** Sends events at a constant rate to channels in turn; returns the times from each request's start to its message. */
async function measure(
  { urlOf, stub }: Subject,
  { perSecond, channels, events }: (typeof PLAN)[number],
  first: number,
): Promise<Result> {
  const timer = createTimer();
  let messages = 0;
  stub.onMessage = (message) => {
    messages++;
    timer.onMessage(message);
  };
  await atRate(perSecond, events, async (n) => {
    const channel = first + (n % channels);
    const event = serial++;
    timer.begin(hashOf(event));
    const body = bodyOf(event, addressOf(channel));
    const answer = await request(urlOf(channel), { method: 'POST', headers: HEADERS, body });
    await answer.body.dump();
  });
  await timer.shown(events, LATE_MS);
  const lost = events - timer.tookMs.length;
  if (lost > 0) throw new Error(`${lost} of ${events} events were not posted within ${LATE_MS / 1_000} s.`);
  return { p50: quantile(timer.tookMs, 0.5), p99: quantile(timer.tookMs, 0.99), messages };
}

async function bot(channels: readonly string[]): Promise<Subject> {
  const stub = await startStub();
  const folder = newFolder();
  fill(folder.path, channels.length, channels);
  const environment = { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl, EXPLORER_URL: 'http://explorer.example' };
  const running = await startBot(folder.path, environment);
  return {
    urlOf: () => running.url,
    stub,
    async stop() {
      await running.stop();
      folder.remove();
    },
  };
}

async function naive(channels: readonly string[]): Promise<Subject> {
  const stub = await startStub();
  const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl };
  const { ready, stop } = await start<{ url: string }>('bench/naive.ts', [], { env });
  return { urlOf: (n) => `${ready.url}/${channels[n]}`, stub, stop };
}

/** From the request until Discord has the message, against a bot that posts from inside the request handler. */
export async function latency(): Promise<void> {
  const all = PLAN.reduce((sum, { channels }) => sum + channels, 0) * RUNS + WARM_UP;
  const ids = Array.from({ length: all }, (_, n) => String(1_000 + n));
  const subjects = [await bot(ids), await naive(ids)];
  for (const subject of subjects) await measure(subject, { perSecond: 25, channels: WARM_UP, events: WARM_UP }, 0);
  let first = WARM_UP;
  const rows: Row[] = [];
  for (const step of PLAN) {
    const results: Result[][] = [];
    for (let run = 0; run < RUNS; run++) {
      const pair: Result[] = [];
      for (const subject of subjects) pair.push(await measure(subject, step, first));
      results.push(pair);
      first += step.channels;
    }
    for (const which of ['p50', 'p99'] as const) {
      const [ours, theirs] = [0, 1].map((who) => spread(results.map((pair) => pair[who]![which])).median);
      rows.push({
        'events/s': step.perSecond,
        channels: step.channels,
        of: which,
        'ours ms': short(ours!),
        'naive ms': short(theirs!),
        'messages/s': short(spread(results.map((pair) => (pair[0]!.messages * step.perSecond) / step.events)).median),
      });
    }
  }
  for (const { stop, stub } of subjects) {
    await stop();
    stub.close();
  }
  report('latency', rows);
}
