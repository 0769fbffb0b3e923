import './node.js';
import { Command, InvalidArgumentError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { readBackupFolder, readConfig, readDatabaseFile, readDatabaseUrl } from './config.ts';
import { HOUR } from './domain/units.ts';
import { ConfigError, EX_CONFIG } from './errors.ts';
import type { DeadLetterCommand } from './operator/deadletters.ts';

/** The bot (`npm start`) and the operator's commands (`npm run ledgerbell`). Each loads its parts when it runs. */

const EXIT_CODES = `
Exit codes:
  0   done; of check: nothing is wrong
  1   failed, or used wrongly; of check: something is wrong
  75  of start: the process lost the lock of the working process, or Postgres; start it again
  78  wrong configuration, or a database error that a restart cannot fix`;

const print = (text: string) => void process.stdout.write(`${text}\n`);

const add = (parent: Command, usage: string, description: string, ...examples: string[]): Command =>
  withExamples(parent.command(usage).description(description), examples);

const withExamples = (command: Command, examples: string[]): Command =>
  command.addHelpText('after', ['\nExamples:', ...examples.map((line) => `  npm run ${line}`), EXIT_CODES].join('\n'));

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('It must be a number from 1 to 999999.');
  return Number(value);
}

const program = new Command('ledgerbell')
  .usage('<command>')
  .description(
    'Runs the bot, and does what operators do with it. All commands read the same environment and .env file.',
  )
  .version(packageJson.version)
  .showHelpAfterError();
withExamples(program, ['ledgerbell -- check', 'ledgerbell -- backup --help']);

add(program, 'start', 'run the bot until SIGTERM or Ctrl-C, as npm start does', 'ledgerbell -- start').action(
  async () => (await import('./start.ts')).start(),
);

add(
  program,
  'check',
  'check configuration, database, Discord, interfaces and receiver: a status and a fix for each',
  'ledgerbell -- check',
).action(async () => {
  const config = readConfig(process.env);
  const { checkAll, render } = await import('./operator/check.ts');
  const checks = await checkAll(config);
  print(render(checks));
  process.exitCode = checks.some(({ status }) => status === 'fault') ? 1 : 0;
});

const slashCommands = add(
  program,
  'commands',
  'slash commands: list them, or register them with Discord',
  'ledgerbell -- commands list',
  'ledgerbell -- commands register',
);
add(slashCommands, 'list', 'list all slash commands', 'ledgerbell -- commands list').action(async () =>
  print((await import('./operator/discord.ts')).listCommands()),
);
add(
  slashCommands,
  'register',
  'register them for every server, as each start of the bot does',
  'ledgerbell -- commands register',
).action(async () => print(await (await import('./operator/discord.ts')).register(readConfig(process.env))));

add(
  program,
  'backup',
  'make a verified copy of the database, also while the bot runs',
  'backup',
  'backup -- --to /mnt/elsewhere --keep 48',
  'backup -- /mnt/elsewhere/ledgerbell.sqlite',
)
  .argument('[file]', 'where the copy goes; it is compressed if the name ends in .zst')
  .option(
    '--to <folder>',
    'the folder for a compressed copy, named by the time; default: BACKUP_DIR, or backups/ next to the database',
  )
  .option('--keep <number>', 'delete all but the newest copies in that folder that were named by the time', wholeNumber)
  .action(async (file: string | undefined, { to, keep }: { to?: string; keep?: number }) => {
    const { backupTo } = await import('./operator/backup.ts');
    print(await backupTo(readDatabaseFile(process.env), { file, to, keep, usual: readBackupFolder(process.env) }));
  });

add(
  program,
  'restore',
  'restore a backup; stop the bot first',
  'restore -- data/backups/daily-2026-01-31T03-00-00-000Z.sqlite.zst',
)
  .argument('<backup>', 'the copy; the database that it replaces is kept next to it')
  .action(async (backup: string) => {
    const { restoreFrom } = await import('./operator/backup.ts');
    print(await restoreFrom(readDatabaseFile(process.env), backup));
  });

add(
  program,
  'move',
  'copy everything from one database to an empty one, such as from SQLite to Postgres; stop the bot first',
  'ledgerbell -- move --from sqlite:data/ledgerbell.sqlite --to postgres://ledgerbell@db.example/ledgerbell',
  'ledgerbell -- move --from postgres://ledgerbell@db.example/ledgerbell --to sqlite:data/back.sqlite',
)
  .requiredOption('--from <url>', 'the current DATABASE_URL')
  .requiredOption('--to <url>', 'the new one; it must be empty')
  .action(async ({ from, to }: { from: string; to: string }) => {
    const { move } = await import('./operator/move.ts');
    const { progressBar } = await import('./operator/terminal.ts');
    const bar = progressBar(process.stderr);
    const [source, target] = [readDatabaseUrl(from, '--from'), readDatabaseUrl(to, '--to')];
    print(await move(source, target, bar.draw).finally(bar.end));
  });

const deadLetters = add(
  program,
  'deadletters',
  'alerts that could not be sent (d1, d2, …) and deliveries that could not be read (q1, q2, …)',
  'deadletters -- show d12',
  'deadletters -- replay d12 q3',
);
const onDeadLetters = async (command: DeadLetterCommand, ids: string[] = []): Promise<void> => {
  const { runOn } = await import('./operator/deadletters.ts');
  print(await runOn(readDatabaseUrl(process.env.DATABASE_URL, 'DATABASE_URL'), command, ids));
};

add(deadLetters, 'list', 'list all of them', 'deadletters -- list').action(() => onDeadLetters('list'));
add(deadLetters, 'show', 'show one of them, with its bytes', 'deadletters -- show q3')
  .argument('<id>', 'an ID such as d12 or q3')
  .action((id: string) => onDeadLetters('show', [id]));
add(
  deadLetters,
  'replay',
  'retry these; a running bot does it within a minute',
  'deadletters -- replay d12 q3',
  'deadletters -- replay all',
)
  .argument('<ids...>', 'IDs such as d12 or q3, or: all')
  .action((ids: string[]) => onDeadLetters('replay', ids));
add(deadLetters, 'discard', 'delete these permanently', 'deadletters -- discard d12 q3')
  .argument('<ids...>', 'IDs; or: all (every delivery that could not be read)')
  .action((ids: string[]) => onDeadLetters('discard', ids));

// The database contains receiver tokens, so only this user may read the files that are created.
process.umask(0o077);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` stops early.
  if (error.code !== 'EPIPE') throw error;
});
// A command also waits for the clock's timers, which do not keep the process alive.
const whileWaiting = setInterval(() => {}, HOUR);
const given = process.argv.slice(2);
try {
  await program.parseAsync(given.length === 0 ? ['start'] : given, { from: 'user' });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EX_CONFIG : 1);
}
clearInterval(whileWaiting);
