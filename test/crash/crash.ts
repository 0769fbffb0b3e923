import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Discord, type FaultRule, startDiscord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { type Bot, startBot } from './bot.ts';
import { countShown, linesOf } from './count.ts';
import { type CrashEngine, sqliteEngine } from './engines.ts';
import { ENOUGH, type Sent, startSender } from './sender.ts';
import { watchAddresses } from './watched.ts';

/** What became of everything. `lost` and `doubled` must be 0. */
export interface Verdict {
  rounds: number;
  /** Named points at which the process was ended, with how often. */
  points: Map<string, number>;
  acknowledged: number;
  /** Acknowledged transfers that every channel concerned shows exactly once. */
  shown: number;
  lost: number;
  doubled: number;
  problems: string[];
}

/** Where the bot keeps its data (by default an SQLite file in the folder), and who wants to know of each round. */
interface CrashOptions {
  engineIn?: ((folder: string) => CrashEngine) | undefined;
  onRound?(round: number): void;
}

/** A point that is not reached by then is given up, and the process is ended wherever it is. */
const PATIENCE_MS = 900;
/** On a busy machine, not before the bot acknowledged this many bodies, unless it has enough to post. */
const PATIENCE_BODIES = 20;
const LONGEST_MS = 20_000;
/** The end waits as long as something still moves, and this long when nothing does. */
const STILL_MS = 30_000;
const MESSAGES = '/channels/:channel/messages';
const FAULTS: FaultRule[] = [
  { fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'cut' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'reset' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'error', status: 500 }, method: 'POST', path: MESSAGES, times: 2 },
];

/** Ends the bot with SIGKILL `rounds` times over one database, under load, and counts what the channels show. */
export async function crash(
  rounds: number,
  { engineIn = sqliteEngine, onRound = () => undefined }: CrashOptions = {},
): Promise<Verdict> {
  const directory = mkdtempSync(join(tmpdir(), 'crash-'));
  const engine = engineIn(directory);
  const discord = await startDiscord({ limits: 'none' });
  const [port] = await freePorts(1);
  const environment = {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    PORT: String(port),
    OPS_PORT: '0',
    DATABASE_URL: engine.url,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    RECEIVER_TOKEN: 'path-token-of-the-test',
    RECEIVER_SOURCES: '127.0.0.1',
    LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: join(directory, 'cache'),
  };
  const points = new Map<string, number>();
  const start = (point: string | null) => startBot({ ...environment, LOG_LEVEL: 'info' }, point);
  /** From now on, whether the bot has yet to answer what leads to most points. */
  let owing = () => () => false;
  const endAt = (point: string) => endBot(start(`${point}@${times(point)}`), point, points, owing);

  for (const point of engine.firstPoints) await endAt(point);
  const watched = await watchAddresses(discord, await engine.open());
  // One polite end leaves the compiled program behind, which makes every later start quicker.
  const polite = start(null);
  if (!(await polite.started)) throw new Error(`The bot does not start.\n${polite.log()}`);
  polite.kill('SIGTERM');
  await polite.ended;

  const shownLive = new Set<string>();
  discord.on((event) => {
    if (event.type !== 'message' || event.change === 'deleted') return;
    for (const { shown } of linesOf(event.message.message)) shownLive.add(`${event.message.channelId} ${shown}`);
  });
  const isShown = ({ shown, lines }: Sent) => lines.every((channelId) => shownLive.has(`${channelId} ${shown}`));
  const open = new Set<Sent>();
  let looked = 0;
  const waiting = () => {
    for (const event of [...sender.sent.values()].slice(looked)) open.add(event);
    looked = sender.sent.size;
    for (const event of open) if (isShown(event)) open.delete(event);
    return open.size;
  };
  const sender = startSender(`http://127.0.0.1:${port}/hooks/path-token-of-the-test`, watched, waiting);
  owing = () => {
    const enough = sender.acknowledged() + PATIENCE_BODIES;
    return () => sender.acknowledged() < enough && waiting() < ENOUGH;
  };

  const named = shuffled(engine.points);
  for (let round = 1; round <= rounds; round++) {
    const point = round % 6 === 0 ? null : named[round % named.length]!;
    if (point?.startsWith('outbox.countAttempt') || Math.random() < 0.2) {
      discord.fault(FAULTS[Math.floor(Math.random() * FAULTS.length)]!);
    }
    if (point) await endAt(point);
    else await endSometime(start(null));
    onRound(round);
  }

  discord.clearFaults();
  const last = start(null);
  await last.started;
  sender.calm();
  await settled(engine, () => sender.unanswered() + waiting());
  last.kill('SIGTERM');
  await last.ended;
  const verdict = await judge(discord, [...sender.sent.values()], engine);
  await sender.close();
  await discord.close();
  rmSync(directory, { recursive: true });
  return { rounds, points, ...verdict };
}

/** Frequent points are passed a few times first, so that there is work of every age around. */
const times = (point: string) =>
  /^(commit|inbox|routing|outbox\.(claim|freeze|sent)|delivery|200|message)/.test(point)
    ? 1 + Math.floor(Math.random() * 6)
    : 1;

async function endBot(bot: Bot, point: string, points: Map<string, number>, owing: () => () => boolean): Promise<void> {
  const early = await Promise.race([bot.ended.then(() => true), bot.started.then(() => false)]);
  const owes = owing();
  let reached = early;
  void bot.ended.then(() => {
    reached = true;
  });
  const isPatient = (waited: number) => waited < PATIENCE_MS || (owes() && waited < LONGEST_MS);
  for (let waited = 0; !reached && isPatient(waited); waited += 50) await wait(50);
  if (reached) points.set(point, (points.get(point) ?? 0) + 1);
  else bot.kill('SIGKILL');
  await mustBeKilled(bot);
}

async function endSometime(bot: Bot): Promise<void> {
  if (Math.random() < 0.8) await bot.started;
  await wait(Math.random() * PATIENCE_MS);
  bot.kill('SIGKILL');
  await mustBeKilled(bot);
}

async function mustBeKilled(bot: Bot): Promise<void> {
  const { code, signal } = await bot.ended;
  if (signal !== 'SIGKILL') throw new Error(`The bot ended by itself (${code ?? signal}).\n${bot.log()}`);
}

/** Resolves once nothing is left to do, or nothing has moved for long. */
async function settled(engine: CrashEngine, left: () => number): Promise<void> {
  const { store, close } = await engine.open();
  let least = Number.POSITIVE_INFINITY;
  let since = Date.now();
  for (;;) {
    const { inbox, alerts, frozen } = await store.metrics.backlog(Date.now());
    const rest = left() + inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen;
    if (rest === 0 || Date.now() - since > STILL_MS) break;
    if (rest < least) {
      least = rest;
      since = Date.now();
    }
    await wait(50);
  }
  await close();
}

async function judge(discord: Discord, sent: Sent[], engine: CrashEngine) {
  const { problems, ...counted } = countShown(discord, sent);
  const { store, close } = await engine.open();
  const left = await store.metrics.backlog(Date.now());
  await close();
  const { inbox, quarantine, deadLetters, frozen, alerts } = left;
  const rest = inbox.waiting + quarantine.rows + deadLetters + frozen + alerts.due + alerts.held + alerts.closed;
  if (rest > 0) problems.push(`something is left in the database: ${JSON.stringify(left)}`);
  if (!engine.isSound()) problems.push('the database file is damaged');
  return { ...counted, problems };
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
