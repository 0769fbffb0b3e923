import { setTimeout as wait } from 'node:timers/promises';
import { type Discord, seed, startDiscord } from '../sandbox/discord/index.ts';
import { SECOND } from '../src/domain/clock.ts';
import { databaseIn, fill } from './database.ts';
import { addressOf, bodyOf } from './event.ts';
import { hold } from './load.ts';
import { newFolder, startBot } from './processes.ts';
import { compare, inTurns, median, type Row, report } from './table.ts';

const EVENTS_PER_SECOND = 5_000;
/**
 * Hot code is compiled before: by events that nobody watches, then by rounds of alerts. The numbers do not occur in the
 * burst. At least {@link MIN_CHANNELS} share them, so that no channel gets digests.
 */
const UNWATCHED = { events: 2_000, from: 1_000_000 };
const ROUNDS = { count: 6, events: 30, everyMs: 1.5 * SECOND, from: 3_000_000 };
const MIN_CHANNELS = 30;
const ALERTS_PER_MESSAGE = 10;
const PER_CHANNEL = { messages: 5, perMs: 5 * SECOND };
const QUIET_MS = 8 * SECOND;

const PLAN = [
  { alerts: 1_000, channels: 1 },
  { alerts: 1_000, channels: 100 },
  { alerts: 10_000, channels: 200 },
];

/** Discord's limit of requests per second, and the bot's own. */
const PER_SECOND = [50, 40];

/** In seconds. */
function bound(alerts: number, channels: number, perSecond: number): number {
  const each = Math.ceil(alerts / channels / ALERTS_PER_MESSAGE);
  const byChannel = Math.floor((each - 1) / PER_CHANNEL.messages) * PER_CHANNEL.perMs;
  const byAll = Math.floor((each * channels - 1) / perSecond);
  return Math.max(byChannel / SECOND, byAll);
}

async function measure(alerts: number, channels: number) {
  await using stack = new AsyncDisposableStack();
  const discord: Discord = await startDiscord({ seed: 'default', limits: 'discord' });
  stack.defer(() => discord.close());
  const guildId = seed.harbor.id;
  const ids = Array.from({ length: Math.max(channels, MIN_CHANNELS) }, (_, n) => {
    return discord.act({ do: 'channel.create', guildId, name: `bench-${n}` }).id!;
  });
  const database = databaseIn(stack.use(newFolder()).path);
  await fill(database, ids.length, ids, guildId);
  await using bot = await startBot(database, discord);
  await discord.until('the commands are registered', ({ state }) =>
    state.commands.some(({ commands }) => commands.length > 0),
  );
  const post = async (requests: number, body: () => string) => {
    const { failed } = await hold(bot.url, { rate: EVENTS_PER_SECOND, requests, body });
    if (failed > 0) throw new Error(`${failed} deliveries were not answered with 200.`);
  };
  let unwatched = UNWATCHED.from;
  await post(UNWATCHED.events, () => bodyOf(unwatched, addressOf(unwatched++)));
  while ((await bot.waiting()).inbox > 0) await wait(50);
  let watched = ROUNDS.from;
  for (let round = 0; round < ROUNDS.count; round++) {
    await post(ROUNDS.events, () => bodyOf(watched, addressOf(watched++ % ids.length)));
    await wait(ROUNDS.everyMs);
  }
  while ((await bot.waiting()).alerts > 0) await wait(50);
  // Neither the channels' limits nor the last second's requests count any more.
  await wait(PER_CHANNEL.perMs + SECOND);
  const before = discord.requests().at(-1)?.number ?? 0;
  let began = 0;
  let last = performance.now();
  const stop = discord.on((event) => {
    if (event.type === 'message') last = performance.now();
  });
  let n = 0;
  await post(alerts, () => {
    began ||= performance.now();
    return bodyOf(n, addressOf(n++ % channels));
  });
  let { inbox, alerts: left } = await bot.waiting();
  while (inbox > 0 || (left > 0 && performance.now() - last < QUIET_MS)) {
    await wait(50);
    ({ inbox, alerts: left } = await bot.waiting());
  }
  stop();
  const sent = discord.requests(before);
  const refused = sent.filter(({ status }) => status === 429).length;
  // Alerts are left for the channel's next digest where it is too busy.
  return { seconds: (last - began) / 1_000, messages: sent.length, refused, gathered: left };
}

export async function bursts(): Promise<void> {
  const rows: Row[] = [];
  for (const { alerts, channels } of PLAN) {
    const [results] = await inTurns([() => measure(alerts, channels)]);
    const all = (of: keyof Awaited<ReturnType<typeof measure>>) => results!.map((result) => result[of]);
    for (const perSecond of PER_SECOND) {
      const bounds = all('seconds').map(() => bound(alerts, channels, perSecond));
      rows.push({
        alerts,
        channels,
        'requests/s': perSecond,
        wanted: 1.35,
        ...compare('seconds', all('seconds'), bounds, 'bound s'),
        requests: median(all('messages')),
        'alerts left for digests': median(all('gathered')),
        '429': all('refused').reduce((sum, count) => sum + count, 0),
      });
    }
  }
  report('bursts', rows);
}
