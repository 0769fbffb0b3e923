import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { AS_USER, startInVain, temporaryFile } from '../lifecycle/bot.ts';
import { openExistingStore } from '../store/sqlite/database-file.ts';
import { startUpstream } from '../upstream/server.ts';

it.each(['-wal', '-shm', '.lock'])(
  'exits with 78 and the name of a database’s file that this user may not write (%s)',
  async (end) => {
    const file = temporaryFile();
    openExistingStore(file).close();
    writeFileSync(file + end, '');
    chmodSync(file + end, 0o444);
    const { code, stderr } = await startInVain(file, {}, AS_USER);
    expect(code).toBe(78);
    expect(stderr).toContain(`'${file}${end}'`);
  },
);

it.each(['PORT', 'OPS_PORT'])('exits with 1 and makes no database when %s is in use', async (name) => {
  const server = await startUpstream(() => null);
  onTestFinished(server.close);
  const { port } = new URL(server.url);
  const file = temporaryFile();
  const { code, stderr } = await startInVain(file, { [name]: port });
  expect([code, existsSync(file)]).toEqual([1, false]);
  expect(stderr).toContain(`address already in use 127.0.0.1:${port}. Set another ${name} or `);
});

it('exits with 78 and the limit to raise when it may open too few files, and makes no database', async () => {
  const file = temporaryFile();
  const { code, stderr } = await startInVain(file, {}, ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh']);
  expect([code, existsSync(file)]).toEqual([78, false]);
  expect(stderr).toMatch(/^Ledgerbell cannot start: it may open 64 files and needs 256\. .*LimitNOFILE/);
});
