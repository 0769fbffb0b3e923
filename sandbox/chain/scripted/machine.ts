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
  size,
  toBytes,
  zeroAddress,
} from 'viem';
import { abiOf, bytecodeOf, CONTRACT_NAMES, type ContractName } from '../contracts.ts';
import type { Call } from '../driver.ts';
import type { Address, Hash } from '../types.ts';
import { createAccounts } from './accounts.ts';
import { type Frame, Reverted, run } from './contracts.ts';
import type { State } from './state.ts';

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

/** Wei per unit of gas. */
export const GAS_PRICE = 1_500_000_000n;

/**
 * Creates what executes transactions on a state. `salt` makes its hashes differ from those of another chain. After an
 * error the caller drops the changes of the state.
 */
export function createMachine(state: State, salt: string) {
  const accounts = createAccounts(state);
  const contracts = new Map<Address, ContractName>();

  /** @throws {@link Reverted} */
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

  /** Returns the result of a call. @throws {@link Reverted} */
  function call(to: Address, data: Hex): Hex {
    const self = getAddress(to);
    const contract = contracts.get(self);
    if (contract === undefined) return '0x';
    const { functionName, args } = decode(contract, data);
    const result = run(contract, functionName, frame(self, zeroAddress, 0n, [], [], []), args);
    return encodeFunctionResult({ abi: abiOf(contract), functionName, result });
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

  return {
    accounts,
    execute,
    call,
    hasCode: (address: Address): boolean => contracts.has(getAddress(address)),
    /** Undoes a deployment. */
    undeploy: (address: Address): void => void contracts.delete(address),
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
