import '../services/v8-options.ts';
import { Command } from 'commander';
import { SECOND } from '../src/domain/clock.ts';
import { listenForPage } from './page/server.ts';
import { Abandoned, type SandboxOptions, startSandbox } from './start.ts';

const DEFAULT_PORT = 4321;
/** The process exits after this time even if a part hangs. */
const STOP_MS = 7 * SECOND;
const PARENT_POLL_MS = 500;

const parts = new AsyncDisposableStack();
let starting: Promise<unknown> | undefined;
let stopping: Promise<void> | undefined;

function stop(code: number): Promise<void> {
  stopping ??= (async () => {
    setTimeout(() => process.exit(code), STOP_MS).unref();
    await parts.disposeAsync().catch((error: unknown) => console.error(`While stopping: ${String(error)}`));
    // A part that was still starting closes itself.
    await starting?.catch(() => undefined);
  })();
  return stopping;
}

function readPort(): number {
  const text = process.env.SANDBOX_PORT?.trim() || String(DEFAULT_PORT);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`SANDBOX_PORT is "${text}". It must be a port number like ${DEFAULT_PORT}.`);
}

/** npm forwards signals, but when it is killed itself, nothing would stop this process. */
function stopWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void stop(1).then(() => process.exit(1));
  }, PARENT_POLL_MS).unref();
}

async function main(options: SandboxOptions): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (stopping === undefined && signal === 'SIGINT') console.log('\nStopping…');
      void stop(0).then(() => process.exit(0));
    });
  if (process.env.npm_lifecycle_event === 'sandbox') stopWithParent();
  const began = Date.now();
  const page = parts.adopt(await listenForPage(readPort()), (it) => it.close());
  const start = startSandbox({ parts, print: (line) => console.log(`  ${line}`) }, options);
  starting = start;
  const sandbox = await start;
  page.show(sandbox);
  console.log(`\nReady after ${((Date.now() - began) / 1_000).toFixed(1)} s. Open this in a browser:\n`);
  console.log(`  ${page.url}\n\nCtrl-C stops everything.`);
}

const program = new Command('npm run sandbox --')
  .description('the whole product in your browser, with no account')
  .option('--postgres', 'run the bot on a real Postgres instead of an SQLite file')
  .option('--inspect', 'let a debugger attach to the bot, at 127.0.0.1:9229')
  .showHelpAfterError()
  .allowExcessArguments(false)
  .parse();

main(program.opts<SandboxOptions>()).catch(async (error: unknown) => {
  // Ctrl-C also interrupts parts that are starting. Their errors add nothing, and some arrive just before the signal.
  await new Promise(setImmediate);
  if (error instanceof Abandoned || stopping !== undefined) return stop(0);
  console.error(error instanceof Error ? error.message : String(error));
  await stop(1);
  process.exit(1);
});
