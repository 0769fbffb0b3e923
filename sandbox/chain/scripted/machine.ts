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

/** What a transaction leaves behind, in order. */
interface Trail {
  logs: Log[];
  traces: Trace[];
}

/** A mined transaction. */
export interface Transaction extends Trail {
  hash: Hash;
  from: Address;
  to: Address | null;
  created: Address | null;
  value: bigint;
  input: Hex;
  nonce: bigint;
  gasUsed: bigint;
}

/** Wei per unit of gas. */
export const GAS_PRICE = 1_500_000_000n;

/**
 * Creates what executes transactions on a state. `salt` makes its hashes differ from those of another chain. After an
 * error the caller rolls the state back.
 */
export function createMachine(state: State, salt: string) {
  const accounts = createAccounts(state);

  /** Returns which contract is deployed at an address. */
  function contractAt(address: Address): ContractName | undefined {
    return (state.text(`contract.${getAddress(address)}`) || undefined) as ContractName | undefined;
  }

  /** @throws {@link Reverted} */
  function execute(call: Call): Transaction {
    const from = getAddress(call.from);
    const { value = 0n, data: input = '0x' } = call;
    const nonce = accounts.nextNonce(from);
    const hash = keccak256(toBytes(`${salt} transaction ${from} ${nonce}`));
    const created = call.to === undefined ? getAddress(`0x${hash.slice(-40)}`) : null;
    const self = created ?? getAddress(call.to ?? zeroAddress);
    const top: Trace = { from, to: self, value, path: [] };
    const trail: Trail = { logs: [], traces: [top] };
    accounts.pay(from, self, value);
    if (created !== null) {
      const contract = CONTRACT_NAMES.find((name) => input.startsWith(bytecodeOf(name)));
      if (contract === undefined) throw new Reverted('only the contracts of the sandbox can be deployed');
      state.set(`contract.${self}`, contract);
      const { args } = decodeDeployData({ abi: abiOf(contract), bytecode: bytecodeOf(contract), data: input });
      run(contract, 'construct', frame(top, trail), (args ?? []) as readonly unknown[]);
    } else {
      const contract = contractAt(self);
      if (contract !== undefined) {
        const { functionName, args } = decode(contract, input);
        run(contract, functionName, frame(top, trail), args);
      }
    }
    const { logs, traces } = trail;
    const gasUsed = 21_000n + BigInt(logs.length) * 24_000n + BigInt(traces.length - 1) * 9_000n + BigInt(size(input));
    accounts.take(from, gasUsed * GAS_PRICE);
    return { hash, from, to: created === null ? self : null, created, value, input, nonce, gasUsed, logs, traces };
  }

  /** Returns the result of a call. @throws {@link Reverted} */
  function call(to: Address, data: Hex): Hex {
    const self = getAddress(to);
    const contract = contractAt(self);
    if (contract === undefined) return '0x';
    const { functionName, args } = decode(contract, data);
    const reading: Trace = { from: zeroAddress, to: self, value: 0n, path: [] };
    const result = run(contract, functionName, frame(reading, { logs: [], traces: [] }), args);
    return encodeFunctionResult({ abi: abiOf(contract), functionName, result });
  }

  /** Returns what a contract sees and does while it runs this call. */
  function frame({ from: sender, to: self, value, path }: Trace, trail: Trail): Frame {
    let calls = 0;

    function addTrace(to: Address, wei: bigint): Trace {
      const inner: Trace = { from: self, to: getAddress(to), value: wei, path: [...path, calls++] };
      trail.traces.push(inner);
      return inner;
    }

    return {
      state,
      self,
      sender,
      value,
      log: (event, args) => trail.logs.push(logOf(self, contractAt(self)!, event, args)),
      pay(to, wei) {
        accounts.pay(self, getAddress(to), wei);
        addTrace(to, wei);
      },
      call(to, functionName, args) {
        const contract = contractAt(to);
        if (contract === undefined) throw new Reverted(`no contract at ${to}`);
        run(contract, functionName, frame(addTrace(to, 0n), trail), args);
      },
    };
  }

  return { accounts, contractAt, execute, call };
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
