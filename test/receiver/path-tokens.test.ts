import { expect, it, vi } from 'vitest';
import { openPathTokens } from '../../src/receiver/path-tokens.ts';
import type { Store } from '../../src/store/store.ts';
import { storeForTest } from '../store/sqlite/reused.ts';
import { inTime } from '../until.ts';
import { head, startReceiver, TOKEN } from './harness.ts';

const HOOK = `/hooks/${TOKEN}`;
const MIB = 1024 * 1024;

it('finds a path token without comparing characters, however many there are, and only in full', async () => {
  const read = vi.fn();
  const tokens = Array.from({ length: 10_000 }, (_, index) => ({
    scope: index + 1,
    network: 0,
    retiring: false,
    get token() {
      read();
      return `the-token-of-scope-${index + 1}`;
    },
  }));
  const projects = { tokens: async () => tokens } as unknown as Store['projects'];
  const { scopeOf } = await openPathTokens({ store: { projects }, fixed: new Map() });
  expect(read).toHaveBeenCalledTimes(tokens.length);
  const given = [
    'the-token-of-scope-1',
    'the-token-of-scope-10000',
    'the-token-of-scope-',
    'the-token-of-scope-100000',
    '',
  ];
  expect(given.map(scopeOf)).toEqual([1, 10_000, null, null, null]);
  expect(read).toHaveBeenCalledTimes(tokens.length);
});

it('logs no path token, whatever goes wrong', async () => {
  const receiver = await startReceiver({
    environment: { RECEIVER_SOURCE_CHECK: 'report', RECEIVER_SOURCES: '203.0.113.7' },
  });
  await receiver.post(`${HOOK}?apiKey=a-key-in-a-query`, 'x');
  await receiver.post(`${HOOK}/more`, 'x');
  await receiver.post(HOOK, 'x'.repeat(MIB + 1)).catch(() => undefined);
  for (const method of ['DELETE', 'GET']) await receiver.post(HOOK, '', { method }).catch(() => undefined);
  for (const bytes of [`${head(100)}half`, `${head(3)}four`, `POST ${HOOK} HTTP/9.9\r\n\r\n`]) {
    const socket = await receiver.open();
    socket.resume();
    socket.end(bytes);
    await inTime('the receiver closes the connection', new Promise((resolve) => socket.once('close', resolve)));
  }
  receiver.stopAdmitting();
  await receiver.post(HOOK, 'x');
  expect((await receiver.refused()).length).toBeGreaterThan(3);
  expect(receiver.logged.join('')).not.toMatch(new RegExp(`${TOKEN}|a-key-in-a-query`));
});

it('accepts no URL again that was revoked while the tokens were being read', async () => {
  const { projects } = await storeForTest();
  const wait = { reading: Promise.resolve() };
  const tokens = async () => {
    const { reading } = wait;
    const read = await projects.tokens();
    await reading;
    return read;
  };
  const paths = await openPathTokens({
    store: { projects: { ...projects, tokens } },
    fixed: new Map([[0, undefined]]),
  });
  const retiring = paths.urls(0, '').current!.replace('/hooks/', '');
  expect([await paths.rotate(0), paths.scopeOf(retiring)]).toEqual([true, 0]);

  const slow = Promise.withResolvers<void>();
  wait.reading = slow.promise;
  const reread = paths.refresh();
  wait.reading = Promise.resolve();
  expect(await paths.revoke(0)).toBe(true);
  slow.resolve();
  await reread;
  expect(paths.scopeOf(retiring)).toBeNull();
});
