#!/usr/bin/env node
import './v8-options.ts';
import type { ChainOptions } from './start.ts';

// A signal ends the start cleanly, even while the modules load, which takes longest.
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort(signal));
const { pino } = await import('pino');
const { followProjects, Misconfigured, readChainsFile, readConfig } = await import('./config.ts');
const { SERVICE_NAMES, startServices } = await import('./start.ts');
if (stopping.signal.aborted) process.exit(0);

// The state file holds receivers' tokens, so only this user may read it.
process.umask(0o077);
const [wanted = 'all', ...more] = process.argv.slice(2);
const only = SERVICE_NAMES.find((name) => name === wanted);
if (only === undefined && wanted !== 'all') refuse([`There is no service ${JSON.stringify(wanted)}`]);
if (more.length > 0) refuse([`More than one argument: ${process.argv.slice(2).join(' ')}`]);
const read = readConfig(process.env);
if (!read.ok) refuse(read.faults);
const { config } = read;

const log = pino({ level: config.LOG_LEVEL });
const projects = orRefuse(() =>
  config.PROJECTS_FILE === undefined
    ? { list: () => config.PROJECTS, stop: () => {} }
    : followProjects(config.PROJECTS_FILE, config.PROJECTS, log),
);
const services = await startServices({
  chains: orRefuse(chains),
  dir: config.DATA_DIR,
  projects: projects.list,
  webhookAllow: config.WEBHOOK_ALLOW,
  strict: config.STRICT === '1',
  host: config.HOST,
  port: config.PORT,
  pollMs: config.POLL_MS,
  log,
  signal: stopping.signal,
  only,
  providersFile: config.PROVIDERS_FILE,
}).catch((error: Error & { code?: string; syscall?: string }) => {
  if (stopping.signal.aborted) process.exit(0);
  if (error instanceof Misconfigured) refuse([error.message]);
  if (error.code === 'SQLITE_CORRUPT') refuse([`DATA_DIR ${config.DATA_DIR} holds a broken file: ${error.message}`]);
  if (error.code === 'EADDRINUSE') {
    process.stderr.write(`Port ${config.PORT} is in use. Stop what listens there, or set PORT to another one.\n`);
  } else if (error.syscall === 'listen' || error.syscall === 'getaddrinfo') {
    refuse([`HOST ${config.HOST} and PORT ${config.PORT} must be an address of this machine: ${error.message}`]);
  } else process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
log.info({ url: services.url }, 'listening');
if (only !== 'explorer' && only !== 'discovery' && projects.list().length === 0) {
  log.warn('PROJECTS is not set: nobody can manage webhooks');
}

if (stopping.signal.aborted) stop();
else stopping.signal.addEventListener('abort', stop);

function stop(): void {
  log.info({ signal: stopping.signal.reason as unknown }, 'stopping');
  projects.stop();
  void services.close().then(() => process.exit(0));
}

function chains(): ChainOptions[] {
  const { RPC_URL = [], RPC_TRACE_URL = [], CHAINS_FILE } = config;
  if (CHAINS_FILE !== undefined) {
    return readChainsFile(CHAINS_FILE).map(({ rpc, ws, ...chain }) => ({ ...chain, nodes: rpc, wsUrl: ws }));
  }
  return [
    {
      nodes: [...RPC_URL.map((url) => ({ url })), ...RPC_TRACE_URL.map((url) => ({ url, tracesOnly: true }))],
      nativeSymbol: config.NATIVE_SYMBOL,
      cataloged: config.CATALOGED,
      batch: config.RPC_BATCH,
      agreement: config.RPC_AGREEMENT,
      perSecond: config.RPC_RATE,
      wsUrl: config.RPC_WS_URL,
    },
  ];
}

function orRefuse<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof Misconfigured) refuse([error.message]);
    throw error;
  }
}

function refuse(faults: readonly string[]): never {
  process.stderr.write(
    `The services cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n` +
      `Usage: npm run services -- ${SERVICE_NAMES.join('|')}|all (installed as a package: npx ledgerbell-services …).\n` +
      'The README of the services explains each variable.\n',
  );
  process.exit(78);
}
