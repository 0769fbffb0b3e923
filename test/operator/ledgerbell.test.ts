import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Discord } from '../../sandbox/discord/index.ts';
import { progressBar } from '../../src/operator/terminal.ts';
import { BARE_ENVIRONMENT, ledgerbell as runMain } from '../bare-environment.ts';
import { standIn } from '../discord-stand-in/bot.ts';
import { temporaryFolder } from '../folder.ts';
import { networksEnvironment } from '../networks-file.ts';
import { openStore } from '../store/sqlite/database-file.ts';
import { startUpstream } from '../upstream/server.ts';

let directory: string;
let file: string;
let discord: Discord;

beforeEach(async () => {
  directory = temporaryFolder();
  file = join(directory, 'bot.sqlite');
  discord = await standIn();
});

const ledgerbell = (args: string[], environment: Record<string, string> = {}) =>
  runMain(args, {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DATABASE_URL: `sqlite:${file}`,
    ...environment,
  });

async function helpOfAll(path: string[]): Promise<[string, string][]> {
  const { code, stdout } = await ledgerbell([...path, '--help']);
  expect(code).toBe(0);
  const listed = stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const below = [...listed.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!).filter((name) => name !== 'help');
  const helps = await Promise.all(below.map((name) => helpOfAll([...path, name])));
  return [[path.join(' '), stdout], ...helps.flat()];
}

async function startServer(status: number, body: string): Promise<string> {
  const { url, close } = await startUpstream(() => ({ status, body }));
  onTestFinished(close);
  return url;
}

