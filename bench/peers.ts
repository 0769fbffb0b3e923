import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { startBullMq, VERSION } from './bullmq.ts';
import { databaseIn, fill } from './database.ts';
import { addressOf, bodyOf, hashesIn, hashOf } from './event.ts';
import { many, postTo } from './load.ts';
import { newFolder, start, startBot } from './processes.ts';
import { type Stub, startStub } from './stub.ts';
import { type Row, report, short } from './table.ts';

const CHANNELS = Array.from({ length: 200 }, (_, n) => String(1_000 + n));
const CONNECTIONS = 100;
const LOAD_SECONDS = 4;
const BURST = 2_000;
const BURST_CONNECTIONS = 50;
const ROUNDS = 40;
const PAUSE_MS = 250;
const HEADERS = { 'content-type': 'application/json' };

interface Peer {
  name: string;
  /** How long after a start the peer may post nothing and still continue later. */
  patienceMs: number;
  /** The folder is empty at first. @throws the reason when the peer cannot be started. */
  start(folder: string, stub: Stub): Promise<{ url: string; kill(): Promise<void> }>;
}

/** Parses the body and responds: the bound for `acknowledged/s`. */
const BARE: Peer = { name: 'bare Fastify', patienceMs: 0, start: () => start('bench/servers.ts', ['bare']) };

const OURS: Peer = {
  name: 'Ledgerbell',
  patienceMs: 10_000,
  async start(folder, stub) {
    const database = databaseIn(folder);
    if (readdirSync(folder).length === 0) await fill(database, CHANNELS.length, CHANNELS);
    return startBot(database, stub, { EXPLORER_URL: 'http://explorer.example' });
  },
};

const BULLMQ: Peer = {
  name: `BullMQ ${VERSION}`,
  // The job of a killed worker is found by its lock, which lasts for 30 s, in a check every 30 s that has to see it
  // twice.
  patienceMs: 125_000,
  start: (folder, { apiUrl }) => startBullMq(folder, apiUrl),
};

type Tally = ReturnType<typeof newTally>;

/** Discord does not show a message again whose nonce it knows. */
const newTally = () => ({ nonces: new Map<string, string[]>(), last: performance.now() });

function count(tally: Tally, message: string): void {
  tally.last = performance.now();
  const enforced = message.includes('"enforce_nonce":true') ? /"nonce":"([^"]+)"/.exec(message)?.[1] : undefined;
  const nonce = enforced ?? randomUUID();
  for (const hash of hashesIn(message)) tally.nonces.set(hash, [...(tally.nonces.get(hash) ?? []), nonce]);
}

const nthBody = (n: number): string => bodyOf(n, addressOf(n % CHANNELS.length));

/** Whether the event was acknowledged. */
async function post(url: string, body: string): Promise<boolean> {
  try {
    const answer = await request(url, { method: 'POST', headers: HEADERS, body });
    await answer.body.dump();
    return answer.statusCode >= 200 && answer.statusCode < 300;
  } catch {
    return false;
  }
}

async function load(peer: Peer, stub: Stub): Promise<Row> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(newFolder());
  const { url } = stack.adopt(await peer.start(folder.path, stub), ({ kill }) => kill());
  let sent = 0;
  const nextBody = () => nthBody(sent++);
  await postTo(url, CONNECTIONS, 1, nextBody);
  const tally = newTally();
  stub.onMessage = (message) => count(tally, message);
  const { rate, failed } = await postTo(url, CONNECTIONS, LOAD_SECONDS, nextBody);
  return { 'acknowledged/s': short(rate), 'not 2xx': failed, 'shown/s': short(tally.nonces.size / LOAD_SECONDS) };
}

/** A kill in the middle of a burst; the sender then retries all unacknowledged events. */
async function crash(peer: Peer, stub: Stub): Promise<Row> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(newFolder());
  const tally = newTally();
  stub.onMessage = (message) => count(tally, message);
  const acknowledged = new Set<number>();
  let running = await peer.start(folder.path, stub);
  const send = async (n: number) => void ((await post(running.url, nthBody(n))) && acknowledged.add(n));
  let killed: Promise<void> | null = null;
  await many(BURST, BURST_CONNECTIONS, async (n) => {
    if (killed === null) await send(n);
    if (acknowledged.size >= BURST / 2) killed ??= running.kill();
  });
  await (killed ?? running.kill());
  const before = acknowledged.size;
  running = stack.adopt(await peer.start(folder.path, stub), ({ kill }) => kill());
  for (let round = 0; round < ROUNDS && acknowledged.size < BURST; round++) {
    const owed = Array.from({ length: BURST }, (_, n) => n).filter((n) => !acknowledged.has(n));
    await many(owed.length, BURST_CONNECTIONS, (at) => send(owed[at]!));
    if (acknowledged.size < BURST) await wait(PAUSE_MS);
  }
  tally.last = performance.now();
  while (performance.now() - tally.last < peer.patienceMs) await wait(100);
  const lost = [...acknowledged].filter((n) => !tally.nonces.has(hashOf(n)));
  const posted = [...tally.nonces.values()];
  return {
    'acknowledged at the kill': before,
    lost: lost.length,
    'shown twice': posted.filter((nonces) => new Set(nonces).size > 1).length,
    'posted twice': posted.filter((nonces) => nonces.length > 1).length,
    ...(acknowledged.size < BURST ? { 'never acknowledged': BURST - acknowledged.size } : {}),
  };
}

/** One run each; without Redis the row of BullMQ has the reason. */
export async function peers(): Promise<void> {
  // Started programs must end with this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await using stub = await startStub();
  const bound = await load(BARE, stub);
  const rows: Row[] = [{ peer: BARE.name, ...bound }];
  for (const peer of [OURS, BULLMQ]) {
    const measure = async () => ({ ...(await load(peer, stub)), ...(await crash(peer, stub)) });
    const row = await measure().catch((error: unknown): Row => ({ 'not measured': (error as Error).message }));
    const ratio = Number(row['acknowledged/s']) / Number(bound['acknowledged/s']);
    rows.push({ peer: peer.name, ...row, '/ bare': short(ratio) });
  }
  report('peers', rows);
}
