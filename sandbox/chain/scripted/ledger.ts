import {
  type AbiEvent,
  decodeDeployData,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  getAbiItem,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  size,
  toBytes,
  zeroAddress,
} from 'viem';
import { abiOf, bytecodeOf, CONTRACT_NAMES, type ContractName } from '../contracts.ts';
import type { Call, Receipt } from '../driver.ts';
import type { Address, Hash } from '../types.ts';
import { type Frame, Reverted, run } from './contracts.ts';
import { createState, type State } from './state.ts';

/** An event of a contract. */
export interface Log {
  address: Address;
  topics: Hex[];
  data: Hex;
}

/** A call inside a transaction; `path` is empty for the transaction's own. */
export interface Trace {
  from: Address;
  to: Address;
  value: bigint;
  path: number[];
}

/** A mined transaction. */
export interface Transaction {
  hash: Hash;
  from: Address;
  to: Address | null;
  created: Address | null;
  value: bigint;
  input: Hex;
  nonce: bigint;
  gasUsed: bigint;
  logs: Log[];
  traces: Trace[];
}

/** A block. Its number is its index in the chain. */
export interface Block {
  number: number;
  hash: Hash;
  parentHash: Hash;
  /** Seconds since 1970. */
  timestamp: number;
  transactions: Transaction[];
}

/** Wei per unit of gas. */
export const GAS_PRICE = 1_500_000_000n;

/** A small in-memory chain: accounts, contracts with known behavior, blocks. */
export type Ledger = ReturnType<typeof createLedger>;

/**
 * Creates a chain with one empty block. `now` is in milliseconds since 1970; it also makes this chain's hashes differ
 * from another chain's.
 */
export function createLedger(now: () => number) {
  const blocks: Block[] = [];
  const state = createState();
  const accounts = createAccounts(state);
  const contracts = new Map<Address, ContractName>();
  const salt = `${now()}`;
  seal([]);

  /** Returns the deployed code. Only its presence matters here. */
  function code(address: Address): Hex {
    return contracts.has(getAddress(address)) ? '0x00' : '0x';
  }

  /** Mines all calls in one block. @throws {@link Reverted} and mines none. */
  function mine(calls: readonly Call[]): Receipt[] {
    const born: Address[] = [];
    try {
      const transactions = calls.map((call) => {
        const transaction = execute(call);
        if (transaction.created !== null) born.push(transaction.created);
        return transaction;
      });
      state.keep();
      const block = seal(transactions);
      return transactions.map(({ hash, created }) => ({ hash, created, blockNumber: block.number }));
    } catch (error) {
      state.drop();
      for (const address of born) contracts.delete(address);
      throw error;
    }
  }

  /** Returns the result of a call without changing anything. @throws {@link Reverted} */
  function read(to: Address, data: Hex): Hex {
    const self = getAddress(to);
    const contract = contracts.get(self);
    if (contract === undefined) return '0x';
    try {
      const { functionName, args } = decode(contract, data);
      const result = run(contract, functionName, frame(self, zeroAddress, 0n, [], [], []), args);
      return encodeFunctionResult({ abi: abiOf(contract), functionName, result });
    } finally {
      state.drop();
    }
  }

  function execute(call: Call): Transaction {
    const from = getAddress(call.from);
    const { value = 0n, data: input = '0x' } = call;
    const nonce = accounts.nextNonce(from);
    const hash = keccak256(toBytes(`${salt} transaction ${from} ${nonce}`));
    const created = call.to === undefined ? getAddress(`0x${hash.slice(-40)}`) : null;
    const self = created ?? getAddress(call.to ?? zeroAddress);
    const logs: Log[] = [];
    const traces: Trace[] = [];
    accounts.pay(from, self, value);
    traces.push({ from, to: self, value, path: [] });
    const top = frame(self, from, value, [], logs, traces);
    if (created !== null) {
      const contract = CONTRACT_NAMES.find((name) => input.startsWith(bytecodeOf(name)));
      if (contract === undefined) throw new Reverted('only the contracts of the sandbox can be deployed');
      contracts.set(self, contract);
      const { args } = decodeDeployData({ abi: abiOf(contract), bytecode: bytecodeOf(contract), data: input });
      run(contract, 'birth', top, (args ?? []) as readonly unknown[]);
    } else {
      const contract = contracts.get(self);
      if (contract !== undefined) {
        const { functionName, args } = decode(contract, input);
        run(contract, functionName, top, args);
      }
    }
    const gasUsed = 21_000n + BigInt(logs.length) * 24_000n + BigInt(traces.length - 1) * 9_000n + BigInt(size(input));
    accounts.take(from, gasUsed * GAS_PRICE);
    return { hash, from, to: created === null ? self : null, created, value, input, nonce, gasUsed, logs, traces };
  }

  function frame(self: Address, sender: Address, value: bigint, path: number[], logs: Log[], traces: Trace[]): Frame {
    let calls = 0;
    return {
      state,
      self,
      sender,
      value,
      log: (event, args) => logs.push(logOf(self, contracts.get(self)!, event, args)),
      pay(to, wei) {
        accounts.pay(self, getAddress(to), wei);
        traces.push({ from: self, to: getAddress(to), value: wei, path: [...path, calls++] });
      },
      call: (to, functionName, args) => {
        const inner = [...path, calls++];
        const contract = contracts.get(getAddress(to));
        if (contract === undefined) throw new Reverted(`no contract at ${to}`);
        traces.push({ from: self, to: getAddress(to), value: 0n, path: inner });
        run(contract, functionName, frame(getAddress(to), self, 0n, inner, logs, traces), args);
      },
    };
  }

  function seal(transactions: Transaction[]): Block {
    const number = blocks.length;
    const parentHash = blocks[number - 1]?.hash ?? numberToHex(0, { size: 32 });
    const hash = keccak256(toBytes(`${salt} block ${number}`));
    const timestamp = Math.floor(now() / 1000);
    const block: Block = { number, hash, parentHash, timestamp, transactions };
    blocks.push(block);
    return block;
  }

  return { blocks, coins: accounts.coins, setCoins: accounts.setCoins, nonce: accounts.nonce, code, mine, read };
}

