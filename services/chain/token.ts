import { decodeFunctionResult, encodeFunctionData, type Hex, hexToString, parseAbi, size } from 'viem';
import { CallEnded, type Node } from './node.ts';
import type { Address } from './transfers.ts';

/** What a contract says of itself; null where it does not say it. Names are cut at 256 characters. */
export interface TokenFacts {
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** A token with everything that the explorer shows. */
export interface TokenRecord extends TokenFacts {
  type: 'ERC-20' | 'ERC-721' | 'ERC-1155';
  /** In the smallest unit; null where the contract does not say it. */
  totalSupply: bigint | null;
}

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function supportsInterface(bytes4) view returns (bool)',
]);

/** Asks a contract for name, symbol and decimals. @throws when the node does not let it answer. */
export async function readFacts(node: Node, address: Address): Promise<TokenFacts> {
  const [name, symbol, decimals] = await Promise.all([
    readText(node, address, 'name'),
    readText(node, address, 'symbol'),
    readNumber(node, address, 'decimals'),
  ]);
  return { name, symbol, decimals: decimals !== null && decimals <= 255n ? Number(decimals) : null };
}

/** Reads a token from the chain; null when there is no contract or it is no token. */
export async function readToken(node: Node, address: Address): Promise<TokenRecord | null> {
  if ((await node.call<Hex>('eth_getCode', [address, 'latest'])) === '0x') return null;
  const [facts, totalSupply, erc721, erc1155] = await Promise.all([
    readFacts(node, address),
    readNumber(node, address, 'totalSupply'),
    supports(node, address, '0x80ac58cd'),
    supports(node, address, '0xd9b67a26'),
  ]);
  if (erc721 || erc1155) return { ...facts, totalSupply, decimals: null, type: erc721 ? 'ERC-721' : 'ERC-1155' };
  if (totalSupply === null || (facts.symbol === null && facts.decimals === null)) return null;
  return { ...facts, totalSupply, type: 'ERC-20' };
}

async function readText(node: Node, to: Address, functionName: 'name' | 'symbol'): Promise<string | null> {
  const data = await ask(node, to, encodeFunctionData({ abi, functionName }));
  if (data === null) return null;
  try {
    // The oldest tokens answer bytes32 instead of a string.
    const text =
      size(data) === 32 ? hexToString(data, { size: 32 }) : decodeFunctionResult({ abi, functionName, data });
    return Array.from(text).slice(0, 256).join('');
  } catch {
    return null;
  }
}

async function readNumber(node: Node, to: Address, functionName: 'decimals' | 'totalSupply'): Promise<bigint | null> {
  const data = await ask(node, to, encodeFunctionData({ abi, functionName }));
  return data !== null && size(data) === 32 ? BigInt(data) : null;
}

async function supports(node: Node, to: Address, interfaceId: Hex): Promise<boolean> {
  const data = await ask(node, to, encodeFunctionData({ abi, functionName: 'supportsInterface', args: [interfaceId] }));
  return data !== null && size(data) === 32 && BigInt(data) === 1n;
}

/** What a call answers; null when the contract refuses it or answers nothing. */
async function ask(node: Node, to: Address, data: Hex): Promise<Hex | null> {
  try {
    const answer = await node.call<Hex>('eth_call', [{ to, data }, 'latest']);
    return answer === '0x' ? null : answer;
  } catch (error) {
    if (error instanceof CallEnded) return null;
    throw error;
  }
}
