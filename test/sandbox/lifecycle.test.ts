import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { plain, shownIn } from '../discord/shown.ts';
import { listen } from '../listen.ts';
import { isPostgresMissing } from '../store/postgres/server.ts';
import { act, addressOf, familyOf, follow, living, run, sharedSandbox } from './run.ts';

const { alerts, whales, treasury } = seed.harbor;
const shared = sharedSandbox();

/** The last process may end a moment after the sandbox's exit. */
const gone = (family: number[]) =>
  expect.poll(() => living(family), { message: 'processes that are left', timeout: 120_000 }).toEqual([]);

describe('npm run sandbox', () => {
  it('starts the sandbox without everyday transfers, and shows alerts of every kind once they are on', async () => {
    const url = await addressOf(run('0'));
    const news = await follow(url);
    expect(news.world().traffic).toBe(false);
    await act(url, { do: 'traffic', on: true });
    const shows = (what: RegExp) => () => news.shown(alerts).some(({ text }) => what.test(plain(text)));
    for (const what of [
      /^📥 Treasury \+[\d.,]+ HUSD/,
      /^(📥|🔁) .*[\d.]+ HARBOR/,
      /Harbor Keys #\d+/,
      /Harbor Supplies #\d+/,
      /^(📤|🔁) .*[\d.]+ BELL/,
    ])
      await news.until(`#alerts shows ${what}`, shows(what));
    await news.until('#whales shows BELL', () => news.shown(whales).some(({ title }) => title.includes('BELL')));
    await news.until('#treasury shows an outgoing transfer', () =>
      news.shown(treasury).some(({ title }) => title.startsWith('📤')),
    );
    await news.until('a message in #alerts shows 3 alerts', () =>
      news.messages(alerts).some(({ message }) => shownIn(message).length >= 3),
    );
  });

  it('starts a second network when it is asked for, with events, sends and faults of its own', async () => {
    const url = await addressOf(run('0'));
    const news = await follow(url);
    expect(news.world().second).toBeNull();
    const transfer = { do: 'transfer', kind: 'erc20', from: 'Alice', to: 'Treasury' };
    expect(await act(url, { ...transfer, network: 1 })).toEqual([400, 'There is no second network yet.']);
    expect(await act(url, { do: 'second-network' })).toEqual([200, expect.stringContaining('Cove Chain is running')]);
    await act(url, { do: 'notification', network: 1, faults: { paused: true } });
    const paused = () => {
      const { notification, second } = news.world();
      return [notification.paused, second !== null && second !== 'starting' && second.notification.paused];
    };
    await news.until('the second service is paused', () => paused()[1] === true);
    expect(paused()).toEqual([false, true]);
    await act(url, { ...transfer, network: 1 });
    await act(url, transfer);
    const from = (chain: string) => () => news.shown(alerts).some(({ text }) => text.includes(chain));
    await news.until('the first network’s transfer is posted', from('Harbor Chain'));
    expect(from('Cove Chain')()).toBe(false);
    await act(url, { do: 'notification', network: 1, faults: { paused: false } });
    await news.until('the second network’s transfer is posted', from('Cove Chain'));
  });

  it('counts lost events that the bot found on the chain, and invented ones that it marked', async () => {
    const url = await addressOf(run('0'));
    const news = await follow(url);
    await act(url, { do: 'notification', faults: { lose: true, invent: true } });
    for (const from of ['Alice', 'Bob', 'Carol'])
      await act(url, { do: 'transfer', kind: 'native', from, to: 'Treasury' });
    const alertsWith = (mark: string) => news.shown(alerts).filter(({ text }) => plain(text).includes(mark)).length;
    await news.until('the bot found three transfers and marked one', () => {
      const { found, marked } = news.world();
      return found === 3 && marked === 1;
    });
    await news.until('#alerts shows three found transfers', () => alertsWith('Found on the chain') === 3);
    await news.until('#alerts shows a marked one', () => alertsWith('The chain does not have this transfer') === 1);
    expect(news.shown(alerts).filter(({ title }) => title.startsWith('📥 Treasury'))).toHaveLength(4);
  });

  it.skipIf(isPostgresMissing())(
    'runs the bot on a Postgres of its own with --postgres, and removes it when it stops',
    async () => {
      const temporary = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
      // Postgres does not run as root, and another user has to get in.
      chmodSync(temporary, 0o755);
      const sandbox = run('0', temporary, ['--postgres']);
      const url = await addressOf(sandbox);
      expect(sandbox.output()).toMatch(/^ {2}database {3}PostgreSQL \d+/m);
      const news = await follow(url);
      await act(url, { do: 'transfer', kind: 'erc20', from: 'Alice', to: 'Treasury' });
      await news.until('the transfer is posted in #alerts', () =>
        news.shown(alerts).some(({ title }) => /^📥 Treasury \+/.test(title)),
      );
      const family = familyOf(sandbox.child.pid!);
      sandbox.child.kill('SIGINT');
      expect(await sandbox.ended()).toBe(0);
      await gone(family);
      expect(readdirSync(temporary)).toEqual([]);
    },
  );

  it('stops the sandbox at Ctrl-C and leaves no process and no file behind', async () => {
    const sandbox = run('0');
    const url = await addressOf(sandbox);
    const news = await follow(url);
    await act(url, { do: 'burst', count: 5 });
    await news.until('#alerts shows 3 alerts', () => news.shown(alerts).length > 2);
    const family = familyOf(sandbox.child.pid!);
    expect(family).toContain(news.world().bot.pid);
    expect(readdirSync(sandbox.temporary)).not.toEqual([]);
    sandbox.child.kill('SIGINT');
    expect(await sandbox.ended()).toBe(0);
    await gone(family);
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it.each([
    ['SIGINT', /services/],
    ['SIGTERM', /stand-in/],
    ['SIGHUP', /stand-in/],
  ] as const)('stops the sandbox on %s during its start without reporting errors', async (signal, line) => {
    const sandbox = run('0');
    await sandbox.printed(line);
    const family = familyOf(sandbox.child.pid!);
    sandbox.child.kill(signal);
    expect(await sandbox.ended()).toBe(0);
    expect(sandbox.output()).toMatch(/^( {2}.*\n)+(\nStopping…\n)?$/);
    await gone(family);
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it('leaves no process behind when the sandbox is killed', async () => {
    const sandbox = run('0');
    await addressOf(sandbox);
    const family = familyOf(sandbox.child.pid!);
    expect(family.length).toBeGreaterThan(1);
    sandbox.child.kill('SIGKILL');
    await sandbox.ended();
    await gone(family);
  });
});

it.each([
  ['an unknown argument', ['0', undefined, ['--postgresql']], /unknown option '--postgresql'/],
  ['a SANDBOX_PORT that is no port', ['eighty'], /SANDBOX_PORT is "eighty"\. It must be a port number like 4321\./],
  [
    'a TMPDIR in which it cannot create a folder',
    ['0', '/nowhere'],
    /^Cannot create .* Set TMPDIR to another place\.\n$/,
  ],
] as [string, Parameters<typeof run>, RegExp][])('refuses %s with a sentence', async (_, args, sentence) => {
  const sandbox = run(...args);
  expect(await sandbox.ended()).toBe(1);
  expect(sandbox.output()).toMatch(sentence);
});

describe('a port that is in use', () => {
  it('reports that another sandbox uses the port, and suggests another one', async () => {
    const url = await shared();
    const second = run(new URL(url).port);
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain(`A sandbox is already running at ${url}`);
    expect(second.output()).toMatch(/SANDBOX_PORT=\d+ npm run sandbox/);
    expect(readdirSync(second.temporary)).toEqual([]);
  });

  it('reports that another program uses the port', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    const port = await listen(server);
    onTestFinished(() => void server.close());
    const sandbox = run(String(port));
    expect(await sandbox.ended()).toBe(1);
    expect(sandbox.output()).toContain(`Port ${port} is in use by another program.`);
  });
});

describe('the page’s address', () => {
  it('serves the page with a content security policy and refuses requests of other sites', async () => {
    const url = await shared();
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'/);
    const foreign = await fetch(`${url}/_sandbox/act`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
      body: JSON.stringify({ do: 'bot', what: 'kill' }),
    });
    expect(foreign.status).toBe(403);
    // A foreign site whose name leads to this machine now.
    for (const path of ['/', '/_sandbox/events']) {
      const { statusCode, body } = await request(`${url}${path}`, { headers: { host: 'evil.example' } });
      await body.dump();
      expect([path, statusCode]).toEqual([path, 403]);
    }
  });

  it('refuses an impossible action with a sentence', async () => {
    const url = await shared();
    const transfer = { do: 'transfer', kind: 'erc20', from: 'Alice', to: 'Nobody' };
    expect(await act(url, transfer)).toEqual([400, expect.stringContaining('There is no wallet "Nobody"')]);
    const precise = { ...transfer, to: 'Bob', amount: '1.1234567' };
    expect(await act(url, precise)).toEqual([400, expect.stringContaining('6 decimals')]);
    expect(await act(url, { do: 'bot', what: 'start' })).toEqual([400, 'The bot is already running.']);
    expect(await act(url, { do: 'dance' })).toEqual([400, expect.any(String)]);
  });
});
