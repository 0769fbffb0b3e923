import { bytesToHex, encodeAbiParameters, getContractAddress, type Hex, hexToBytes, keccak256, pad, toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { callData } from '../../../sandbox/chain/contracts.ts';
import type { Chain } from '../../../sandbox/chain/index.ts';
import type { Rpc } from '../../../sandbox/chain/rpc.ts';
import {
  call,
  callCode,
  contract,
  create,
  create2,
  delegateCall,
  invalid,
  log,
  loop,
  pay,
  program,
  revert,
  type Step,
  selfDestruct,
  staticCall,
} from './program.ts';

interface Send {
  from: Hex;
  to?: Hex;
  value?: bigint;
  data?: Hex;
  /** `legacy`, or with an access list, instead of the usual kind. */
  type?: 'legacy' | 'access-list';
  gas?: Hex;
}

export interface Luck {
  next(): number;
  pick<One>(list: readonly One[]): One;
  wei(): bigint;
}

/** A small generator of pseudo-random numbers (mulberry32), so that a failure can be repeated. */
export function luckFrom(seed: number): Luck {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    pick: <One>(list: readonly One[]): One => list[Math.floor(next() * list.length)]!,
    wei: () => BigInt(1 + Math.floor(next() * 1e9)),
  };
}

const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const topic = (address: Hex): Hex => pad(address.toLowerCase() as Hex, { size: 32 });
const word = (value: bigint): Uint8Array => hexToBytes(pad(toHex(value), { size: 32 }));
const ZERO: Hex = `0x${'0'.repeat(40)}`;
const IDENTITY: Hex = `0x${'0'.repeat(39)}4`;
const GAS = toHex(3_000_000);
/** For what uses up all that it gets, one small step after another. */
const LITTLE_GAS = toHex(200_000);
/** Anvil's own accounts; the tenth one gets code by EIP-7702. */
const DELEGATOR = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 9 });

/** The world of the operations. `watched`: addresses whose balances must equal the sum of their events. */
export interface World {
  chain: Chain;
  rpc: Rpc;
  luck: Luck;
  watched: readonly Hex[];
  forwarders: readonly Hex[];
}

/** Sends a transaction into the pool; the next block has it, whether it reverts or not. */
async function send({ rpc }: World, { from, to, value = 0n, data, type, gas = GAS }: Send): Promise<void> {
  await rpc('eth_sendTransaction', [
    {
      from,
      to,
      value: toHex(value),
      data,
      gas,
      ...(type === 'legacy' && { type: '0x0', gasPrice: toHex(10n ** 10n) }),
      ...(type === 'access-list' && { type: '0x1', gasPrice: toHex(10n ** 10n), accessList: [] }),
    },
  ]);
}

/** Runs a program, with enough coins for what it pays. */
const run = (world: World, steps: Step[], value = 10n ** 12n, gas = GAS) =>
  send(world, { from: world.chain.wallets.Whale, value, data: bytesToHex(program(...steps)), gas });

type Operation = (world: World) => Promise<void>;

const someone = ({ chain, luck }: World): Hex => chain.wallets[luck.pick(['Alice', 'Bob', 'Carol', 'Whale'] as const)];
const watched = ({ luck, watched: list }: World): Hex => luck.pick(list);
const wei = ({ luck }: World): bigint => luck.wei();
const deep = (steps: Step[], depth: number): Step[] =>
  depth === 0 ? steps : [create(program(...deep(steps, depth - 1)), 10n ** 10n)];
const erc20 = (world: World, from: Hex, method: string, args: unknown[]) =>
  send(world, {
    from,
    to: world.chain.tokens[world.luck.pick(['dollar', 'bell', 'fake'] as const)].address,
    data: callData('Coin', method, args),
  });
const erc721 = (world: World, from: Hex, method: string, args: unknown[]) =>
  send(world, { from, to: world.chain.tokens.keys.address, data: callData('Collectible', method, args) });
const erc1155 = (world: World, from: Hex, method: string, args: unknown[]) =>
  send(world, { from, to: world.chain.tokens.supplies.address, data: callData('Supplies', method, args) });
const freshId = ({ luck }: World): bigint => 10n ** 9n + BigInt(Math.floor(luck.next() * 2 ** 48));
const between = (from: Hex, to: Hex, value: bigint): Step => log([TRANSFER, topic(from), topic(to)], word(value));

