import { type Hex, keccak256, numberToHex, toBytes } from 'viem';
import type { Call, Receipt } from '../driver.ts';
import type { Address, Hash } from '../types.ts';
import { createMachine, type Transaction } from './machine.ts';
import { createState } from './state.ts';

/** A block. Its number is its index in the chain. */
export interface Block {
  number: number;
  hash: Hash;
  parentHash: Hash;
  /** Seconds since 1970. */
  timestamp: number;
  transactions: Transaction[];
}

/** A small in-memory chain: accounts, contracts with known behavior, blocks. */
export type Ledger = ReturnType<typeof createLedger>;

/**
 * Creates a chain with one empty block. `now` is in milliseconds since 1970; it also makes this chain's hashes differ
 * from another chain's.
 */
export function createLedger(now: () => number) {
  const blocks: Block[] = [];
  const state = createState();
  const salt = `${now()}`;
  const machine = createMachine(state, salt);
  seal([]);

  /** Returns the deployed code. Only its presence matters here. */
  function code(address: Address): Hex {
    return machine.contractAt(address) ? '0x00' : '0x';
  }

  /** Mines all calls in one block. @throws {@link Reverted} and mines none. */
  function mine(calls: readonly Call[]): Receipt[] {
    try {
      const transactions = calls.map((call) => machine.execute(call));
      state.commit();
      const block = seal(transactions);
      return transactions.map(({ hash, created }) => ({ hash, created, blockNumber: block.number }));
    } catch (error) {
      state.rollBack();
      throw error;
    }
  }

  /** Returns the result of a call without changing anything. @throws {@link Reverted} */
  function read(to: Address, data: Hex): Hex {
    try {
      return machine.call(to, data);
    } finally {
      state.rollBack();
    }
  }

  function seal(transactions: Transaction[]): Block {
    const number = blocks.length;
    const parentHash = blocks[number - 1]?.hash ?? numberToHex(0, { size: 32 });
    const hash = keccak256(toBytes(`${salt} block ${number}`));
    const timestamp = Math.floor(now() / 1_000);
    const block: Block = { number, hash, parentHash, timestamp, transactions };
    blocks.push(block);
    return block;
  }

  const { coins, setCoins, nonce } = machine.accounts;
  return { blocks, coins, setCoins, nonce, code, mine, read };
}
