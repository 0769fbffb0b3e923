import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { getAddress, type Hex, numberToHex } from 'viem';
import { type Call, type Driver, type Receipt, type Rpc, rpcOf } from './driver.ts';
import type { Address, Hash } from './types.ts';

/** Returns the path of anvil: that of its package for this platform, otherwise one on PATH, or null if there is none. */
export function findAnvil(): string | null {
  const { resolve } = createRequire(import.meta.url);
  try {
    const machine = process.arch === 'x64' ? 'amd64' : process.arch;
    return join(dirname(resolve(`@foundry-rs/anvil-${process.platform}-${machine}/package.json`)), 'bin', 'anvil');
  } catch {
    return anvilOn(process.env.PATH ?? '');
  }
}

/** Returns the first runnable `anvil` in the folders of a PATH, or null if there is none. */
export function anvilOn(path: string): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'anvil')).find(isRunnable) ?? null;
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts anvil on 127.0.0.1 and waits until it is listening.
 *
 * @throws when it exits before that, e.g. because the port is in use. The message contains its output.
 */
export async function startAnvil(binary: string, port: number): Promise<Driver> {
  // Anvil would outlive its parent. The shell in between reads a pipe from this process: whenever this process dies, the
  // pipe closes, and the shell kills anvil.
  const guard =
    'exec 3<&0; "$@" </dev/null 3<&- & child=$!; (cat <&3 >/dev/null; kill -9 $child) 2>/dev/null & wait $child';
  const flags = [
    '--port',
    String(port),
    '--no-mining',
    '--order',
    'fifo',
    '--auto-impersonate',
    '--accounts',
    '10',
    '--gas-limit',
    '300000000',
  ];
  const shell = spawn('sh', ['-c', guard, 'anvil', binary, ...flags], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const rpcUrl = await listening(shell);
  const rpc = rpcOf(rpcUrl);
  const accounts = (await rpc<Address[]>('eth_accounts')).map((address) => getAddress(address));
  return {
    kind: 'anvil',
    rpcUrl,
    accounts,
    send: (calls) => mine(rpc, calls),
    setCoins: (address, wei) => rpc('anvil_setBalance', [address, numberToHex(wei)]),
    close: () => end(shell),
  };
}

/** Resolves with the URL once anvil reports that it is listening. */
function listening(shell: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';

    function onOutput(chunk: Buffer) {
      output = (output + chunk.toString()).slice(-10_000);
      const at = /Listening on (\S+)/.exec(output)?.[1];
      if (at !== undefined) {
        for (const stream of [shell.stdout, shell.stderr]) stream?.off('data', onOutput).resume();
        resolve(`http://${at}`);
      }
    }

    shell.stdout?.on('data', onOutput);
    shell.stderr?.on('data', onOutput);
    shell.once('error', reject);
    shell.once('exit', () => {
      shell.stdin?.destroy();
      reject(new Error(`Anvil did not start here (output: ${output.trim().replace(/\s+/g, ' ') || 'none'})`));
    });
  });
}

/** Closes the pipe, so that the shell kills anvil, and waits until both are gone. */
async function end(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null || shell.signalCode !== null) return;
  const gone = once(shell, 'exit');
  shell.stdin?.destroy();
  await gone;
}

async function mine(rpc: Rpc, calls: readonly Call[]): Promise<Receipt[]> {
  const hashes: Hash[] = [];
  try {
    for (const call of calls) {
      const { value = 0n, ...rest } = call;
      hashes.push(await rpc<Hash>('eth_sendTransaction', [{ ...rest, value: numberToHex(value) }]));
    }
  } catch (error) {
    await rpc('anvil_dropAllTransactions');
    throw error;
  }
  await rpc('evm_mine');
  return await Promise.all(hashes.map((hash) => receiptOf(rpc, hash)));
}

async function receiptOf(rpc: Rpc, hash: Hash): Promise<Receipt> {
  const receipt = await rpc<{ status: Hex; blockNumber: Hex; contractAddress: Address | null } | null>(
    'eth_getTransactionReceipt',
    [hash],
  );
  if (receipt === null) throw new Error(`The chain did not mine the transaction ${hash}`);
  if (receipt.status !== '0x1') throw new Error(`The transaction ${hash} was reverted`);
  return {
    hash,
    blockNumber: Number(receipt.blockNumber),
    created: receipt.contractAddress === null ? null : getAddress(receipt.contractAddress),
  };
}
