import { pino } from 'pino';
import { Misconfigured, readConfig } from './config.ts';
import { serviceNames, startServices } from './start.ts';

// The receivers' tokens are in the state file, which is for this user alone.
process.umask(0o077);
const wanted = process.argv[2] ?? 'all';
const only = serviceNames.find((name) => name === wanted);
if (only === undefined && wanted !== 'all') refuse([`There is no service ${JSON.stringify(wanted)}`]);
const read = readConfig(process.env);
if (!read.ok) refuse(read.faults);
const { config } = read;

const log = pino({ level: config.LOG_LEVEL });
const services = await startServices({
  rpcUrl: config.RPC_URL,
  dir: config.DATA_DIR,
  projects: config.PROJECTS,
  host: config.HOST,
  port: config.PORT,
  nativeSymbol: config.NATIVE_SYMBOL,
  pollMs: config.POLL_MS,
  cataloged: config.CATALOGED,
  log,
  ...(only === undefined ? {} : { only }),
  ...(config.PROVIDERS_FILE === undefined ? {} : { providersFile: config.PROVIDERS_FILE }),
}).catch((error: Error & { code?: string; syscall?: string }) => {
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
if (only !== 'explorer' && only !== 'discovery' && config.PROJECTS.length === 0) {
  log.warn('PROJECTS is not set: nobody can manage webhooks');
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({ signal }, 'stopping');
    void services.close().then(() => process.exit(0));
  });
}

function refuse(faults: readonly string[]): never {
  process.stderr.write(
    `The services cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n` +
      `Usage: npm run services -- ${serviceNames.join('|')}|all, configured as services/README.md says.\n`,
  );
  process.exit(78);
}
