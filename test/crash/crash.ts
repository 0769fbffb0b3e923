import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type FaultRule, startDiscord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { SECOND } from '../../src/domain/clock.ts';
import { botEnvironment, PATH_TOKEN } from '../app.ts';
import { type BotProcess, launchBot } from '../bot-process.ts';
import { countShown, watchUnshown } from './count.ts';
import { type CrashEngine, sqliteEngine } from './engines.ts';
import { ENOUGH, startSender } from './sender.ts';
import { settle } from './settle.ts';
import { watchAddresses } from './watched.ts';

export interface Verdict {
  rounds: number;
  points: Map<string, number>;
  acknowledged: number;
  shown: number;
  lost: number;
  doubled: number;
  problems: string[];
}

/** `engineIn`: where the bot keeps its data, by default an SQLite file in the folder. */
interface CrashOptions {
  engineIn?: ((folder: string) => CrashEngine) | undefined;
  onRound?(round: number): void;
}

/** A point that is not reached by then is given up, and the process is ended wherever it is. Alerts gather for half a second. */
const PATIENCE_MS = 3 * SECOND;
/** On a busy machine, not before the bot acknowledged this many bodies, unless it has enough to post. */
const PATIENCE_BODIES = 20;
const MAX_PATIENCE_MS = 20 * SECOND;
const POINTS = resolve(import.meta.dirname, 'points.ts');
const MESSAGES = '/channels/:channel/messages';
const FAULTS: FaultRule[] = [
  { fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'cut' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'reset' }, method: 'POST', path: MESSAGES, times: 1 },
  { fault: { kind: 'error', status: 500 }, method: 'POST', path: MESSAGES, times: 2 },
];

/** From now on, whether the bot still owes the responses that lead to most points. */
type Owing = () => () => boolean;
const OWES_NOTHING: Owing = () => () => false;

/** Ends the bot with SIGKILL `rounds` times over one database, under load, and counts what the channels show. */
export async function crash(
  rounds: number,
  { engineIn = sqliteEngine, onRound = () => undefined }: CrashOptions = {},
): Promise<Verdict> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'crash-')), (path) => rmSync(path, { recursive: true }));
  const engine = engineIn(folder);
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (one) => one.close());
  const [port] = await freePorts(1);
  const environment = {
    ...botEnvironment(discord, engine.url),
    PORT: String(port),
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    RECEIVER_SOURCES: '127.0.0.1',
    LOG_LEVEL: 'info',
    NODE_COMPILE_CACHE: join(folder, 'cache'),
  };
  const points = new Map<string, number>();
  const start = (point: string | null) =>
    launchBot({ ...environment, ...(point && { CRASH_POINT: point }) }, { preloaded: [POINTS] });
  const endAt = (point: string, owing: Owing) => endBot(start(`${point}@${times(point)}`), point, points, owing);

  for (const point of engine.firstPoints) await endAt(point, OWES_NOTHING);
  const watched = await watchAddresses(discord, await engine.open());
  await compile(start(null));

  const unshown = watchUnshown(discord);
  const waiting = () => unshown.count(sender.sent);
  const sender = startSender(`http://127.0.0.1:${port}/hooks/${PATH_TOKEN}`, watched, waiting);
  stack.defer(sender.close);
  const owing: Owing = () => {
    const enough = sender.acknowledged() + PATIENCE_BODIES;
    return () => sender.acknowledged() < enough && waiting() < ENOUGH;
  };

  const named = shuffled(engine.points);
  for (let round = 1; round <= rounds; round++) {
    const point = round % 6 === 0 ? null : named[round % named.length]!;
    if (point?.startsWith('outbox.countAttempt') || Math.random() < 0.2) {
      discord.fault(FAULTS[Math.floor(Math.random() * FAULTS.length)]!);
    }
    if (point) await endAt(point, owing);
    else await endSometime(start(null));
    onRound(round);
  }

  discord.clearFaults();
  const last = start(null);
  await last.started();
  sender.calm();
  const left = await settle(engine.open, () => sender.unanswered() + waiting());
  last.kill('SIGTERM');
  await last.exited();
  const { problems, ...counted } = countShown(discord, [...sender.sent.values()]);
  const damage = engine.isSound() ? [] : ['the database file is damaged'];
  return { rounds, points, ...counted, problems: [...problems, ...left, ...damage] };
}

/** Stops a bot with SIGTERM: it leaves its compiled program behind, which makes every later start faster. */
async function compile(bot: BotProcess): Promise<void> {
  if (!(await bot.started())) throw new Error(`The bot does not start.\n${bot.tail()}`);
  bot.kill('SIGTERM');
  await bot.exited();
}

/** Frequent points are passed a few times first, so that there is work of every age around. */
const times = (point: string) =>
  /^(commit|inbox|routing|outbox\.(claim|freeze|markSent)|delivery|200|message)/.test(point)
    ? 1 + Math.floor(Math.random() * 6)
    : 1;

async function endBot(bot: BotProcess, point: string, points: Map<string, number>, owing: Owing): Promise<void> {
  await bot.started();
  const owes = owing();
  const isPatient = (waited: number) => waited < PATIENCE_MS || (owes() && waited < MAX_PATIENCE_MS);
  for (let waited = 0; bot.isRunning() && isPatient(waited); waited += 50) await wait(50);
  if (bot.isRunning()) bot.kill('SIGKILL');
  else points.set(point, (points.get(point) ?? 0) + 1);
  await mustBeKilled(bot);
}

async function endSometime(bot: BotProcess): Promise<void> {
  if (Math.random() < 0.8) await bot.started();
  await wait(Math.random() * SECOND);
  bot.kill('SIGKILL');
  await mustBeKilled(bot);
}

async function mustBeKilled(bot: BotProcess): Promise<void> {
  const { code, signal } = await bot.exited();
  if (signal !== 'SIGKILL') throw new Error(`The bot ended by itself (${code ?? signal}).\n${bot.tail()}`);
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
