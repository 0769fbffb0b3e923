import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { SECOND } from '../src/domain/clock.ts';
import { newFolder } from './children.ts';
import { addressOf, bodyOf, hashOf } from './event.ts';
import { LOADER, postNew } from './load.ts';
import { atRate, createTimer, hashesIn, many } from './pace.ts';
import { bare } from './peers/bare.ts';
import { bullMq } from './peers/bullmq.ts';
import { n8n } from './peers/n8n.ts';
import { naive } from './peers/naive.ts';
import { nodeRed } from './peers/node-red.ts';
import { ours } from './peers/ours.ts';
import type { Peer, Running } from './peers/program.ts';
import { type Stub, startStub } from './stub.ts';
import { quantile, type Row, report, short } from './table.ts';

const CHANNELS = Array.from({ length: 200 }, (_, n) => String(1_000 + n));
/** As many channels as in `latency`. */
const FEW_CHANNELS = 20;
const PER_SECOND = 50;
const WARM_UP = 20;
const EVENTS = 400;
/** Events that are not posted by then count as lost. */
const LATE_MS = 20 * SECOND;
const CONNECTIONS = [10, 100];
const LOAD_SECONDS = 4;
const BURST = 2_000;
const BURST_CONNECTIONS = 50;
/** How often the sender retries unacknowledged events, and how long it waits before each retry. */
const ROUNDS = 40;
const PAUSE_MS = 250;
const IDLE_MS = 2 * SECOND;
const HEADERS = { 'content-type': 'application/json' };

/** How often each transaction was posted to Discord and shown: a repeated nonce shows nothing new. */
interface Tally {
  posted: Map<string, number>;
  shown: Map<string, number>;
  nonces: Set<string>;
  last: number;
}

const newTally = (): Tally => ({ posted: new Map(), shown: new Map(), nonces: new Set(), last: performance.now() });

function count(tally: Tally, message: string): void {
  tally.last = performance.now();
  const nonce = message.includes('"enforce_nonce":true') ? /"nonce":"([^"]+)"/.exec(message)?.[1] : undefined;
  const isNew = nonce === undefined || !tally.nonces.has(nonce);
  if (nonce !== undefined) tally.nonces.add(nonce);
  for (const hash of hashesIn(message)) {
    tally.posted.set(hash, (tally.posted.get(hash) ?? 0) + 1);
    if (isNew) tally.shown.set(hash, (tally.shown.get(hash) ?? 0) + 1);
  }
}

/** How many transactions were counted more than once. */
const repeated = (counts: Map<string, number>): number => [...counts.values()].filter((times) => times > 1).length;

/** The n-th event: its transaction, its URL, and its body. */
function eventOf(running: Running, n: number, channels = CHANNELS.length) {
  const channel = n % channels;
  return { hash: hashOf(n), url: running.urlOf(CHANNELS[channel]!), body: bodyOf(n, addressOf(channel)) };
}

/** Posts an event; returns whether it was acknowledged. */
async function post({ url, body }: { url: string; body: string }): Promise<boolean> {
  try {
    const answer = await request(url, { method: 'POST', headers: HEADERS, body });
    await answer.body.dump();
    return answer.statusCode >= 200 && answer.statusCode < 300;
  } catch {
    return false;
  }
}

/** From each request's start until Discord has its event, in milliseconds, at a constant rate. */
async function latency(running: Running, stub: Stub): Promise<Row> {
  const timer = createTimer();
  stub.onMessage = timer.onMessage;
  await atRate(PER_SECOND, WARM_UP + EVENTS, (n) => {
    const event = eventOf(running, n, FEW_CHANNELS);
    if (n >= WARM_UP) timer.begin(event.hash);
    return post(event);
  });
  await timer.shown(EVENTS, LATE_MS);
  const late = EVENTS - timer.tookMs.length;
  return {
    'p50 ms': short(quantile(timer.tookMs, 0.5)),
    'p99 ms': short(quantile(timer.tookMs, 0.99)),
    ...(late > 0 ? { 'not posted in time': late } : {}),
  };
}

