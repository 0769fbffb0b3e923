import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE } from '../src/domain/clock.ts';
import { databaseIn, fill } from './database.ts';
import { addressOf, bodyOf, hashesIn, hashOf } from './event.ts';
import { hold } from './load.ts';
import { newFolder, start, startBot } from './processes.ts';
import { type Stub, startStub } from './stub.ts';
import { compare, inTurns, report } from './table.ts';

/** The bot limits itself to 40 requests/s, and posts more than 60 alerts per channel as digests. */
const RATE = 25;
const EVENTS = 80;
const CHANNELS = Array.from({ length: 50 }, (_, n) => String(1_000 + n));
/** Longer than any of these alerts takes; without a limit a lost one would never end the measurement. */
const LATE_MS = MINUTE;

let serial = 0;

/** In ms, from each event's request until a message shows it. */
async function measure(url: string, stub: Stub) {
  const sentAt = new Map<string, number>();
  const tookMs: number[] = [];
  const allShown = Promise.withResolvers<void>();
  stub.onMessage = (message) => {
    for (const hash of hashesIn(message)) {
      const began = sentAt.get(hash);
      if (began !== undefined) tookMs.push(performance.now() - began);
      sentAt.delete(hash);
    }
    if (tookMs.length === EVENTS) allShown.resolve();
  };
  const body = () => {
    const event = serial++;
    sentAt.set(hashOf(event), performance.now());
    return bodyOf(event, addressOf(event % CHANNELS.length));
  };
  await hold(url, { rate: RATE, requests: EVENTS, body, connections: 50 });
  await Promise.race([allShown.promise, wait(LATE_MS, undefined, { ref: false })]);
  const lost = EVENTS - tookMs.length;
  if (lost > 0) throw new Error(`${lost} of ${EVENTS} events were not posted within ${LATE_MS / 1_000} s.`);
  const quantile = (share: number) => tookMs.toSorted((a, b) => a - b)[Math.floor(EVENTS * share)]!;
  return { p50: quantile(0.5), p99: quantile(0.99) };
}

/** Against a bot that posts from inside the request handler. */
export async function latency(): Promise<void> {
  using folder = newFolder();
  const database = databaseIn(folder.path);
  await fill(database, CHANNELS.length, CHANNELS);
  await using stub = await startStub();
  await using bot = await startBot(database, stub, { EXPLORER_URL: 'http://explorer.example' });
  await using naiveStub = await startStub();
  await using naive = await start('bench/servers.ts', ['naive'], { DISCORD_API_URL: naiveStub.apiUrl });
  const subjects = [() => measure(bot.url, stub), () => measure(naive.url, naiveStub)];
  for (const warmUp of subjects) await warmUp();
  const [ours, theirs] = await inTurns(subjects);
  const rows = (['p50', 'p99'] as const).map((of) => {
    const [mine, naives] = [ours!, theirs!].map((results) => results.map((result) => result[of]));
    return { 'events/s': RATE, of, ...compare('ours ms', mine!, naives!, 'naive ms') };
  });
  report('latency', rows);
}
