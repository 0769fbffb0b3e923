import './v8-options.ts';
import { Command, InvalidArgumentError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { readBackupFolder, readConfig, readDatabaseFile, readDatabaseUrl } from './config.ts';
import { ConfigError } from './errors.ts';
import { EX_CONFIG } from './exit.ts';
import { backupTo } from './operator/backup.ts';
import { discard, list, replay, show, withDeadLetters } from './operator/deadletters.ts';
import { onFile } from './operator/on-file.ts';
import { progressBar } from './operator/progress.ts';
import { restoreFrom } from './operator/restore.ts';

/** `npm run ledgerbell -- <command>`: what operators do with an installation. */

const databaseUrl = () => readDatabaseUrl(process.env.DATABASE_URL, 'DATABASE_URL');
const print = (text: string) => void process.stdout.write(`${text}\n`);
/** The text below the options in a command's `--help`. */
const examples = (...lines: string[]) => `
Examples:
${lines.map((line) => `  npm run ${line}`).join('\n')}

Exit codes:
  0   done; of check: nothing is wrong
  1   failed, or used wrongly; of check: something is wrong
  78  wrong configuration, or a database error that a restart cannot fix`;

/** Reads an option's value; throws an error for the terminal when it is not such a number. */
function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('It must be a number from 1 to 999999.');
  return Number(value);
}

const program = new Command('ledgerbell')
  .usage('<command>')
  .description('Commands for operators. They read the same environment and .env file as the bot.')
  .version(packageJson.version)
  .showHelpAfterError()
  .addHelpText('after', examples('ledgerbell -- check', 'ledgerbell -- backup --help'));

program
  .command('start')
  .description('run the bot until SIGTERM or Ctrl-C, without the options of npm start')
  .addHelpText('after', examples('ledgerbell -- start'))
  .action(async () => void (await import('./main.ts')));

program
  .command('check')
  .description('check configuration, database, Discord, interfaces and receiver: a status and a fix for each')
  .addHelpText('after', examples('ledgerbell -- check'))
  .action(async () => {
    const config = readConfig(process.env);
    const { checkAll, render } = await import('./operator/check.ts');
    const checks = await checkAll(config);
    print(render(checks));
    process.exitCode = checks.some(({ status }) => status === 'fault') ? 1 : 0;
  });

const slashCommands = program
  .command('commands')
  .description('slash commands: list them, or register them with Discord')
  .addHelpText('after', examples('ledgerbell -- commands list', 'ledgerbell -- commands register'));

slashCommands
  .command('list')
  .description('list all slash commands')
  .addHelpText('after', examples('ledgerbell -- commands list'))
  .action(async () => print((await import('./operator/commands.ts')).listCommands()));

slashCommands
  .command('register')
  .description('register them for every server, as each start of the bot does')
  .addHelpText('after', examples('ledgerbell -- commands register'))
  .action(async () => print(await (await import('./operator/commands.ts')).register(readConfig(process.env))));

program
  .command('backup')
  .description('make a verified copy of the database, also while the bot runs')
  .argument('[file]', 'where the copy goes; it is compressed if the name ends in .zst')
  .option(
    '--to <folder>',
    'the folder for a compressed copy, named by the time; default: BACKUP_DIR, or backups/ next to the database',
  )
  .option('--keep <number>', 'delete all but the newest copies in that folder that were named by the time', wholeNumber)
  .addHelpText(
    'after',
    examples('backup', 'backup -- --to /mnt/elsewhere --keep 48', 'backup -- /mnt/elsewhere/ledgerbell.sqlite'),
  )
  .action(async (target: string | undefined, { to, keep }: { to?: string; keep?: number }) => {
    const place = { file: target, to, keep, usual: readBackupFolder(process.env) };
    print(await onFile(readDatabaseFile(process.env), (file) => backupTo(file, place)));
  });

program
  .command('restore')
  .description('restore a backup; stop the bot first')
  .argument('<backup>', 'the copy; the database that it replaces is kept next to it')
  .addHelpText('after', examples('restore -- data/backups/daily-2026-01-31T03-00-00-000Z.sqlite.zst'))
  .action(async (backup: string) =>
    print(await onFile(readDatabaseFile(process.env), (file) => restoreFrom(file, backup))),
  );

program
  .command('move')
  .description('copy everything from one database to an empty one, such as from SQLite to Postgres; stop the bot first')
  .requiredOption('--from <url>', 'the current DATABASE_URL')
  .requiredOption('--to <url>', 'the new one; it must be empty')
  .addHelpText(
    'after',
    examples(
      'ledgerbell -- move --from sqlite:data/ledgerbell.sqlite --to postgres://ledgerbell@db.example/ledgerbell',
      'ledgerbell -- move --from postgres://ledgerbell@db.example/ledgerbell --to sqlite:data/back.sqlite',
    ),
  )
  .action(async ({ from, to }: { from: string; to: string }) => {
    const { move } = await import('./operator/move.ts');
    const bar = progressBar(process.stderr);
    const [source, target] = [readDatabaseUrl(from, '--from'), readDatabaseUrl(to, '--to')];
    print(await move(source, target, bar.draw).finally(bar.end));
  });

const deadLetters = program
  .command('deadletters')
  .description('alerts that could not be sent (d1, d2, …) and deliveries that could not be read (q1, q2, …)')
  .addHelpText('after', examples('deadletters -- show d12', 'deadletters -- replay d12 q3'));

deadLetters
  .command('list')
  .description('list all of them')
  .addHelpText('after', examples('deadletters -- list'))
  .action(async () => print(await withDeadLetters(databaseUrl(), list)));

deadLetters
  .command('show')
  .description('show one of them, with its bytes')
  .argument('<id>', 'an ID such as d12 or q3')
  .addHelpText('after', examples('deadletters -- show q3'))
  .action(async (id: string) => print(await withDeadLetters(databaseUrl(), (store) => show(store, id))));

deadLetters
  .command('replay')
  .description('retry these; a running bot does it within a minute')
  .argument('<ids...>', 'IDs such as d12 or q3, or: all')
  .addHelpText('after', examples('deadletters -- replay d12 q3', 'deadletters -- replay all'))
  .action(async (ids: string[]) => print(await withDeadLetters(databaseUrl(), (store) => replay(store, ids))));

deadLetters
  .command('discard')
  .description('delete these permanently')
  .argument('<ids...>', 'IDs; or: all (every delivery that could not be read); or: channel <channel ID>')
  .addHelpText('after', examples('deadletters -- discard d12 q3', 'deadletters -- discard channel 123456789012345678'))
  .action(async (ids: string[]) => print(await withDeadLetters(databaseUrl(), (store) => discard(store, ids))));

// A backup contains receiver tokens, so only this user may read it, as with the bot's own files.
process.umask(0o077);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` stops early.
  if (error.code !== 'EPIPE') throw error;
});
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof ConfigError ? EX_CONFIG : 1;
}
