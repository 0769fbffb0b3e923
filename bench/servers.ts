import { fdatasync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import fastify from 'fastify';
import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { systemClock } from '../src/domain/clock.ts';
import { createAcks } from '../src/receiver/acks.ts';
import { createAdmission } from '../src/receiver/admission.ts';
import { startReceiver } from '../src/receiver/start.ts';
import { indexTokens } from '../src/receiver/token-index.ts';
import { openStore } from '../src/store/sqlite/client.ts';
import { serve, TOKEN } from './children.ts';

/**
 * One server of the intake measurement, as a separate process: `receiver` (ours, everything up to the 200), `bare` (a
 * Fastify that parses the body and responds), `append` (appends to a file, syncs, responds). `receiver` calls the room
 * `src/receiver/` directly, over a database and without the rest of the bot, whose work is not measured here.
 */

async function receiver(folder: string): Promise<string> {
  const { store } = await openStore(join(folder, 'bench.sqlite'));
  const { url } = await startReceiver({
    config: readConfig({ DISCORD_TOKEN: 'none', PORT: '0', RECEIVER_SOURCES: '127.0.0.1' }),
    store,
    acks: createAcks(),
    admission: createAdmission(Date.now),
    scopeOf: indexTokens([{ token: TOKEN, scope: 0 }]),
    maxConnections: 10_000,
    now: Date.now,
    after: systemClock.after,
    log: pino({ level: 'silent' }),
    quotas: { admit: () => null, stored: () => undefined, diskFull: () => undefined },
    onStored: () => undefined,
    onResponseEnded: () => undefined,
    checkSignature: () => ({ status: 'unsigned' }),
    onBadSignature: () => undefined,
    onRefused: () => undefined,
    onReceived: () => undefined,
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
  const url = await servers[process.argv[2] ?? '']!(process.env.BENCH_FOLDER!);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  serve({ url }, (question) => {
    const loop = delay.percentile(99) / 1e6;
    if (question === 'reset') delay.reset();
    return { loop };
  });
}
