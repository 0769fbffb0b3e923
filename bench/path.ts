import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seed, startDiscord } from '../sandbox/discord/index.ts';
import { freePorts } from '../sandbox/ports.ts';
import type { Called } from './coverage.ts';
import { databaseIn, fill } from './database.ts';
import { addressOf, bodyOf } from './event.ts';
import { hold } from './load.ts';
import { newFolder, startBot } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WARM_UP = 30;
const IDLE_MS = 500;
/** Files are printed in the order in which an event passes their folders. */
const ORDER = ['receiver', 'store', 'routing', 'domain', 'delivery', 'discord'].map((name) => `src/${name}/`);

export async function path(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const discord = await startDiscord({ seed: 'default', limits: 'none' });
  stack.defer(() => discord.close());
  const database = databaseIn(stack.use(newFolder()).path);
  const { id: guildId, alerts: channel } = seed.harbor;
  await fill(database, 1, [channel], guildId);
  const [port] = await freePorts(1);
  await using bot = await startBot(database, discord, {
    NODE_OPTIONS: `--import=${resolve(ROOT, 'bench/coverage.ts')}`,
    COVERAGE_PORT: String(port),
  });
  const called = async () => (await (await fetch(`http://127.0.0.1:${port}`)).json()) as Called[];
  let sent = 0;
  const body = () => bodyOf(sent++, addressOf(0));
  const send = async () => {
    const before = discord.messages(channel).length;
    await hold(bot.url, { rate: 1_000, requests: 1, connections: 1, body });
    await discord.until('the alert is posted', () => discord.messages(channel).length > before);
  };
  for (let n = 0; n < WARM_UP; n++) await send();
  await called();
  await wait(IDLE_MS);
  const idle = await called();
  await send();
  show(withoutIdle(await called(), idle));
}

const nameOf = ({ file, offset }: Called) => `${file} ${offset}`;

/** Files of which nothing was called that is not called between events, too: what looks at the disk and the clock. */
function withoutIdle(all: readonly Called[], idle: readonly Called[]): Called[] {
  const known = new Set(idle.map(nameOf));
  const ofEvent = new Set(all.flatMap((call) => (known.has(nameOf(call)) ? [] : call.file)));
  return all.filter(({ file }) => ofEvent.has(file));
}

function show(called: readonly Called[]): void {
  const ours = called.map((call) => ({ ...call, file: relative(ROOT, call.file) }));
  const placeOf = (file: string) => ORDER.findIndex((folder) => file.startsWith(folder));
  const files = [...Map.groupBy(ours, ({ file }) => file)]
    .filter(([file]) => /^(src|commands)\//.test(file))
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b) || a.localeCompare(b));
  let total = 0;
  for (const [file, calls] of files) {
    const text = readFileSync(resolve(ROOT, file), 'utf8');
    // Several threads may have called the same function.
    const functions = new Map(calls.toSorted((a, b) => a.offset - b.offset).map(({ offset, name }) => [offset, name]));
    total += functions.size;
    process.stdout.write(`\n${file}\n`);
    for (const [offset, name] of functions) {
      const line = text.slice(0, offset).split('\n').length;
      process.stdout.write(`  ${String(line).padStart(4)} ${name || '(anonymous)'}\n`);
    }
  }
  process.stdout.write(`\n${total} functions in ${files.length} files\n`);
}
