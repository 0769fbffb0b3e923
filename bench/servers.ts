import { fdatasync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import fastify from 'fastify';
import pino from 'pino';
import { quotaLimits, readConfig } from '../src/config.ts';
import { systemClock } from '../src/domain/clock.ts';
import { FIRST_NETWORK } from '../src/domain/network.ts';
import { createMetrics } from '../src/metrics/metrics.ts';
import { openPathTokens } from '../src/receiver/path-tokens.ts';
import { REFUSAL_REASONS } from '../src/receiver/refusals.ts';
import { startReceiver } from '../src/receiver/server.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import { serve, TOKEN } from './processes.ts';

/** Each in a process of its own; returns where deliveries are posted to. */
const SERVERS: Record<string, (folder: string) => Promise<string>> = { receiver, bare, append, naive };

/** Everything up to the 200, without the rest of the bot. */
async function receiver(folder: string): Promise<string> {
  const { store } = await openSqlite(join(folder, 'bench.sqlite'));
  const config = readConfig({ DISCORD_TOKEN: 'none', PORT: '0', RECEIVER_SOURCES: '127.0.0.1' });
  const tokens = await openPathTokens({ store, fixed: new Map([[0, TOKEN]]) });
  const { url } = await startReceiver({
    config,
    store,
    file: null,
    inbox: { wake: () => undefined },
    networks: config.networks.map((network) => ({ ...network, id: FIRST_NETWORK })),
    tokens,
    signing: new Map(),
    limits: quotaLimits(config),
    maxConnections: 10_000,
    syncMs: () => 0,
    metrics: createMetrics(REFUSAL_REASONS),
    clock: systemClock,
    log: pino({ level: 'silent' }),
  });
  return `${url}/hooks/${TOKEN}`;
}

async function bare(): Promise<string> {
  const app = fastify({ logger: false });
  app.post('/hooks/:token', async () => ({ ok: true }));
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/hooks/${TOKEN}`;
}

async function append(folder: string): Promise<string> {
  const file = openSync(join(folder, 'bench.log'), 'a');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      writeSync(file, Buffer.concat(chunks));
      fdatasync(file, () => response.setHeader('content-type', 'application/json').end('{"ok":true}'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** A bot without any guarantees. Channels are called like the addresses. */
async function naive(): Promise<string> {
  const { REST, Routes } = await import('discord.js');
  const rest = new REST({ api: process.env.DISCORD_API_URL!, globalRequestsPerSecond: 1_000_000 }).setToken('none');
  const app = fastify({ logger: false });
  app.post<{ Body: { txHash: string; to: string; value: string } }>('/', async ({ body: { txHash, to, value } }) => {
    const embeds = [{ title: `Received ${value}`, description: txHash }];
    await rest.post(Routes.channelMessages(to), { body: { embeds } });
    return { ok: true };
  });
  return app.listen({ host: '127.0.0.1', port: 0 });
}

serve(await SERVERS[process.argv[2] ?? '']!(process.env.BENCH_FOLDER!));
