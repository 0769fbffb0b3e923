import { expect, it, vi } from 'vitest';
import { indexTokens } from '../../src/receiver/token-index.ts';
import { inTime } from '../until.ts';
import { head, startReceiver, TOKEN } from './harness.ts';

const HOOK = `/hooks/${TOKEN}`;
const MIB = 1024 * 1024;

it('finds a path token without comparing characters, however many there are, and only in full', async () => {
  const read = vi.fn();
  const tokens = Array.from({ length: 10_000 }, (_, scope) => ({
    scope,
    get token() {
      read();
      return `the-token-of-scope-${scope}`;
    },
  }));
  const scopeOf = indexTokens(tokens);
  expect(read).toHaveBeenCalledTimes(tokens.length);
  const given = [
    'the-token-of-scope-0',
    'the-token-of-scope-9999',
    'the-token-of-scope-',
    'the-token-of-scope-99999',
    '',
  ];
  expect(given.map(scopeOf)).toEqual([0, 9_999, null, null, null]);
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
  receiver.intake.stopAdmitting();
  await receiver.post(HOOK, 'x');
  expect((await receiver.refused()).length).toBeGreaterThan(3);
  expect(receiver.logged.join('')).not.toMatch(new RegExp(`${TOKEN}|a-key-in-a-query`));
});