describe('ledgerbell check', () => {
  it('exits with 0 and prints the invitation when Discord takes the token and nothing is wrong', async () => {
    await (await openStore(file)).close();
    const prices = await startServer(200, '{"coins":{}}');
    const { code, stdout } = await ledgerbell(['check'], { PRICES_URL: prices, PRICES_CHAIN: 'test' });
    expect(stdout).toMatch(/\n! Prices +it has no current price for the coin of test\n +→ Check PRICES_CHAIN/);
    expect(stdout).toMatch(/✔ Database +\S+bot\.sqlite, .* schema \d+, no damage found, no bot runs on it\n/);
    expect(stdout).toMatch(/✔ Discord .*Invitation: https:\/\/discord\.com\/oauth2\/authorize\?client_id=\d+&/);
    expect(stdout).toMatch(/\n– Explorer +off: EXPLORER_API_URL is not set\n/);
    expect(stdout).toMatch(/\nNothing is wrong\.\n$/);
    expect(code).toBe(0);
  });

  it('exits with 1 and names the variable when Discord refuses the token', async () => {
    const { code, stdout } = await ledgerbell(['check'], { DISCORD_TOKEN: 'a-token-that-is-wrong' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✖ Discord +Discord refuses the token\n +→ Set DISCORD_TOKEN/);
    expect(stdout).not.toContain('a-token-that-is-wrong');
  });

  it('checks each network of the file by its name, and names the fields of the file', async () => {
    await (await openStore(file)).close();
    const page = await startServer(200, '<html>Welcome</html>');
    const { NETWORKS_FILE: networks } = networksEnvironment([
      { name: 'fuse', chainId: 122 },
      { name: 'base', chainId: 8453, explorerApiUrl: page },
    ]);
    const { code, stdout } = await ledgerbell(['check'], { NETWORKS_FILE: networks! });
    expect(stdout).toMatch(/\n– Explorer of fuse +off: explorerApiUrl is not set\n/);
    expect(stdout).toMatch(/\n✖ Explorer of base .*\n +→ Check explorerApiUrl/);
    expect(code).toBe(1);
  });

  it('reports a damaged database and what to do', async () => {
    writeFileSync(file, 'This is no database.');
    const { code, stdout } = await ledgerbell(['check']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✖ Database .* is damaged: .*\n +→ .* npm run restore -- /);
  });

  it('warns about a disk that does not report its free space, and still prints the other results', async () => {
    await (await openStore(file)).close();
    const preload = `
      import promises from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      promises.statfs = async () => { throw new Error('ENOSYS'); };
      syncBuiltinESMExports();`;
    const hook = `data:text/javascript,${encodeURIComponent(preload)}`;
    const { code, stdout } = await ledgerbell(['check'], { NODE_OPTIONS: `--import ${hook}` });
    expect(stdout).toMatch(/! Database .* no damage found, .*\n +→ The disk does not report its free space/);
    expect(stdout).toMatch(/✔ Discord /);
    expect(code).toBe(0);
  });

  it('distinguishes a refused key, a page instead of an interface, and a foreign program at the public address', async () => {
    const page = await startServer(200, '<html>Welcome</html>');
    const { code, stdout } = await ledgerbell(['check'], {
      NOTIFICATION_URL: await startServer(401, '{"error":"Unauthorized"}'),
      NOTIFICATION_PROJECT_ID: 'project',
      NOTIFICATION_API_KEY: 'key-of-the-test',
      NOTIFICATION_API_SECRET: 'secret-of-the-test',
      EXPLORER_API_URL: page,
      DISCOVERY_URL: await startServer(500, ''),
      RPC_URL: `${page}/key-of-the-test,${await startServer(200, '{"result":"0x7"}')}`,
      PRICES_URL: `${page}/key-of-the-test`,
      PRICES_CHAIN: 'test',
      PUBLIC_URL: page,
    });
    expect(stdout).toMatch(/✖ Notification +it refuses the key\n +→ Check NOTIFICATION_PROJECT_ID/);
    expect(stdout).toMatch(/✖ Explorer +its response is not one of this interface\n +→ Check EXPLORER_API_URL/);
    expect(stdout).toMatch(/✖ Discovery +it does not list its categories\n +→ Check DISCOVERY_URL/);
    expect(stdout).toMatch(
      /✖ Chain +node 1 .* eth_chainId: away; node 2 .* eth_getBlockByNumber: refused\n +→ Check RPC_URL/,
    );
    expect(stdout).toMatch(/✖ Prices +its response is not one of this interface\n +→ Check PRICES_URL/);
    expect(stdout).toMatch(/✖ Receiver +something else responds at http/);
    expect(stdout).toMatch(/\n6 of 9 checks failed\.\n$/);
    expect(stdout).not.toMatch(/key-of-the-test|secret-of-the-test/);
    expect(code).toBe(1);
  });

  it('exits with 78 and names every fault when the configuration is wrong', async () => {
    const { code, stderr } = await ledgerbell(['check'], { DISCORD_TOKEN: '', PORT: 'http' });
    expect(stderr).toMatch(/DISCORD_TOKEN: required[\s\S]*PORT: must be a port number/);
    expect(code).toBe(78);
  });
});

describe('ledgerbell commands', () => {
  it('registers the slash commands once, and reports when Discord already has them', async () => {
    const { code, stdout } = await ledgerbell(['commands', 'register']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Registered \d+ commands for /)]);
    expect((await ledgerbell(['commands', 'register'])).stdout).toMatch(/ already has these \d+ commands\.\n$/);
  });

  it('shows what to do when Discord refuses the token or cannot be reached', async () => {
    const refused = await ledgerbell(['commands', 'register'], { DISCORD_TOKEN: 'a-token-that-is-wrong' });
    const wrong = 'Discord refuses the token. Set DISCORD_TOKEN to the bot token from the Discord developer portal.\n';
    expect(refused).toEqual({ code: 1, stdout: '', stderr: wrong });
    const away = await ledgerbell(['commands', 'register'], { DISCORD_API_URL: 'http://127.0.0.1:1/api' });
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/ECONNREFUSED.*\. Check that this machine reaches DISCORD_API_URL\.\n$/);
  });

  it('lists all slash commands', async () => {
    const { stdout } = await ledgerbell(['commands', 'list']);
    expect(stdout).toMatch(/^\/subscription +\S/m);
  });
});

