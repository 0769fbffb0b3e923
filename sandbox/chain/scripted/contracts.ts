import { zeroAddress } from 'viem';
import type { ContractName } from '../contracts.ts';
import type { Address } from '../types.ts';
import type { State } from './state.ts';

/** What a running contract can see and do. */
export interface Frame {
  state: State;
  self: Address;
  sender: Address;
  /** Coins sent with the call, in wei. */
  value: bigint;
  /** Emits an event of the contract's ABI. */
  log(event: string, args: Record<string, unknown>): void;
  /** Sends coins from the contract. */
  pay(to: Address, wei: bigint): void;
  /** Calls another contract's function as this contract. */
  call(to: Address, functionName: string, args: readonly unknown[]): void;
}

/** A function's arguments, as viem decodes them. */
type Args = readonly unknown[];
type Contract = Record<string, (frame: Frame, args: never) => unknown>;

/** A reverted call. The message is the contract's own. */
export class Reverted extends Error {}

/** The contracts of `../contracts/*.sol` in TypeScript. One test suite runs on both. */
const BEHAVIORS: Record<ContractName, Contract> = {
  Coin: {
    construct: (frame, [name, symbol, decimals, trusted]: [string, string, number, Address[]]) => {
      initialize(frame, name, symbol, trusted);
      frame.state.set(`${frame.self}.decimals`, BigInt(decimals));
    },
    name: (frame) => frame.state.text(`${frame.self}.name`),
    symbol: (frame) => frame.state.text(`${frame.self}.symbol`),
    decimals: (frame) => Number(frame.state.number(`${frame.self}.decimals`)),
    totalSupply: (frame) => frame.state.number(`${frame.self}.supply`),
    balanceOf: (frame, [owner]: [Address]) => frame.state.number(balance(frame, owner)),
    mint: (frame, [to, value]: [Address, bigint]) => {
      add(frame, `${frame.self}.supply`, value);
      add(frame, balance(frame, to), value);
      frame.log('Transfer', { from: zeroAddress, to, value });
    },
    burn: (frame, [value]: [bigint]) => {
      add(frame, balance(frame, frame.sender), -value);
      add(frame, `${frame.self}.supply`, -value);
      frame.log('Transfer', { from: frame.sender, to: zeroAddress, value });
    },
    transfer: (frame, [to, value]: [Address, bigint]) => moveCoins(frame, frame.sender, to, value),
    transferFrom: (frame, [from, to, value]: [Address, Address, bigint]) => {
      requireTrust(frame, from);
      return moveCoins(frame, from, to, value);
    },
  },
  Collectible: {
    construct: (frame, [name, symbol, trusted]: [string, string, Address[]]) =>
      initialize(frame, name, symbol, trusted),
    name: (frame) => frame.state.text(`${frame.self}.name`),
    symbol: (frame) => frame.state.text(`${frame.self}.symbol`),
    totalSupply: (frame) => frame.state.number(`${frame.self}.supply`),
    balanceOf: (frame, [owner]: [Address]) => frame.state.number(balance(frame, owner)),
    ownerOf: (frame, [tokenId]: [bigint]) => ownerOf(frame, tokenId),
    supportsInterface: (_frame, [id]: [string]) => ['0x01ffc9a7', '0x80ac58cd', '0x5b5e139f'].includes(id),
    mint: (frame, [to, tokenId]: [Address, bigint]) => mintNft(frame, to, tokenId),
    mintMany: (frame, [to, tokenIds]: [Address, bigint[]]) => {
      for (const tokenId of tokenIds) mintNft(frame, to, tokenId);
    },
    burn: (frame, [tokenId]: [bigint]) => {
      if (ownerOf(frame, tokenId) !== frame.sender) throw new Reverted('not yours');
      add(frame, `${frame.self}.supply`, -1n);
      add(frame, balance(frame, frame.sender), -1n);
      frame.state.set(`${frame.self}.owner.${tokenId}`, zeroAddress);
      frame.log('Transfer', { from: frame.sender, to: zeroAddress, tokenId });
    },
    transferFrom: (frame, [from, to, tokenId]: [Address, Address, bigint]) => {
      if (ownerOf(frame, tokenId) !== from) throw new Reverted('not the owner');
      requireTrust(frame, from);
      add(frame, balance(frame, from), -1n);
      add(frame, balance(frame, to), 1n);
      frame.state.set(`${frame.self}.owner.${tokenId}`, to);
      frame.log('Transfer', { from, to, tokenId });
    },
  },
  Supplies: {
    construct: (frame, [name, symbol]: [string, string]) => initialize(frame, name, symbol, []),
    name: (frame) => frame.state.text(`${frame.self}.name`),
    symbol: (frame) => frame.state.text(`${frame.self}.symbol`),
    supportsInterface: (_frame, [id]: [string]) => ['0x01ffc9a7', '0xd9b67a26'].includes(id),
    balanceOf: (frame, [owner, id]: [Address, bigint]) => frame.state.number(`${balance(frame, owner)}.${id}`),
    mint: (frame, [to, id, value]: [Address, bigint, bigint]) => {
      add(frame, `${balance(frame, to)}.${id}`, value);
      frame.log('TransferSingle', { operator: frame.sender, from: zeroAddress, to, id, value });
    },
    burn: (frame, [id, value]: [bigint, bigint]) => {
      const from = frame.sender;
      add(frame, `${balance(frame, from)}.${id}`, -value);
      frame.log('TransferSingle', { operator: from, from, to: zeroAddress, id, value });
    },
    safeTransferFrom: (frame, [from, to, id, value]: [Address, Address, bigint, bigint]) => {
      moveSupplies(frame, from, to, [id], [value]);
      frame.log('TransferSingle', { operator: frame.sender, from, to, id, value });
    },
    safeBatchTransferFrom: (frame, [from, to, ids, values]: [Address, Address, bigint[], bigint[]]) => {
      moveSupplies(frame, from, to, ids, values);
      frame.log('TransferBatch', { operator: frame.sender, from, to, ids, values });
    },
  },
  Splitter: {
    split: (frame, [to]: [Address[]]) => {
      for (const receiver of to) frame.pay(receiver, frame.value / BigInt(to.length));
    },
  },
  Swap: {
    swap: (frame, [tokenIn, amountIn, tokenOut, amountOut]: [Address, bigint, Address, bigint]) => {
      frame.call(tokenIn, 'transferFrom', [frame.sender, frame.self, amountIn]);
      frame.call(tokenOut, 'transfer', [frame.sender, amountOut]);
    },
  },
  Mover: {
    identicalTransfers: (frame, [token, to, value]: [Address, Address, bigint]) => {
      for (let time = 0; time < 2; time++) frame.call(token, 'transferFrom', [frame.sender, to, value]);
    },
    sweep: (frame, [token, to, ids]: [Address, Address, bigint[]]) => {
      for (const id of ids) frame.call(token, 'transferFrom', [frame.sender, to, id]);
    },
  },
};

