import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { getAddress, type Hex, numberToHex } from 'viem';
import { type Rpc, rpcOf } from './rpc.ts';
import type { Address, Hash } from './types.ts';

/** A deployment if it has no `to`. */
export interface Call {
  from: Address;
  to?: Address;
  /** Coins in wei; default 0. */
  value?: bigint;
  data?: Hex;
}

interface Receipt {
  hash: Hash;
  blockNumber: number;
  created: Address | null;
}

export type Anvil = Awaited<ReturnType<typeof startAnvil>>;

/** `--auto-impersonate` lets any address send. */
const FLAGS = '--port 0 --no-mining --order fifo --auto-impersonate --accounts 10 --gas-limit 300000000'.split(' ');

/** Prefers the npm package for this platform to the PATH. @throws with a sentence when there is no anvil. */
export function findAnvil(platform: string = process.platform, arch = process.arch, path = process.env.PATH): string {
  const { resolve } = createRequire(import.meta.url);
  try {
    const machine = arch === 'x64' ? 'amd64' : arch;
    return join(dirname(resolve(`@foundry-rs/anvil-${platform}-${machine}/package.json`)), 'bin', 'anvil');
  } catch {
    const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
    const found = folders.map((folder) => join(folder, 'anvil')).find(isRunnable);
    if (found !== undefined) return found;
    throw new Error(
      `The local chain needs anvil, which npm has no package of for this platform (${platform} ${arch}). Install Foundry ` +
        '(https://getfoundry.sh), so that anvil is on PATH.',
    );
  }
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws with its output when it exits before it listens. */
export async function startAnvil(binary: string, chainId = 31_337) {
  // Anvil would outlive its parent. The shell between them reads a pipe from this process. When this process dies,
  // however it does, the pipe closes and the shell kills anvil.
  const guard =
    'exec 3<&0; "$@" </dev/null 3<&- & child=$!; (cat <&3 >/dev/null; kill -9 $child) 2>/dev/null & wait $child';
  const shell = spawn('sh', ['-c', guard, 'anvil', binary, ...FLAGS, '--chain-id', String(chainId)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const rpcUrl = await listening(shell);
  const rpc = rpcOf(rpcUrl);
  const accounts = (await rpc<Address[]>('eth_accounts')).map((address) => getAddress(address));
  return {
    rpcUrl,
    rpc,
    /** Ten addresses with coins. */
    accounts,
    /** One block with all calls, in this order. Any address may be the sender. @throws when one of them fails. */
    send: (calls: readonly Call[]) => mine(rpc, calls),
    setCoins: (address: Address, wei: bigint): Promise<void> => rpc('anvil_setBalance', [address, numberToHex(wei)]),
    close: () => end(shell),
  };
}

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
      reject(new Error(`Anvil did not start (output: ${output.trim().replace(/\s+/g, ' ') || 'none'})`));
    });
  });
}

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
