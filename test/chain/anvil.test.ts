import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findAnvil, startAnvil } from '../../sandbox/chain/anvil.ts';
import { startChain } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { temporaryFolder } from '../folder.ts';
import { inTime } from '../until.ts';

const answers = async (rpcUrl: string) =>
  rpcOf(rpcUrl)('eth_chainId').then(
    () => true,
    () => false,
  );

it('takes anvil from the package of this platform', () => {
  expect(findAnvil()).toMatch(/anvil-\w+-\w+\/bin\/anvil$/);
});

it('finds a runnable anvil in the folders of PATH where there is no package, and else says what to install', () => {
  const [empty, full] = [temporaryFolder(), temporaryFolder()];
  const find = () => findAnvil('freebsd', 'riscv64', [empty, '', full].join(delimiter));
  writeFileSync(join(full, 'anvil'), '#!/bin/sh\n');
  expect(find).toThrow(/no package of for this platform \(freebsd riscv64\)\. Install Foundry/);
  chmodSync(join(full, 'anvil'), 0o755);
  expect(find()).toBe(join(full, 'anvil'));
});

it('reports anvil’s own error when it does not run', async () => {
  await expect(startAnvil('/no such folder/anvil')).rejects.toThrow(
    /^Anvil did not start \(output: .*\/no such folder\/anvil.*\)$/,
  );
});

it('ends anvil when the chain is closed', async () => {
  const chain = await startChain();
  expect(await answers(chain.rpcUrl), 'whether the node answers').toBe(true);
  await chain.close();
  expect(await answers(chain.rpcUrl), 'whether the node answers').toBe(false);
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
