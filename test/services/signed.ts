import { type Hex, numberToHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import type { Chain } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';

const MNEMONIC = 'test test test test test test test test test test test junk';
/** Alice is anvil's fourth account. */
const account = mnemonicToAccount(MNEMONIC, { addressIndex: 3 });

/** Signs a payment of Alice; it is not sent yet. */
export async function signedPayment(chain: Chain, to: Hex, value: bigint): Promise<Hex> {
  const nonce = await rpcOf(chain.rpcUrl)<Hex>('eth_getTransactionCount', [account.address, 'latest']);
  return await account.signTransaction({
    chainId: 31337,
    type: 'eip1559',
    nonce: Number(nonce),
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    to,
    value,
  });
}

/** Sends a signed transaction and mines it, at a time where one is given. Returns its block's hash and time. */
export async function mineSigned(chain: Chain, bytes: Hex, time?: number): Promise<{ hash: Hex; time: number }> {
  const rpc = rpcOf(chain.rpcUrl);
  await rpc('eth_sendRawTransaction', [bytes]);
  await rpc('evm_mine', time === undefined ? [] : [numberToHex(time)]);
  const block = await rpc<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]);
  return { hash: block.hash, time: Number(block.timestamp) };
}
