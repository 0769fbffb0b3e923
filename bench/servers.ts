import { fdatasync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import fastify from 'fastify';
import pino from 'pino';
import { quotaLimits, readConfig } from '../src/config.ts';
import { systemClock } from '../src/domain/clock.ts';
import { indexTokens } from '../src/receiver/path-tokens.ts';
import { startReceiver } from '../src/receiver/server.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import { serve, TOKEN } from './children.ts';

/**
 * One server of the intake measurement, as a separate process: `receiver` (ours, everything up to the 200), `bare` (a
 * Fastify that parses the body and responds), `append` (appends to a file, syncs, responds). `receiver` calls the room
 * `src/receiver/` directly, over a database and without the rest of the bot, whose work is not measured here.
 */

async function receiver(folder: string): Promise<string> {
  const { store } = await openSqlite(join(folder, 'bench.sqlite'), { clock: systemClock });
  const config = readConfig({ DISCORD_TOKEN: 'none', PORT: '0', RECEIVER_SOURCES: '127.0.0.1' });
  const { url } = await startReceiver({
    config,
    store,
    file: null,
    inbox: { wake: () => undefined },
    sourcesOf: () => config.networks[0]!.RECEIVER_SOURCES,
    scopeOf: indexTokens([{ token: TOKEN, scope: 0 }]),
    checkSignature: () => ({ status: 'unsigned' }),
    limits: quotaLimits(config),
    maxConnections: 10_000,
    syncMs: () => 0,
    count: { received: () => undefined, refused: () => undefined },
    clock: systemClock,
    log: pino({ level: 'silent' }),
  });
  return url;
}

async function bare(): Promise<string> {
  const app = fastify({ logger: false });
  app.post('/hooks/:token', async () => ({ ok: true }));
  return app.listen({ host: '127.0.0.1', port: 0 });
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

const servers: Record<string, (folder: string) => Promise<string>> = { receiver, bare, append };

if (import.meta.main) {
  serve({ url: await servers[process.argv[2] ?? '']!(process.env.BENCH_FOLDER!) });
}
