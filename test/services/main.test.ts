import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startChain } from '../../sandbox/chain/index.ts';
import { openStore } from '../../services/notification/store/index.ts';
import { folderOfFile } from '../folder.ts';
import { forFile } from '../for-file.ts';
import { inTime } from '../until.ts';
import { HARBOR } from './harness.ts';
import { launchServices, startProcess } from './process.ts';
import { startReceiver } from './receiver.ts';

const folder = folderOfFile();
const chain = await forFile(startChain());

/** How services end that do not start. */
const ended = (environment: Record<string, string>, ...args: string[]) =>
  launchServices({ RPC_URL: chain.rpcUrl, PORT: '0', ...environment }, { args }).ended();

const start = (environment: Record<string, string> = {}) =>
  startProcess({ RPC_URL: chain.rpcUrl, DATA_DIR: folder, ...environment });

it('names every fault and exits with 78 without configuration', async () => {
  const { code, stderr } = await ended({
    RPC_URL: '',
    PORT: 'none',
    RPC_RATE: '0.5',
    PROJECTS: 'harbor:only-a-secret',
    NATIVE_SYMBOL: 'x'.repeat(33),
    RPC_TRACE_URL: 'http://user:%zz@127.0.0.1',
  });
  expect(code).toBe(78);
  expect(stderr).toMatch(/RPC_URL must be a node's JSON-RPC URL/);
  expect(stderr).toMatch(/PORT must be a whole number from 0 to 65535/);
  expect(stderr).toMatch(/RPC_RATE must be a whole number from 1 to 100000/);
  expect(stderr).toMatch(/RPC_TRACE_URL must have its user and password in URL encoding/);
  expect(stderr).toMatch(/NATIVE_SYMBOL must have at most 32 characters/);
  expect(stderr).toMatch(/PROJECTS must be id:key:secret/);
  expect(stderr).not.toContain('only-a-secret');
});

it.each([
  { variable: 'PROVIDERS_FILE', value: '/nowhere/providers.json' },
  { variable: 'DATA_DIR', value: '/proc/ledgerbell/services' },
  { variable: 'HOST', value: '192.0.2.1' },
])('names $variable and exits with 78 when its value is invalid', async ({ variable, value }) => {
  const { code, stderr } = await ended({ DATA_DIR: `${folder}/unused`, [variable]: value });
  expect(code).toBe(78);
  expect(stderr).toContain(`${variable} ${value}`);
});

it('reports a state file that was cut, and exits with 78', async () => {
  const dir = join(folder, 'cut');
  const file = join(dir, 'notification.sqlite');
  openStore(dir).close();
  writeFileSync(file, readFileSync(file).subarray(0, 4096));
  const { code, stderr } = await ended({ DATA_DIR: dir });
  expect(code).toBe(78);
  expect(stderr).toMatch(/notification\.sqlite .*malformed\. Restore a backup/);
});

it('exits with 0 on SIGTERM while it still waits for its node', async () => {
  const node = createServer();
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const { port } = node.address() as AddressInfo;
  const waiting = launchServices({ RPC_URL: `http://127.0.0.1:${port}`, PORT: '0', DATA_DIR: join(folder, 'waiting') });
  await inTime('the services call their node', once(node, 'request'));
  waiting.kill('SIGTERM');
  expect((await waiting.ended()).code).toBe(0);
  node.closeAllConnections();
  node.close();
});

it('exits with 0 on SIGTERM while its modules still load', async () => {
  const preload = `import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (url.endsWith('/services/start.ts')) process.kill(process.pid, 'SIGTERM');
        return next(url, context);
      },
    });`;
  const hook = `data:text/javascript,${encodeURIComponent(preload)}`;
  const environment = { RPC_URL: chain.rpcUrl, PORT: '0', DATA_DIR: join(folder, 'loading') };
  expect(await launchServices(environment, { preloaded: [hook] }).ended()).toMatchObject({ code: 0, stderr: '' });
});

it.each([
  { args: ['explorer', 'notification'], message: 'More than one argument: explorer notification' },
  { args: ['everything'], message: 'There is no service "everything"' },
])('refuses to start with the arguments $args', async ({ args, message }) => {
  const { code, stderr } = await ended({}, ...args);
  expect(code).toBe(78);
  expect(stderr).toContain(message);
  // The system's own Node may be too old for what `node services/main.ts` would run.
  expect(stderr).toContain('Usage: npm run services -- ');
});

it('lets nobody else read its file, even one that was opened to others', async () => {
  const state = join(folder, 'notification.sqlite');
  const made = () => readdirSync(folder).filter((name) => name.startsWith('notification.sqlite'));
  const modes = () => new Set(made().map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8)));
  await (await start()).destroy();
  expect(modes()).toEqual(new Set(['600']));
  chmodSync(state, 0o644);
  const { kill, exited } = await start();
  expect(modes()).toEqual(new Set(['600']));
  kill('SIGTERM');
  expect(await exited()).toEqual({ code: 0, signal: null });
});

it('follows PROJECTS_FILE: secrets rotate, a broken file changes nothing, and a removed project is not served', async () => {
  const file = join(folder, 'projects.json');
  const [early, late] = ['e', 'l'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);
  const write = (...projects: object[]) =>
    writeFileSync(file, JSON.stringify(projects.map((one) => ({ id: HARBOR.id, key: HARBOR.key, ...one }))));
  write({ secret: 'old', signingSecrets: [early] });
  const { url, tail, call, kill, exited } = await start({ PROJECTS_FILE: file, DATA_DIR: join(folder, 'followed') });
  const status = async (secret: string) =>
    (await call('GET', `/webhooks/${HARBOR.id}`, undefined, { ...HARBOR, secret })).status;
  const becomes = (secret: string, code: number) =>
    expect.poll(() => status(secret), { message: `the status with the secret ${secret}`, timeout: 60_000 }).toBe(code);
  const pay = () => chain.transfer({ kind: 'native', from: 'Alice', to: 'Grants' });
  const receiver = await startReceiver();
  const watching = {
    projectId: HARBOR.id,
    webhookUrl: receiver.url,
    eventType: 'ALL',
    addresses: [chain.wallets.Grants],
  };
  expect((await call('POST', '/webhook', watching, { ...HARBOR, secret: 'old' })).status).toBe(201);

  write({ secret: 'new', otherSecrets: ['old'], signingSecrets: [late, early] });
  await becomes('new', 200);
  expect(await status('old')).toBe(200);
  await pay();
  const [first] = await receiver.until(1);
  expect(String(first!.headers['webhook-signature']).split(' ')).toHaveLength(2);

  write({ secret: 'new', signingSecrets: [late] });
  await becomes('old', 403);
  writeFileSync(file, '[');
  await expect
    .poll(tail, { message: 'the log names the broken file', timeout: 60_000 })
    .toContain('cannot read the changed projects file');
  expect(await status('new')).toBe(200);

  write();
  await becomes('new', 403);
  const { blockNumber } = await pay();
  const next = async () =>
    ((await (await fetch(`${url}/readyz`)).json()) as { chains: [{ next: number }] }).chains[0].next;
  await expect
    .poll(next, { message: 'the block of the payment is read', timeout: 60_000 })
    .toBeGreaterThan(blockNumber);
  write({ secret: 'new' });
  await becomes('new', 200);
  const { hash } = await pay();
  const received = await receiver.until(2);
  expect(received.map(({ body }) => JSON.parse(body).txHash).at(1)).toBe(hash);
  kill('SIGTERM');
  expect(await exited()).toEqual({ code: 0, signal: null });
  await receiver.close();
});