export const operations: Record<string, Operation> = {
  'plain payment in': (w) => send(w, { from: someone(w), to: watched(w), value: wei(w) }),
  'plain payment out': (w) => send(w, { from: watched(w), to: someone(w), value: wei(w) }),
  'payment between watched addresses': (w) => send(w, { from: watched(w), to: watched(w), value: wei(w) }),
  'payment of nothing': (w) => send(w, { from: someone(w), to: watched(w), value: 0n }),
  'payment with data': (w) => send(w, { from: someone(w), to: watched(w), value: wei(w), data: '0x68656c6c6f' }),
  'legacy payment': (w) => send(w, { from: someone(w), to: watched(w), value: wei(w), type: 'legacy' }),
  'payment with an access list': (w) =>
    send(w, { from: someone(w), to: watched(w), value: wei(w), type: 'access-list' }),
  'creation with coins': (w) => send(w, { from: watched(w), value: wei(w), data: bytesToHex(program()) }),
  'creation that reverts': (w) => send(w, { from: watched(w), value: wei(w), data: bytesToHex(program(revert())) }),
  'creation that runs out of gas': (w) =>
    send(w, { from: watched(w), value: wei(w), data: bytesToHex(program(loop())), gas: LITTLE_GAS }),
  'payment from a constructor': (w) => run(w, [pay(watched(w), wei(w))]),
  'two equal payments from a contract': (w) => {
    const [to, amount] = [watched(w), wei(w)];
    return run(w, [pay(to, amount), pay(to, amount)]);
  },
  'many payments from a contract': (w) =>
    run(
      w,
      Array.from({ length: 12 }, () => pay(watched(w), wei(w))),
    ),
  'payment five frames deep': (w) => run(w, deep([pay(watched(w), wei(w))], 5)),
  'payment twenty frames deep': (w) => run(w, deep([pay(watched(w), wei(w))], 20)),
  'payment before a revert of everything': (w) => run(w, [pay(watched(w), wei(w)), revert()]),
  'payment in a frame that reverts': (w) =>
    run(w, [create(program(pay(watched(w), wei(w)), revert()), 10n ** 10n), pay(watched(w), wei(w))]),
  'payment below a frame that reverts': (w) =>
    run(w, [create(program(...deep([pay(watched(w), wei(w))], 2), revert()), 10n ** 11n), pay(watched(w), wei(w))]),
  'payment in a frame with an invalid instruction': (w) =>
    run(w, [pay(watched(w), wei(w)), create(program(pay(watched(w), wei(w)), invalid()), 10n ** 10n)]),
  'payment beside a frame without gas': (w) =>
    run(w, [pay(watched(w), wei(w)), create(program(loop()), 0n)], 10n ** 12n, LITTLE_GAS),
  'payment of more than there is': (w) => run(w, [pay(watched(w), 10n ** 18n), pay(watched(w), wei(w))]),
  'code of another with coins': (w) => run(w, [callCode(watched(w), wei(w)), pay(watched(w), wei(w))]),
  'delegated call': (w) => run(w, [delegateCall(w.chain.contracts.splitter), pay(watched(w), wei(w))]),
  'static call': (w) => run(w, [staticCall(watched(w)), pay(watched(w), wei(w))]),
  'precompile with coins': (w) => run(w, [pay(IDENTITY, wei(w)), pay(watched(w), wei(w))]),
  'create with a salt': (w) => run(w, [create2(program(pay(watched(w), wei(w))), 10n ** 10n, freshId(w))]),
  'self-destruction in favor of somebody': (w) => run(w, [create(program(selfDestruct(watched(w))), wei(w))]),
  'self-destruction of the outermost frame': (w) => run(w, [selfDestruct(watched(w))], wei(w)),
  'self-destruction that is reverted': (w) =>
    run(w, [create(program(create(program(selfDestruct(watched(w))), wei(w)), revert()), 10n ** 10n)]),
  'payment through a contract that forwards': (w) =>
    send(w, { from: someone(w), to: w.luck.pick(w.forwarders), value: 10n ** 6n }),
  'payment of a watched address through a contract': (w) =>
    send(w, { from: watched(w), to: w.luck.pick(w.forwarders), value: 10n ** 6n }),
  'payment that was split': (w) =>
    send(w, {
      from: someone(w),
      to: w.chain.contracts.splitter,
      value: 10_001n,
      data: callData('Splitter', 'split', [[watched(w), watched(w), someone(w)]]),
    }),
  'code for an account (EIP-7702)': async (w) => {
    const nonce = Number(await w.rpc<Hex>('eth_getTransactionCount', [DELEGATOR.address, 'pending']));
    const address = w.luck.pick(w.forwarders);
    const authorization = await DELEGATOR.signAuthorization!({ address, chainId: 31337, nonce: nonce + 1 });
    const signed = await DELEGATOR.signTransaction({
      chainId: 31337,
      type: 'eip7702',
      nonce,
      gas: 3_000_000n,
      to: DELEGATOR.address,
      value: 10n ** 6n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      authorizationList: [authorization],
    });
    await w.rpc('eth_sendRawTransaction', [signed]);
  },
  'payment to an account with code': (w) => send(w, { from: someone(w), to: DELEGATOR.address, value: 10n ** 6n }),
  'tokens in': (w) => erc20(w, w.chain.wallets.Whale, 'mint', [watched(w), wei(w)]),
  'tokens out': (w) => erc20(w, watched(w), 'transfer', [someone(w), 1n]),
  'tokens between watched addresses': (w) => erc20(w, watched(w), 'transfer', [watched(w), 2n]),
  'no tokens': (w) => erc20(w, someone(w), 'transfer', [watched(w), 0n]),
  'tokens burned': (w) => erc20(w, watched(w), 'burn', [1n]),
  'tokens that nobody has': (w) => erc20(w, watched(w), 'transfer', [someone(w), 2n ** 200n]),
  'tokens moved in a frame that reverts': (w) =>
    run(w, [
      create(
        program(
          call(w.chain.tokens.dollar.address, 0n, hexToBytes(callData('Coin', 'mint', [watched(w), wei(w)]))),
          revert(),
        ),
        0n,
      ),
    ]),
  'tokens minted by a contract': (w) =>
    run(w, [call(w.chain.tokens.bell.address, 0n, hexToBytes(callData('Coin', 'mint', [watched(w), wei(w)])))], 0n),
  'NFT minted': (w) => erc721(w, w.chain.wallets.Whale, 'mint', [watched(w), freshId(w)]),
  'many NFTs minted': (w) =>
    erc721(w, w.chain.wallets.Whale, 'mintMany', [watched(w), Array.from({ length: 5 }, () => freshId(w))]),
  'pieces minted': (w) => erc1155(w, w.chain.wallets.Whale, 'mint', [watched(w), 7n, 20n]),
  'pieces out': (w) => erc1155(w, watched(w), 'safeTransferFrom', [watched(w), someone(w), 7n, 1n, '0x']),
  'batch of pieces': (w) =>
    erc1155(w, watched(w), 'safeBatchTransferFrom', [watched(w), someone(w), [7n, 7n], [1n, 2n], '0x']),
  'batch of nothing': (w) => erc1155(w, someone(w), 'safeBatchTransferFrom', [someone(w), watched(w), [], [], '0x']),
  'log of an unknown token': (w) => run(w, [between(someone(w), watched(w), wei(w))], 0n),
  'equal logs of an unknown token': (w) => {
    const twin = between(ZERO, watched(w), 5n);
    return run(w, [twin, twin], 0n);
  },
  'log that only looks like a transfer': (w) =>
    run(
      w,
      [
        log([TRANSFER, topic(watched(w))], word(1n)),
        log([TRANSFER], hexToBytes(encodeAbiParameters([{ type: 'bytes' }], ['0x12']))),
      ],
      0n,
    ),
};

/** Deploys a contract for each watched address, which pays it when called; returns the contracts' addresses. */
export async function deployForwarders(rpc: Rpc, from: Hex, to: readonly Hex[]): Promise<Hex[]> {
  const found: Hex[] = [];
  for (const address of to) {
    const nonce = BigInt(await rpc<Hex>('eth_getTransactionCount', [from, 'latest']));
    const data = bytesToHex(contract(pay(address, 400_000n), create(program(pay(address, 1n), revert()), 10n)));
    await rpc('eth_sendTransaction', [{ from, data, gas: GAS }]);
    await rpc('evm_mine');
    found.push(getContractAddress({ from, nonce }));
  }
  return found;
}
