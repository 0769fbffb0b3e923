import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startInVain, temporaryFile } from '../lifecycle/bot.ts';
import { openExistingStore } from '../store/sqlite/database-file.ts';

it.each(['-wal', '-shm', '.lock'])(
  'exits with 78 and the name of a database’s file that this user may not write (%s)',
  async (end) => {
    const file = temporaryFile();
    openExistingStore(file).close();
    writeFileSync(file + end, '');
    chmodSync(file + end, 0o444);
    // Root may write everything, unless it gives up that right.
    const asUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    const { code, stderr } = await startInVain(file, {}, asUser);
    expect(code).toBe(78);
    expect(stderr).toContain(`'${file}${end}'`);
  },
);

it('makes no database when the port is in use or the host is not one of this machine', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const port = String((server.address() as AddressInfo).port);
  const [used, nowhere] = [temporaryFile(), temporaryFile()];
  const [first, second] = await Promise.all([
    startInVain(used, { OPS_PORT: port }),
    startInVain(nowhere, { HOST: '203.0.113.1' }),
  ]);
  expect([first.code, existsSync(used)]).toEqual([1, false]);
  expect(first.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  expect([second.code, existsSync(nowhere)]).toEqual([78, false]);
});

it('exits with 78 and the limit to raise when it may open too few files, and makes no database', async () => {
  const file = temporaryFile();
  const { code, stderr } = await startInVain(file, {}, ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh']);
  expect([code, existsSync(file)]).toEqual([78, false]);
  expect(stderr).toMatch(/^Ledgerbell cannot start: it may open 64 files and needs 256\. .*LimitNOFILE/);
});