/** The highest rate of acknowledged events, and how many per second reached Discord in time. */
async function load(running: Running, stub: Stub, folder: string): Promise<Row> {
  const targets = CHANNELS.map((_, n) => eventOf(running, n));
  let best: Row = {};
  for (const [at, connections] of CONNECTIONS.entries()) {
    const first = (at + 1) * 1_000_000;
    await postNew(targets, first, connections, 1, folder);
    const tally = newTally();
    stub.onMessage = (message) => count(tally, message);
    const { rate, failed } = await postNew(targets, first + 500_000, connections, LOAD_SECONDS, folder);
    if (rate <= Number(best['acknowledged/s'] ?? 0)) continue;
    best = {
      'acknowledged/s': short(rate),
      connections,
      'not 2xx': failed,
      'shown/s': short(tally.shown.size / LOAD_SECONDS),
    };
  }
  return best;
}

/** The losses after a kill in the middle of a burst, when the sender retries all unacknowledged events. */
async function crash(peer: Peer, stub: Stub): Promise<Row> {
  using folder = newFolder();
  const tally = newTally();
  stub.onMessage = (message) => count(tally, message);
  const acknowledged = new Set<number>();
  let running = await peer.start(folder.path, stub.apiUrl);
  const send = async (n: number) => void ((await post(eventOf(running, n))) && acknowledged.add(n));
  let killed: Promise<void> | null = null;
  await many(BURST, BURST_CONNECTIONS, async (n) => {
    if (killed === null) await send(n);
    if (acknowledged.size >= BURST / 2) killed ??= running.kill();
  });
  await (killed ?? running.kill());
  const before = acknowledged.size;
  running = await peer.start(folder.path, stub.apiUrl);
  try {
    for (let round = 0; round < ROUNDS && acknowledged.size < BURST; round++) {
      const owed = Array.from({ length: BURST }, (_, n) => n).filter((n) => !acknowledged.has(n));
      await many(owed.length, BURST_CONNECTIONS, (at) => send(owed[at]!));
      if (acknowledged.size < BURST) await wait(PAUSE_MS);
    }
    tally.last = performance.now();
    while (performance.now() - tally.last < peer.patienceMs) await wait(100);
  } finally {
    await running.kill();
  }
  const lost = [...acknowledged].filter((n) => !tally.shown.has(eventOf(running, n).hash));
  return {
    'acknowledged at the kill': before,
    lost: lost.length,
    'shown twice': repeated(tally.shown),
    'posted twice': repeated(tally.posted),
    ...(acknowledged.size < BURST ? { 'never acknowledged': BURST - acknowledged.size } : {}),
  };
}

/** The measurements without faults. */
async function work(peer: Peer, stub: Stub): Promise<Row> {
  using folder = newFolder();
  const running = await peer.start(folder.path, stub.apiUrl);
  try {
    if (peer.isBound) return await load(running, stub, folder.path);
    await wait(IDLE_MS);
    const idle = running.memory();
    const took = await latency(running, stub);
    const loaded = await load(running, stub, folder.path);
    return { ...loaded, ...took, 'idle MiB': short(idle), 'loaded MiB': short(running.memory()) };
  } finally {
    await running.kill();
  }
}

async function measure(peer: Peer): Promise<Row> {
  await peer.install?.();
  const stub = await startStub();
  try {
    const row = await work(peer, stub);
    return peer.isBound ? row : { ...row, ...(await crash(peer, stub)) };
  } finally {
    stub.close();
  }
}

/**
 * Other programs at the same work: a webhook in, a message to Discord out. One run each; a program that cannot run
 * is listed with the reason.
 */
export async function peers(): Promise<void> {
  // Started programs must end with this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const bound = await measure(bare);
  const rows: Row[] = [{ peer: bare.name, ...bound }];
  for (const peer of [ours(CHANNELS), naive, nodeRed, n8n, bullMq]) {
    const row = await measure(peer).catch((error: unknown): Row => ({ 'not measured': (error as Error).message }));
    const ratio = Number(row['acknowledged/s']) / Number(bound['acknowledged/s']);
    rows.push({ peer: peer.name, ...row, '/ bare': short(ratio) });
  }
  process.stdout.write(`Load by ${LOADER}.\n`);
  report('peers', rows);
}
