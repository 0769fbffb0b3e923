import { bytesToHex, type Hex, hexToBytes, toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { type ContractName, callData } from '../../../sandbox/chain/contracts.ts';
import { type Chain, startChain } from '../../../sandbox/chain/index.ts';
import { rpcOf } from '../../../sandbox/chain/rpc.ts';
import { readBlock, readLogs } from '../../../services/chain/block.ts';
import { innerTransfers, outerTransfers } from '../../../services/chain/block-transfers.ts';
import { connect } from '../../../services/chain/nodes.ts';
import { profileOf } from '../../../services/chain/profiles.ts';
import { coinMoves } from '../../../services/chain/traces.ts';
import type { Transfer } from '../../../services/chain/transfers.ts';
import type { Luck } from '../../services/proof/operations.ts';
import { call, create, pay, program, revert, type Step, selfDestruct } from '../../services/proof/program.ts';

export type Mined = Transfer & { block: number; blockHash: Hex };

const GAS = toHex(3_000_000);
/** Signs transactions that can be mined again after a reorganization. */
const SIGNER = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 9 });
const MANY = 10n ** 30n;

export type ProofChain = Awaited<ReturnType<typeof startProofChain>>;

/** A chain on which anything happens to addresses; every amount and every ID of an NFT is another number. */
export async function startProofChain() {
  const chain: Chain = await startChain();
  const rpc = rpcOf(chain.rpcUrl);
  const reader = connect(chain.rpcUrl);
  const { dollar, keys, supplies } = chain.tokens;
  let serial = 8_000_000_000_000_000n;
  let signed: Hex[] = [];

  /** No amount ends in a zero, which would not be shown. */
  const next = () => (++serial % 10n === 0n ? ++serial : serial);
  const send = (from: Hex, to: Hex | undefined, value: bigint, data?: Hex) =>
    rpc('eth_sendTransaction', [{ from, ...(to && { to }), value: toHex(value), ...(data && { data }), gas: GAS }]);
  const invoke = (from: Hex, { address }: { address: Hex }, contract: ContractName, method: string, args: unknown[]) =>
    send(from, address, 0n, callData(contract, method, args));
  const run = (...steps: Step[]) => send(chain.wallets.Whale, undefined, 10n ** 17n, bytesToHex(program(...steps)));
  const minted = (to: Hex, amount: bigint) =>
    call(dollar.address, 0n, hexToBytes(callData('Coin', 'mint', [to, amount])));
  const balance = async (of: Hex) => BigInt(await rpc<Hex>('eth_getBalance', [of, 'latest']));
  const height = async () => Number(await rpc<Hex>('eth_blockNumber'));

  /** Returns a payment that no transaction makes. */
  async function reward(to: Hex): Promise<{ to: Hex; amount: bigint }> {
    const amount = next();
    await rpc('anvil_setBalance', [to, toHex((await balance(to)) + amount)]);
    return { to, amount };
  }

  async function paySigned(to: Hex): Promise<void> {
    const nonce = Number(await rpc<Hex>('eth_getTransactionCount', [SIGNER.address, 'pending']));
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
    const fields = { chainId: 31_337, type: 'eip1559', nonce, gas: 21_000n, ...fees } as const;
    const bytes = await SIGNER.signTransaction({ ...fields, to, value: next() });
    signed.push(bytes);
    await rpc('eth_sendRawTransaction', [bytes]);
  }

  const operations: ((one: Hex, other: Hex) => Promise<unknown>)[] = [
    (one) => send(chain.wallets.Alice, one, next()),
    (one) => send(one, chain.wallets.Alice, next()),
    (one, other) => send(one, other, next()),
    (one) => paySigned(one),
    (one) => run(pay(one, next())),
    (one) => run(pay(one, next()), create(program(pay(one, next())), 10n ** 16n)),
    (one, other, amount = next()) => run(pay(one, amount), pay(one, amount), pay(other, next())),
    (one) => run(create(program(pay(one, next()), revert()), 10n ** 16n), pay(one, next())),
    (one) => run(pay(one, next()), revert()),
    (one) => run(create(program(selfDestruct(one)), next())),
    (one) => invoke(chain.wallets.Alice, dollar, 'Coin', 'mint', [one, next()]),
    (one, other) => invoke(one, dollar, 'Coin', 'transfer', [other, next()]),
    (one) => invoke(one, dollar, 'Coin', 'transfer', [chain.wallets.Bob, next()]),
    (one, _, amount = next()) => run(minted(one, amount), minted(one, amount), minted(one, next()), pay(one, next())),
    (one) => invoke(chain.wallets.Alice, keys, 'Collectible', 'mint', [one, next()]),
    async (one, other, id = next()) => {
      await invoke(chain.wallets.Alice, keys, 'Collectible', 'mint', [one, id]);
      await invoke(one, keys, 'Collectible', 'transferFrom', [one, other, id]);
    },
    (one) => invoke(chain.wallets.Alice, supplies, 'Supplies', 'mint', [one, next(), 5n]),
    async (one, other, ids = [next(), next()]) => {
      for (const id of ids) await invoke(chain.wallets.Alice, supplies, 'Supplies', 'mint', [one, id, 5n]);
      await invoke(one, supplies, 'Supplies', 'safeBatchTransferFrom', [one, other, ids, [2n, 3n], '0x']);
    },
  ];

  return {
    rpcUrl: chain.rpcUrl,
    dollar: dollar.address.toLowerCase(),
    rpc,
    height,
    balance,
    next,
    reward,
    time: async () =>
      Number((await rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])).timestamp) * 1_000,
    /** Does something to the addresses, in the next block. */
    operate: ({ pick }: Luck, addresses: readonly Hex[]) => {
      const one = pick(addresses);
      return pick(operations)(one, pick(addresses.filter((address) => address !== one)));
    },
    async sendAgain(): Promise<void> {
      for (const bytes of signed) await rpc('eth_sendRawTransaction', [bytes]).catch(() => undefined);
    },
    async fund(address: Hex): Promise<void> {
      signed = [];
      await rpc('anvil_setBalance', [address, toHex(MANY)]);
      await invoke(chain.wallets.Alice, dollar, 'Coin', 'mint', [address, MANY]);
    },
    async transfers(first: number, last: number): Promise<Mined[]> {
      const found: Mined[] = [];
      for (let number = first; number <= last; number++) {
        const block = await readBlock(reader, number);
        const outer = outerTransfers(block, (await readLogs(reader, block)).logs, profileOf(''));
        const inner = innerTransfers(await coinMoves(reader, block));
        const receipts = await rpc<{ transactionHash: Hex; status: Hex }[]>('eth_getBlockReceipts', [block.number]);
        const failed = new Set(receipts.filter(({ status }) => status === '0x0').map((one) => one.transactionHash));
        for (const transfer of [...outer.transfers, ...inner.transfers]) {
          if (!failed.has(transfer.txHash)) found.push({ ...transfer, block: number, blockHash: block.hash });
        }
      }
      return found;
    },
    /** How many dollars an address has more than at first. */
    async gained(address: Hex): Promise<bigint> {
      const data = callData('Coin', 'balanceOf', [address]);
      return BigInt(await rpc<Hex>('eth_call', [{ to: dollar.address, data }, 'latest'])) - MANY;
    },
    async fees(address: Hex, first: number, last: number): Promise<bigint> {
      let sum = 0n;
      for (let number = first; number <= last; number++) {
        const receipts = await rpc<Record<'from' | 'gasUsed' | 'effectiveGasPrice', Hex>[]>('eth_getBlockReceipts', [
          toHex(number),
        ]);
        for (const { from, gasUsed, effectiveGasPrice } of receipts)
          if (from === address.toLowerCase()) sum += BigInt(gasUsed) * BigInt(effectiveGasPrice);
      }
      return sum;
    },
    async close(): Promise<void> {
      reader.close();
      await chain.close();
    },
  };
}
