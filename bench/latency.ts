import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE } from '../src/domain/clock.ts';
import { startBot } from './bot.ts';
import { newFolder, start } from './children.ts';
import { addressOf, bodyOf, hashesIn, hashOf } from './event.ts';
import { hold } from './load.ts';
import { fill } from './sqlite/database.ts';
import { type Stub, startStub } from './stub.ts';
import { inTurns, quantile, type Row, RUNS, report, short, spread } from './table.ts';

/** At most 60 alerts per channel: more would be posted as digests. The bot limits itself to 40 requests/s. */
const PLAN = [
  { perSecond: 25, channels: 20, events: 80 },
  { perSecond: 50, channels: 20, events: 100 },
  { perSecond: 50, channels: 1, events: 50 },
];
/** Events before the measurement, each to its own channel. */
const WARM_UP = { perSecond: 25, channels: 40, events: 40 };
/** Longer than any of these alerts takes; without a limit a lost one would never end the measurement. */
const LATE_MS = MINUTE;

interface Result {
  p50: number;
  p99: number;
  messages: number;
}

/** The measured bot, and a stand-in that takes its messages. */
interface Subject {
  url: string;
  stub: Stub;
  stop(): Promise<void>;
}

let serial = 0;

/** Sends events at a constant rate to channels in turn, and times each from its request until a message shows it. */
async function measure(
  { url, stub }: Subject,
  { perSecond, channels, events }: (typeof PLAN)[number],
  firstChannel: number,
): Promise<Result> {
  const sentAt = new Map<string, number>();
  const tookMs: number[] = [];
  const allShown = Promise.withResolvers<void>();
  let messages = 0;
  stub.onMessage = (message) => {
    messages++;
    for (const hash of hashesIn(message)) {
      const began = sentAt.get(hash);
      if (began !== undefined) tookMs.push(performance.now() - began);
      sentAt.delete(hash);
    }
    if (tookMs.length === events) allShown.resolve();
  };
  let sent = 0;
  const body = () => {
    const event = serial++;
    sentAt.set(hashOf(event), performance.now());
    return bodyOf(event, addressOf(firstChannel + (sent++ % channels)));
  };
  await hold(url, { rate: perSecond, requests: events, body, connections: 50 });
  await Promise.race([allShown.promise, wait(LATE_MS, undefined, { ref: false })]);
  const lost = events - tookMs.length;
  if (lost > 0) throw new Error(`${lost} of ${events} events were not posted within ${LATE_MS / 1_000} s.`);
  return { p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99), messages };
}

async function bot(channels: number): Promise<Subject> {
  const stub = await startStub();
  const folder = newFolder();
  const ids = Array.from({ length: channels }, (_, n) => String(1_000 + n));
  fill(folder.path, channels, ids);
  const environment = { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl, EXPLORER_URL: 'http://explorer.example' };
  const { url, stop } = await startBot(folder.path, environment);
  return {
    url,
    stub,
    async stop() {
      await stop();
      folder.remove();
    },
  };
}

async function naive(): Promise<Subject> {
  const stub = await startStub();
  const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: stub.apiUrl };
  const { ready, stop } = await start<{ url: string }>('bench/naive.ts', [], env);
  return { url: ready.url, stub, stop };
}

/** From the request until Discord has the message, against a bot that posts from inside the request handler. */
export async function latency(): Promise<void> {
  const all = PLAN.reduce((sum, { channels }) => sum + channels, 0) * RUNS + WARM_UP.channels;
  const subjects = [await bot(all), await naive()];
  for (const subject of subjects) await measure(subject, WARM_UP, 0);
  let firstChannel = WARM_UP.channels;
  const rows: Row[] = [];
  for (const step of PLAN) {
    const [ours, theirs] = await inTurns(
      subjects.map((subject) => (run: number) => {
        return measure(subject, step, firstChannel + run * step.channels);
      }),
    );
    firstChannel += RUNS * step.channels;
    for (const which of ['p50', 'p99'] as const)
      rows.push({
        'events/s': step.perSecond,
        channels: step.channels,
        of: which,
        'ours ms': short(spread(ours!.map((result) => result[which])).median),
        'naive ms': short(spread(theirs!.map((result) => result[which])).median),
        'messages/s': short(spread(ours!.map(({ messages }) => (messages * step.perSecond) / step.events)).median),
      });
  }
  for (const { stop, stub } of subjects) {
    await stop();
    await stub.close();
  }
  report('latency', rows);
}