describe('ledgerbell', () => {
  it('shows an example and the exit codes in the help of every command and subcommand', async () => {
    const helps = await helpOfAll([]);
    expect(helps.map(([name]) => name)).toEqual(expect.arrayContaining(['', 'start', 'backup', 'deadletters replay']));
    for (const [name, help] of helps) {
      expect(help, name).toMatch(/^Usage: ledgerbell/);
      expect(help, name).toMatch(new RegExp(`\nExamples:\n  npm run .*${name.split(' ').at(-1)}`));
      expect(help, name).toMatch(
        /\nExit codes:\n {2}0 {3}done.*\n {2}1 {3}failed.*\n(?: {2}75 {2}.*\n)? {2}78 {2}wrong configuration/,
      );
    }
  });

  it('begins its help with the usage, as npm runs it, and reads .env if there is one', async () => {
    const script = packageJson.scripts.ledgerbell.replace('src/', `${resolve('src')}/`);
    const env = { ...BARE_ENVIRONMENT, PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}` };
    const run = (args: string) =>
      promisify(execFile)('sh', ['-c', `${script} ${args}`], { cwd: directory, env }).catch((error: object) => error);
    for (const args of ['', '--help'])
      expect(await run(args)).toMatchObject({ stdout: expect.stringMatching(/^Usage: ledgerbell/), stderr: '' });
    writeFileSync(join(directory, '.env'), 'PORT=http\n');
    expect(await run('check')).toMatchObject({ code: 78, stderr: expect.stringContaining('PORT: must be a port') });
  });

  it('fails on a command that does not exist', async () => {
    expect(await ledgerbell(['bakcup'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: unknown command 'bakcup'\n\(Did you mean backup\?\)/),
    });
  });
});

describe('ledgerbell move', () => {
  it('copies a stopped bot’s data into an empty database, and refuses one that is not empty', async () => {
    const { store, close } = await openStore(file);
    await store.projects.addToken('token', 0);
    await close();
    const target = `sqlite:${join(directory, 'new.sqlite')}`;
    const first = await ledgerbell(['move', '--from', `sqlite:${file}`, '--to', target]);
    expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Moved 1 row in \d+ tables/) });
    const moved = await openStore(join(directory, 'new.sqlite'));
    expect(await moved.store.projects.tokens()).toMatchObject([{ token: 'token', scope: 0, retiring: false }]);
    await moved.close();
    const again = await ledgerbell(['move', '--from', `sqlite:${file}`, '--to', target]);
    const refusal = expect.stringContaining('is not empty: receiver_tokens');
    expect(again).toEqual({ code: 1, stdout: '', stderr: refusal });
  });

  it('exits with 78 when a URL is wrong, and never prints a password', async () => {
    const { code, stderr } = await ledgerbell(['move', '--from', `sqlite:${file}`, '--to', 'mysql://x']);
    expect([code, stderr]).toEqual([78, expect.stringMatching(/^--to: must be sqlite: and a path, like/)]);
    const away = await ledgerbell(['move', '--from', 'postgres://a:hidden@127.0.0.1:1/x', '--to', `sqlite:${file}`]);
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/^The database cannot be reached: .*127\.0\.0\.1:1/);
    expect(away.stderr).not.toContain('hidden');
  });
});

it('draws progress in a terminal, and nothing elsewhere', () => {
  const drawn: string[] = [];
  const bar = progressBar({ isTTY: true, columns: 60, write: (text) => drawn.push(text) });
  const silent = progressBar({ write: () => expect.unreachable() });
  for (const one of [bar, silent]) for (const done of [1, 2]) one.draw(done, 2, 'heads');
  bar.end();
  expect(drawn.at(-2)).toMatch(/█{24}\] 100 % {2}heads$/);
  expect(drawn.at(-1)).toBe('\r\x1b[K');
});
