import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../sandbox/ports.ts';
import { launch, serve, start } from './processes.ts';

export const VERSION = '6.7.0';
const DEPENDENCIES = { bullmq: VERSION, ioredis: '6.0.0' };
/** As BullMQ's documentation recommends for production: an append-only file, synced once per second; no eviction. */
const REDIS = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];

interface Job {
  id: string;
  data: { txHash: string; to: string; value: string };
}

/** BullMQ is not a dependency, so its types are not installed. */
interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => { add(name: string, data: Job['data'], options: { jobId: string }): Promise<unknown> };
  Worker: new (
    name: string,
    work: (job: Job) => Promise<void>,
    options: object,
  ) => { waitUntilReady(): Promise<unknown>; on(event: 'error', listener: (error: Error) => void): unknown };
}

export async function startBullMq(folder: string, apiUrl: string) {
  const [[port], modules] = [await freePorts(1), await install()];
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const until = /Ready to accept connections/;
  const redis = await launch('redis-server', [...place, ...REDIS], { until, env: process.env });
  const env = { MODULES: modules, REDIS_PORT: String(port), API_URL: apiUrl };
  const worker = await start('bench/bullmq.ts', ['worker'], env);
  const web = await start('bench/bullmq.ts', ['web'], env);
  const kill = async () => void (await Promise.all([web.kill(), worker.kill(), redis.end('SIGKILL')]));
  return { url: web.url, kill };
}

async function install(): Promise<string> {
  const folder = join(tmpdir(), `ledgerbell-bench-bullmq-${VERSION}`);
  if (existsSync(join(folder, 'node_modules', 'bullmq'))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: DEPENDENCIES }));
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder });
  return folder;
}

const { MODULES = '', REDIS_PORT, API_URL } = process.env;

function options() {
  const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };
  return { bullmq: createRequire(join(MODULES, 'package.json'))('bullmq') as BullMq, connection };
}

/** A repeated delivery has the same bytes and therefore the ID of an existing job. */
async function web(): Promise<void> {
  const { bullmq, connection } = options();
  const queue = new bullmq.Queue('alerts', {
    connection: { ...connection, enableOfflineQueue: false },
    defaultJobOptions: {
      attempts: 5,
      backoff: { type: 'exponential', delay: 1_000 },
      removeOnComplete: { age: 3_600, count: 1_000 },
      removeOnFail: { age: 24 * 3_600 },
    },
  });
  const { default: fastify } = await import('fastify');
  const app = fastify({ logger: false });
  app.post<{ Body: Job['data'] }>('/', async ({ body }) => {
    const jobId = `e${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 24)}`;
    await queue.add('alert', body, { jobId });
    return { ok: true };
  });
  serve(await app.listen({ host: '127.0.0.1', port: 0 }));
}

/** The job's ID is the message's nonce, so that a repeat shows nothing new. Channels are called like the addresses. */
async function work(): Promise<void> {
  const { bullmq, connection } = options();
  const headers = { authorization: 'Bot none', 'content-type': 'application/json' };
  const post = async ({ id, data: { txHash, to, value } }: Job) => {
    const embeds = [{ title: `Received ${value}`, description: txHash }];
    const body = JSON.stringify({ embeds, nonce: id, enforce_nonce: true });
    const answer = await fetch(`${API_URL}/v10/channels/${to}/messages`, { method: 'POST', headers, body });
    await answer.text();
    if (!answer.ok) throw new Error(`Discord answered ${answer.status}.`);
  };
  const worker = new bullmq.Worker('alerts', post, { connection, concurrency: 100 });
  worker.on('error', (error) => process.stderr.write(`${error.message}\n`));
  await worker.waitUntilReady();
  serve('ready');
}

if (import.meta.main) await (process.argv[2] === 'web' ? web() : work());