/** Creates the accounts of a chain: their coins, in wei, and how many transactions each has sent. */
function createAccounts(state: State) {
  const coins = (address: Address) => state.number(`coins.${getAddress(address)}`);
  const nonce = (address: Address) => state.number(`nonce.${getAddress(address)}`);

  /** @throws {@link Reverted} when the account has fewer coins. */
  function take(from: Address, wei: bigint): void {
    const left = coins(from) - wei;
    if (left < 0n) throw new Reverted(`${from} has not enough coins`);
    state.set(`coins.${from}`, left);
  }

  return {
    coins,
    nonce,
    take,
    setCoins(address: Address, wei: bigint): void {
      state.set(`coins.${getAddress(address)}`, wei);
      state.keep();
    },
    /** Returns the number of the account's next transaction and counts that. */
    nextNonce(from: Address): bigint {
      const next = nonce(from);
      state.set(`nonce.${from}`, next + 1n);
      return next;
    },
    /** @throws {@link Reverted} when the sender has fewer coins. */
    pay(from: Address, to: Address, wei: bigint): void {
      take(from, wei);
      state.set(`coins.${to}`, coins(to) + wei);
    },
  };
}

function logOf(address: Address, contract: ContractName, eventName: string, args: Record<string, unknown>): Log {
  const abi = abiOf(contract);
  const event = getAbiItem({ abi, name: eventName }) as AbiEvent;
  const plain = event.inputs.filter((input) => input.indexed !== true);
  return {
    address,
    topics: encodeEventTopics({ abi, eventName, args }) as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name!]),
    ),
  };
}

function decode(contract: ContractName, data: Hex): { functionName: string; args: readonly unknown[] } {
  try {
    const { functionName, args } = decodeFunctionData({ abi: abiOf(contract), data });
    return { functionName, args: args ?? [] };
  } catch {
    throw new Reverted('no such function');
  }
}
