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
import { abiOf, bytecodeOf, type ContractName, contractNames } from '../contracts.ts';
import type { Call, Receipt } from '../driver.ts';
import type { Address, Hash } from '../types.ts';
import { type Frame, Reverted, run } from './contracts.ts';
import { State } from './state.ts';

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
export const gasPrice = 1_500_000_000n;

/** A small in-memory chain: accounts, contracts with known behavior, blocks. */
export class Ledger {
  readonly blocks: Block[] = [];
  readonly #state = new State();
  readonly #contracts = new Map<Address, ContractName>();
  readonly #now: () => number;
  readonly #salt: string;

  /** @param now milliseconds since 1970. It also makes this chain's hashes differ from another chain's. */
  constructor(now: () => number) {
    this.#now = now;
    this.#salt = `${now()}`;
    this.#seal([]);
  }

  coins(address: Address): bigint {
    return this.#state.number(`coins.${getAddress(address)}`);
  }

  setCoins(address: Address, wei: bigint): void {
    this.#state.set(`coins.${getAddress(address)}`, wei);
    this.#state.keep();
  }

  nonce(address: Address): bigint {
    return this.#state.number(`nonce.${getAddress(address)}`);
  }

  /** Returns the deployed code. Only its presence matters here. */
  code(address: Address): Hex {
    return this.#contracts.has(getAddress(address)) ? '0x00' : '0x';
  }

  /** Mines all calls in one block. @throws {@link Reverted} and mines none. */
  mine(calls: readonly Call[]): Receipt[] {
    const born: Address[] = [];
    try {
      const transactions = calls.map((call) => {
        const transaction = this.#execute(call);
        if (transaction.created !== null) born.push(transaction.created);
        return transaction;
      });
      this.#state.keep();
      const block = this.#seal(transactions);
      return transactions.map(({ hash, created }) => ({ hash, created, blockNumber: block.number }));
    } catch (error) {
      this.#state.drop();
      for (const address of born) this.#contracts.delete(address);
      throw error;
    }
  }

  /** Returns the result of a call without changing anything. @throws {@link Reverted} */
  read(to: Address, data: Hex): Hex {
    const self = getAddress(to);
    const contract = this.#contracts.get(self);
    if (contract === undefined) return '0x';
    try {
      const { functionName, args } = decode(contract, data);
      const result = run(contract, functionName, this.#frame(self, zeroAddress, 0n, [], [], []), args);
      return encodeFunctionResult({ abi: abiOf(contract), functionName, result });
    } finally {
      this.#state.drop();
    }
  }

  #execute(call: Call): Transaction {
    const from = getAddress(call.from);
    const { value = 0n, data: input = '0x' } = call;
    const nonce = this.nonce(from);
    this.#state.set(`nonce.${from}`, nonce + 1n);
    const hash = keccak256(toBytes(`${this.#salt} transaction ${from} ${nonce}`));
    const created = call.to === undefined ? getAddress(`0x${hash.slice(-40)}`) : null;
    const self = created ?? getAddress(call.to ?? zeroAddress);
    const logs: Log[] = [];
    const traces: Trace[] = [];
    this.#pay(from, self, value, [], traces);
    const frame = (contract: ContractName) => ({ contract, at: this.#frame(self, from, value, [], logs, traces) });
    if (created !== null) {
      const contract = contractNames.find((name) => input.startsWith(bytecodeOf(name)));
      if (contract === undefined) throw new Reverted('only the contracts of the sandbox can be deployed');
      this.#contracts.set(self, contract);
      const { args } = decodeDeployData({ abi: abiOf(contract), bytecode: bytecodeOf(contract), data: input });
      run(contract, 'birth', frame(contract).at, (args ?? []) as readonly unknown[]);
    } else {
      const contract = this.#contracts.get(self);
      if (contract !== undefined) {
        const { functionName, args } = decode(contract, input);
        run(contract, functionName, frame(contract).at, args);
      }
    }
    const gasUsed = 21_000n + BigInt(logs.length) * 24_000n + BigInt(traces.length - 1) * 9_000n + BigInt(size(input));
    this.#take(from, gasUsed * gasPrice);
    return { hash, from, to: created === null ? self : null, created, value, input, nonce, gasUsed, logs, traces };
  }

  #frame(self: Address, sender: Address, value: bigint, path: number[], logs: Log[], traces: Trace[]): Frame {
    let calls = 0;
    return {
      state: this.#state,
      self,
      sender,
      value,
      log: (event, args) => logs.push(this.#log(self, event, args)),
      pay: (to, wei) => this.#pay(self, getAddress(to), wei, [...path, calls++], traces),
      call: (to, functionName, args) => {
        const inner = [...path, calls++];
        const contract = this.#contracts.get(getAddress(to));
        if (contract === undefined) throw new Reverted(`no contract at ${to}`);
        this.#pay(self, getAddress(to), 0n, inner, traces);
        run(contract, functionName, this.#frame(getAddress(to), self, 0n, inner, logs, traces), args);
      },
    };
  }

  #log(address: Address, eventName: string, args: Record<string, unknown>): Log {
    const abi = abiOf(this.#contracts.get(address)!);
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

  #pay(from: Address, to: Address, value: bigint, path: number[], traces: Trace[]): void {
    this.#take(from, value);
    this.#state.set(`coins.${to}`, this.coins(to) + value);
    traces.push({ from, to, value, path });
  }

  #take(from: Address, wei: bigint): void {
    const left = this.coins(from) - wei;
    if (left < 0n) throw new Reverted(`${from} has not enough coins`);
    this.#state.set(`coins.${from}`, left);
  }

  #seal(transactions: Transaction[]): Block {
    const number = this.blocks.length;
    const parentHash = this.blocks[number - 1]?.hash ?? numberToHex(0, { size: 32 });
    const hash = keccak256(toBytes(`${this.#salt} block ${number}`));
    const timestamp = Math.floor(this.#now() / 1000);
    const block: Block = { number, hash, parentHash, timestamp, transactions };
    this.blocks.push(block);
    return block;
  }
}

function decode(contract: ContractName, data: Hex): { functionName: string; args: readonly unknown[] } {
  try {
    const { functionName, args } = decodeFunctionData({ abi: abiOf(contract), data });
    return { functionName, args: args ?? [] };
  } catch {
    throw new Reverted('no such function');
  }
}