/** Runs a contract's function, or its constructor as `construct`, which it may lack. */
export function run(contract: ContractName, functionName: string, frame: Frame, args: Args): unknown {
  const behavior = Object.hasOwn(BEHAVIORS[contract], functionName) ? BEHAVIORS[contract][functionName] : undefined;
  if (behavior === undefined) {
    if (functionName === 'construct') return undefined;
    throw new Reverted(`no function ${functionName}`);
  }
  return behavior(frame, args as never);
}

const balance = (frame: Frame, owner: Address) => `${frame.self}.balance.${owner}`;

/** Adds to a number. Below zero it reverts, like checked arithmetic. */
function add(frame: Frame, key: string, by: bigint): void {
  const sum = frame.state.number(key) + by;
  if (sum < 0n) throw new Reverted('not enough');
  frame.state.set(key, sum);
}

function initialize(frame: Frame, name: string, symbol: string, trusted: readonly Address[]): void {
  frame.state.set(`${frame.self}.name`, name);
  frame.state.set(`${frame.self}.symbol`, symbol);
  for (const address of trusted) frame.state.set(`${frame.self}.trusted.${address}`, 1n);
}

function requireTrust(frame: Frame, from: Address): void {
  const trusted = frame.state.number(`${frame.self}.trusted.${frame.sender}`) === 1n;
  if (frame.sender !== from && !trusted) throw new Reverted('not trusted');
}

function moveCoins(frame: Frame, from: Address, to: Address, value: bigint): boolean {
  add(frame, balance(frame, from), -value);
  add(frame, balance(frame, to), value);
  frame.log('Transfer', { from, to, value });
  return true;
}

function ownerOf(frame: Frame, tokenId: bigint): string {
  return frame.state.text(`${frame.self}.owner.${tokenId}`) || zeroAddress;
}

function mintNft(frame: Frame, to: Address, tokenId: bigint): void {
  if (ownerOf(frame, tokenId) !== zeroAddress) throw new Reverted('exists');
  add(frame, `${frame.self}.supply`, 1n);
  add(frame, balance(frame, to), 1n);
  frame.state.set(`${frame.self}.owner.${tokenId}`, to);
  frame.log('Transfer', { from: zeroAddress, to, tokenId });
}

function moveSupplies(frame: Frame, from: Address, to: Address, ids: bigint[], values: bigint[]): void {
  if (frame.sender !== from) throw new Reverted('not yours');
  if (ids.length !== values.length) throw new Reverted('lengths differ');
  for (const [index, id] of ids.entries()) {
    add(frame, `${balance(frame, from)}.${id}`, -values[index]!);
    add(frame, `${balance(frame, to)}.${id}`, values[index]!);
  }
}
