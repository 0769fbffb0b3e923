import { type Abi, decodeFunctionResult, encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import compiled from './contracts.json' with { type: 'json' };

export type ContractName = keyof typeof compiled;

const abiOf = (name: ContractName): Abi => compiled[name].abi as Abi;

export function deployData(name: ContractName, args: readonly unknown[]): Hex {
  return encodeDeployData({ abi: abiOf(name), bytecode: compiled[name].bytecode as Hex, args });
}

export function callData(name: ContractName, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: abiOf(name), functionName, args });
}

export function callResult(name: ContractName, functionName: string, data: Hex): unknown {
  return decodeFunctionResult({ abi: abiOf(name), functionName, data });
}
