import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { timed } from '../slowness.ts';
import { addressOf, familyOf, follow, living, run } from './run.ts';

const { alerts, whales, treasury } = seed.harbor;

/** The last one to end may do so a moment after it was waited for. */
const gone = (family: number[]) => vi.waitFor(() => expect(living(family)).toEqual([]), { timeout: 120_000 });

describe('npm run sandbox', () => {
  it('shows an alert within 15 s', async () => {
    const took = await timed(async () => {
      const news = await follow(await addressOf(run('0')));
      await news.until(() => news.embeds(alerts).some(({ title }) => /^📥 Incoming · /.test(title ?? '')));
    });
    expect(took).toBeLessThan(15_000);
  });

  it('shows alerts of every kind, in and out, and bursts', async () => {
    const news = await follow(await addressOf(run('0')));
    const shows = (what: RegExp) => () => news.embeds(alerts).some((embed) => what.test(JSON.stringify(embed)));
    for (const what of [
      /Incoming · [\d.]+ `HUSD`/,
      /(Incoming|Internal move) · [\d.]+ `HARBOR`/,
      /A contract was involved/,
      /`Harbor Keys` #\d+/,
      /`Harbor Supplies` #\d+/,
      /(Outgoing|Internal move) · [\d.]+ `BELL`/,
    ])
      await news.until(shows(what));
    await news.until(() => news.embeds(whales).some(({ title }) => title?.includes('`BELL`')));
    await news.until(() => news.embeds(treasury).some(({ title }) => title?.startsWith('📤 Outgoing')));
    await news.until(() => news.messages(alerts).some(({ message }) => message.embeds.length >= 3));
  });

  it('is ended by Ctrl-C within 8 s and leaves nothing behind', async () => {
    const sandbox = run('0');
    const news = await follow(await addressOf(sandbox));
    await news.until(() => news.embeds(alerts).length > 2);
    const family = familyOf(sandbox.child.pid!);
    expect(family).toContain(news.world().bot.pid);
    expect(readdirSync(sandbox.temporary)).not.toEqual([]);
    const took = await timed(async () => {
      sandbox.child.kill('SIGINT');
      expect(await sandbox.ended).toBe(0);
    });
    expect(took).toBeLessThan(8_000);
    await gone(family);
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it.each([
    ['SIGINT', /services/],
    ['SIGTERM', /stand-in/],
    ['SIGHUP', /stand-in/],
  ] as const)('is ended by %s while it starts, and tells of nothing that failed for it', async (signal, said) => {
    const sandbox = run('0');
    await sandbox.printed(said);
    const family = familyOf(sandbox.child.pid!);
    sandbox.child.kill(signal);
    expect(await sandbox.ended).toBe(0);
    expect(sandbox.output()).toMatch(/^( {2}.*\n)+(\nStopping…\n)?$/);
    expect(living(family)).toEqual([]);
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it('takes its processes with it when it is killed', async () => {
    const sandbox = run('0');
    await addressOf(sandbox);
    const family = familyOf(sandbox.child.pid!);
    expect(family.length).toBeGreaterThan(1);
    sandbox.child.kill('SIGKILL');
    await sandbox.ended;
    await gone(family);
  });
});

it('says so where it can make no folder, and how to name another place', async () => {
  const sandbox = run('0', '/nowhere');
  expect(await sandbox.ended).toBe(1);
  expect(sandbox.output()).toMatch(/^No folder can be made in \/nowhere: ENOENT.* Name another one with TMPDIR\.\n$/);
});

describe('a port in use', () => {
  it('is told apart: by another sandbox', async () => {
    const url = await addressOf(run('0'));
    const second = run(new URL(url).port);
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`A sandbox runs already at ${url}`);
    expect(second.output()).toMatch(/SANDBOX_PORT=\d+ npm run sandbox/);
    expect(readdirSync(second.temporary)).toEqual([]);
  });

  it('is told apart: by another program', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const sandbox = run(String(port));
    expect(await sandbox.ended).toBe(1);
    expect(sandbox.output()).toContain(`Port ${port} is in use by another program.`);
  });

  it('must be a port', async () => {
    const sandbox = run('eighty');
    expect(await sandbox.ended).toBe(1);
    expect(sandbox.output()).toContain('SANDBOX_PORT is "eighty"; it must be a port number like 4321.');
  });
});

describe('the page’s address', () => {
  it('serves only its own page, and says what it may load', async () => {
    const url = await addressOf(run('0'));
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'/);
    const foreign = await fetch(`${url}/_sandbox/act`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
      body: JSON.stringify({ do: 'bot', what: 'kill' }),
    });
    expect(foreign.status).toBe(403);
  });

  it('refuses what cannot be done with a sentence', async () => {
    const url = await addressOf(run('0'));
    const wish = async (body: unknown) => {
      const answer = await fetch(`${url}/_sandbox/act`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [answer.status, ((await answer.json()) as { error: string }).error];
    };
    const transfer = { do: 'transfer', kind: 'erc20', from: 'Alice', to: 'Nobody' };
    expect(await wish(transfer)).toEqual([400, expect.stringContaining('There is no wallet "Nobody"')]);
    expect(await wish({ ...transfer, to: 'Bob', amount: '1.1234567' })).toEqual([
      400,
      expect.stringContaining('6 decimals'),
    ]);
    expect(await wish({ do: 'bot', what: 'start' })).toEqual([400, 'The bot is running already.']);
    expect(await wish({ do: 'dance' })).toEqual([400, expect.any(String)]);
  });
});
