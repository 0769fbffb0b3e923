import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type ControlEvent, startDiscord } from '../../sandbox/discord/index.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { watchAddresses } from '../../test/crash/watched.ts';
import { startBot } from '../bot.ts';
import { fileIn, newFolder } from '../children.ts';
import { diskRows } from '../sqlite/disk.ts';
import { report } from '../table.ts';
import { startPeople } from './people.ts';
import { drawSoak } from './plot.ts';
import { look, metricsOf, type Soak } from './samples.ts';
import { startSender } from './sender.ts';
import { createTally } from './tally.ts';
import { startTroubles } from './troubles.ts';
import { type Counted, verdictOf } from './verdict.ts';

/** Transfers; with twins, repeats and duplicates there are 1.5 times as many requests. */
const PER_SECOND = 12;
/** Each cycle repeats the same load. There are at least two, which are shorter if time is short. */
const CYCLE_MINUTES = 6;
const SAMPLE_MS = 5 * SECOND;
/** Everything must have been posted by then. */
const END_MS = 5 * MINUTE;

const FILES = { soak: 'bench/soak.json', plot: 'bench/soak.png', log: 'bench/soak.log' };

/** Runs an hour (or BENCH_MINUTES) at a constant rate, with faults: nothing is lost or doubled, and nothing grows. */
export async function soak(): Promise<void> {
  using folder = newFolder();
  const file = fileIn(folder.path);
  const { result, counted } = await run(folder.path, file, Number(process.env.BENCH_MINUTES ?? 60));
  writeFileSync(FILES.plot, drawSoak(result));
  const verdict = verdictOf(result, counted);
  report('soak', verdict.changes);
  report('soak: counted', verdict.counted);
  report('soak: disk', diskRows(file, counted.sent.transfers));
  for (const problem of counted.counts.problems.slice(0, 20)) process.stdout.write(`${problem}\n`);
  for (const sentence of verdict.sentences) process.stdout.write(`${sentence}\n`);
  if (!verdict.isKept) process.exitCode = 1;
}

/** Runs the bot and everything around it; returns its samples and what was counted. */
async function run(folder: string, file: string, minutes: number): Promise<{ result: Soak; counted: Counted }> {
  const cycles = Math.max(2, Math.round(minutes / CYCLE_MINUTES));
  const cycleMs = (minutes * 60_000) / cycles;
  await using stack = new AsyncDisposableStack();
  const discord = await startDiscord({ limits: 'discord' });
  stack.defer(() => discord.close());
  const watched = await watchAddresses(discord, await openStore(file));
  writeFileSync(FILES.log, '');
  let warnings = 0;
  const environment = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  const bot = await startBot(folder, { ...environment, EXPLORER_URL: 'http://explorer.example' }, (line) => {
    if (line.startsWith('{"level":30')) return;
    warnings++;
    appendFileSync(FILES.log, `${line}\n`);
  });
  stack.defer(() => bot.stop());
  await discord.until('the commands are registered', ({ state }) =>
    state.commands.some(({ commands }) => commands.length > 0),
  );

  const met = new Map<string, number>();
  const stopCounting = discord.on((event) => {
    const fault = faultOf(event);
    if (fault) met.set(fault, (met.get(fault) ?? 0) + 1);
  });
  const tally = createTally(discord);
  const start = performance.now();
  const troubles = startTroubles({ discord, file, watched, cycleMs, cycles });
  const sender = startSender(bot.url, watched, PER_SECOND, tally);
  const people = startPeople(discord, watched, cycleMs);

  const result: Soak = { cycles, cycleMs, perSecond: PER_SECOND, samples: [], troubles };
  let seen = 0;
  const take = async () => {
    const alerts = tally.posted.slice(seen);
    seen += alerts.length;
    const figures = await look(bot, file, alerts);
    const { transfers, answers } = sender.sent;
    result.samples.push({ at: performance.now() - start, ...figures, transfers, refused: answers[503]! });
    // An interrupted run still has results.
    writeFileSync(FILES.soak, JSON.stringify(result));
  };
  for (let at = 0; at <= cycles * cycleMs; at += SAMPLE_MS) {
    await wait(Math.max(0, at - (performance.now() - start)));
    await take();
  }
  discord.clearFaults();
  people.close();
  sender.calm();
  await settled(bot.ops, sender.unanswered);
  await take();
  const metrics = await metricsOf(bot.ops);
  stopCounting();
  const counts = tally.close();
  await sender.close();
  const posted = tally.posted.map(({ sentAt, postedAt }) => ({ at: sentAt - start, took: postedAt - sentAt }));
  return { result, counted: { counts, posted, sent: sender.sent, asked: people.asked, met, metrics, warnings } };
}

/** The fault that a request of the bot met, if any; `429 by our own fault` was not planned. */
function faultOf(event: ControlEvent): string | null {
  if (event.type !== 'request') return null;
  const { fault, status, at, method, path } = event.request;
  if (fault || status !== 429) return fault;
  appendFileSync(FILES.log, `429 by our own fault at ${at}: ${method} ${path}\n`);
  return '429 by our own fault';
}

/** Resolves once nothing is left to do, or after a time limit. */
async function settled(ops: string, unanswered: () => number): Promise<void> {
  const names = ['inbox_waiting', 'outbox_waiting{state="due"}', 'outbox_waiting{state="closed"}', 'outbox_frozen'];
  for (const began = performance.now(); performance.now() - began < END_MS; await wait(500)) {
    const metrics = await metricsOf(ops);
    if (unanswered() + names.reduce((sum, name) => sum + (metrics.get(name) ?? 0), 0) === 0) return;
  }
}
