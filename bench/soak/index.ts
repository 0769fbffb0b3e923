import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { openStore } from '../../src/store/client.ts';
import { startBot, wait } from '../bot.ts';
import { newFolder } from '../children.ts';
import type { Watched } from './body.ts';
import { diskOf } from './disk.ts';
import { reportSoak } from './figures.ts';
import { startPeople } from './people.ts';
import { drawSoak } from './plot.ts';
import { look, metricsOf, type Sample } from './samples.ts';
import { startSender } from './sender.ts';
import { createTally } from './tally.ts';
import { type Spell, startWeather } from './weather.ts';

/** So many that none is told more than 60 lines in ten minutes, from which on they would be digests. */
const CHANNELS = 300;
/** Transfers; with twins, repeats and what is told of twice it is half as many requests again. */
const PER_SECOND = 12;
/** What happened in the first and in the last of these is compared. */
const CYCLES = 10;
const SAMPLES = 720;
/** Everything must have been told by then. */
const END_MS = 5 * 60_000;

const FILES = { samples: 'bench/soak.json', plot: 'bench/soak.png', log: 'bench/soak.log' };

/** Everything that is drawn; `until`: when the sender stopped, milliseconds since the start. */
export interface Soak {
  until: number;
  perSecond: number;
  samples: Sample[];
  spells: Spell[];
}

/** An hour (or BENCH_MINUTES) at a constant rate, with faults: memory, files and latency must stay as they are. */
export async function soak(): Promise<void> {
  const minutes = Number(process.env.BENCH_MINUTES ?? 60);
  const cycleMs = (minutes * 60_000) / CYCLES;
  const folder = newFolder();
  const file = join(folder, 'bot.sqlite');
  const discord = await startDiscord({ limits: 'discord' });
  const watched = openChannels(discord);
  await subscribe(file, watched);
  writeFileSync(FILES.log, '');
  let warnings = 0;
  const bot = await startBot(
    folder,
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      EXPLORER_URL: 'http://explorer.example',
      NODE_OPTIONS: process.env.NODE_OPTIONS ?? '',
    },
    (line) => {
      if (line.startsWith('{"level":30')) return;
      warnings++;
      appendFileSync(FILES.log, `${line}\n`);
    },
  );
  await discord.until(({ state }) => state.commands.some(({ commands }) => commands.length > 0));

  const tally = createTally();
  const met = new Map<string, number>();
  const unsubscribe = discord.on((event) => {
    tally.see(event);
    if (event.type !== 'request') return;
    const { fault, status } = event.request;
    const name = fault ?? (status === 429 ? '429 by our own fault' : null);
    if (name) met.set(name, (met.get(name) ?? 0) + 1);
  });
  const start = performance.now();
  const spells: Spell[] = [];
  const onSpell = (spell: Spell) => void spells.push(spell);
  const weather = startWeather({ discord, file, watched, cycleMs, cycles: CYCLES, onSpell });
  const sender = startSender({
    url: bot.url,
    watched,
    perSecond: PER_SECOND,
    onBegin: tally.begin,
    onAnswered: tally.acknowledge,
  });
  const people = startPeople(discord, watched, cycleMs);

  const samples: Sample[] = [];
  let seen = 0;
  const take = async () => {
    const lines = tally.told.slice(seen);
    seen += lines.length;
    const { transfers, answered, answers } = sender.sent;
    const figures = await look(bot, file, lines);
    const counts = { transfers, answered, refused: answers[503] ?? 0, told: seen };
    samples.push({ at: performance.now() - start, ...figures, ...counts });
  };
  const endAt = cycleMs * CYCLES;
  for (let n = 0; n < SAMPLES; n++) {
    await wait(Math.max(0, (n * endAt) / SAMPLES - (performance.now() - start)));
    await take();
    keep({ until: endAt, perSecond: PER_SECOND, samples, spells });
  }
  weather.close();
  people.close();
  sender.calm();
  await settled(bot.ops, sender.unanswered);
  await take();
  unsubscribe();
  const verdict = tally.verdict();
  const metrics = await metricsOf(bot.ops);
  await sender.close();
  await bot.stop();
  await discord.close();

  const result = { until: endAt, perSecond: PER_SECOND, samples, spells };
  keep(result);
  writeFileSync(FILES.plot, drawSoak(result));
  reportSoak(result, {
    verdict,
    sent: sender.sent,
    people: people.asked,
    faults: met,
    metrics,
    calm: tally.told.filter(({ sentAt }) => weather.isCalm(sentAt - start)),
    start,
    told: tally.told,
    disk: diskOf(file, sender.sent.transfers),
    warnings,
  });
  rmSync(folder, { recursive: true });
}

/** Keeps what was seen so far, so that a run that breaks off is not in vain. */
function keep(result: Soak): void {
  writeFileSync(FILES.samples, JSON.stringify(result));
}

function openChannels(discord: Discord): Watched[] {
  return Array.from({ length: CHANNELS }, (_, n) => {
    const { id } = discord.act({ do: 'channel.create', guildId: seed.harbor.id, name: `soak-${n}` });
    return { channelId: id!, address: `0x${(n + 1).toString(16).padStart(4, '0').repeat(10)}` };
  });
}

async function subscribe(file: string, watched: readonly Watched[]): Promise<void> {
  const { store, close } = await openStore(file);
  for (const { channelId, address } of watched) {
    await store.subscriptions.add(
      {
        guildId: seed.harbor.id,
        channelId,
        address: address as AddressText,
        label: null,
        direction: 'any',
        kind: 'any',
        minimum: null,
        token: null,
        mention: null,
        createdBy: seed.ada,
        createdAt: 0,
      },
      CHANNELS,
    );
  }
  await close();
}

/** Resolves once nothing is left to do, or it took too long. */
async function settled(ops: string, unanswered: () => number): Promise<void> {
  for (const began = performance.now(); performance.now() - began < END_MS; await wait(500)) {
    const metrics = await metricsOf(ops);
    const names = ['inbox_waiting', 'outbox_waiting{state="due"}', 'outbox_waiting{state="closed"}', 'outbox_frozen'];
    if (unanswered() + names.reduce((sum, name) => sum + (metrics.get(name) ?? 0), 0) === 0) return;
  }
}
