import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { anvilOn } from '../../sandbox/chain/anvil.ts';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { startChain } from '../../sandbox/chain/index.ts';
import { inTime } from '../until.ts';

const answers = async (rpcUrl: string) =>
  rpcOf(rpcUrl)('eth_chainId').then(
    () => true,
    () => false,
  );

it('starts the scripted chain and reports it when anvil is missing', async () => {
  const chain = await startChain({ findAnvil: () => null });
  expect(chain.kind).toBe('scripted');
  expect(chain.notice).toMatch(
    /There is no anvil for this platform \(\w+ \w+\), nor on PATH, so a small scripted chain replaces it/,
  );
  await chain.close();
  expect(await answers(chain.rpcUrl), 'whether the node answers').toBe(false);
});

it('finds a runnable anvil in the folders of PATH', () => {
  const [empty, full] = [mkdtempSync(join(tmpdir(), 'path-')), mkdtempSync(join(tmpdir(), 'path-'))];
  onTestFinished(() => {
    for (const folder of [empty, full]) rmSync(folder, { recursive: true });
  });
  writeFileSync(join(full, 'anvil'), '#!/bin/sh\n');
  expect(anvilOn([empty, '', full].join(delimiter))).toBe(null);
  chmodSync(join(full, 'anvil'), 0o755);
  expect(anvilOn([empty, '', full].join(delimiter))).toBe(join(full, 'anvil'));
});

it('reports anvil’s own error when it does not run', async () => {
  const chain = await startChain({ findAnvil: () => '/no such folder/anvil' });
  expect(chain.kind).toBe('scripted');
  expect(chain.notice).toMatch(
    /^Anvil did not start here \(output: .*\/no such folder\/anvil.*\), so a small scripted chain replaces it\./,
  );
  await chain.close();
});

it('ends anvil when the chain is closed', async () => {
  const chain = await startChain();
  expect(await answers(chain.rpcUrl), 'whether the node answers').toBe(true);
  await chain.close();
  expect(await answers(chain.rpcUrl), 'whether the node answers').toBe(false);
});

it.each([false, true])('reports a port that is in use (scripted: %s)', async (scripted) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await expect(startChain({ port, scripted })).rejects.toThrow(/in use/i);
  await new Promise((resolve) => server.close(resolve));
});

it('ends anvil when its parent is killed', async () => {
  const module = new URL('../../sandbox/chain/index.ts', import.meta.url);
  const program = `
    import { startChain } from ${JSON.stringify(fileURLToPath(module))};
    const chain = await startChain();
    process.stdout.write(chain.rpcUrl);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [rpcUrl] = (await inTime('the parent starts its chain', once(parent.stdout, 'data'))) as [Buffer];
  expect(await answers(String(rpcUrl)), 'whether the node answers').toBe(true);
  parent.kill('SIGKILL');
  await inTime('the killed parent ends', once(parent, 'exit'));
  await expect
    .poll(() => answers(String(rpcUrl)), { message: 'whether the node answers', interval: 20, timeout: 120_000 })
    .toBe(false);
});
