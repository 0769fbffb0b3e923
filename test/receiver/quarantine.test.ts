import { expect, it } from 'vitest';
import { createQuarantineLimit } from '../../src/receiver/quarantine.ts';
import type { Store } from '../../src/store/store.ts';
import { readLog } from '../app.ts';
import { quarantine } from '../store/contract/given.ts';
import { until } from '../until.ts';
import { OTHER_SCOPE, OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

const MIB = 1024 * 1024;

it.each([
  ['operator’s', 'deliveries', TOKEN, 0, 9_999, 1],
  ['operator’s', 'bytes', TOKEN, 0, 1, 50 * MIB - 1],
  ['server’s', 'deliveries', OTHER_TOKEN, OTHER_SCOPE, 999, 1],
  ['server’s', 'bytes', OTHER_TOKEN, OTHER_SCOPE, 1, 5 * MIB - 1],
])('closes the %s URL while its quarantine has too many %s', async (...given) => {
  const [, , token, scope, rows, bytes] = given;
  let measurements = 0;
  const receiver = await startReceiver({
    between: (store) => ({
      ...store,
      quarantine: { ...store.quarantine, sizes: () => store.quarantine.sizes().finally(() => measurements++) },
    }),
  });
  const add = (many: number, size: number) =>
    quarantine(receiver.store, Array<Buffer>(many).fill(Buffer.alloc(size)), scope);
  const post = async () => {
    const before = measurements;
    receiver.advance(60_000);
    await until('the quarantine is measured', () => measurements > before);
    return (await receiver.post(`/hooks/${token}`, 'x')).status;
  };
  await add(rows, bytes);
  expect(await post()).toBe(200);
  await add(1, 1);
  expect(await post()).toBe(503);
  // Other URLs stay open.
  const other = token === TOKEN ? OTHER_TOKEN : TOKEN;
  expect((await receiver.post(`/hooks/${other}`, 'x')).status).toBe(200);
  await receiver.store.quarantine.discard(1);
  expect(await post()).toBe(200);
});

it('logs once that a quarantine is full, and once that it has room', async () => {
  let bytes = 0;
  const logged: string[] = [];
  const sizes = async () => [{ scope: OTHER_SCOPE, rows: 1, bytes }];
  const { measure } = createQuarantineLimit(
    { quarantine: { sizes } as unknown as Store['quarantine'] },
    { quarantineFull: () => undefined },
    readLog('info', (line) => void logged.push(JSON.parse(line).msg)),
  );
  const logs: string[][] = [];
  for (bytes of [5 * MIB, 5 * MIB, 0, 0]) {
    await measure();
    logs.push(logged.splice(0));
  }
  expect(logs).toEqual([
    ['quarantine is full: rejecting deliveries'],
    [],
    ['quarantine has room: accepting deliveries again'],
    [],
  ]);
});
