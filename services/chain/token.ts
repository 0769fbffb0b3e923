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

/** Of a token that says nothing. */
export const noFacts: TokenFacts = { name: null, symbol: null, decimals: null };

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function supportsInterface(bytes4) view returns (bool)',
]);

/**
 * Asks a contract for name, symbol and decimals; null when there was no answer of any kind, as where the node does not
 * have the contract yet.
 *
 * @throws when the node does not let it answer.
 */
export async function findFacts(node: Node, address: Address): Promise<TokenFacts | null> {
  const [name, symbol, decimals] = await Promise.all([
    ask(node, address, 'name'),
    ask(node, address, 'symbol'),
    ask(node, address, 'decimals'),
  ]);
  if (name === '0x' && symbol === '0x' && decimals === '0x') return null;
  const count = numberIn(decimals);
  return {
    name: textIn(name),
    symbol: textIn(symbol),
    decimals: count !== null && count <= 255n ? Number(count) : null,
  };
}

/** As {@link findFacts}, with nulls in the place of no answer. */
export async function readFacts(node: Node, address: Address): Promise<TokenFacts> {
  return (await findFacts(node, address)) ?? noFacts;
}

/** Reads a token from the chain; null when there is no contract or it is no token. */
export async function readToken(node: Node, address: Address): Promise<TokenRecord | null> {
  if ((await node.call<Hex>('eth_getCode', [address, 'latest'])) === '0x') return null;
  const [facts, totalSupply, erc721, erc1155] = await Promise.all([
    readFacts(node, address),
    ask(node, address, 'totalSupply').then(numberIn),
    supports(node, address, '0x80ac58cd'),
    supports(node, address, '0xd9b67a26'),
  ]);
  if (erc721 || erc1155) return { ...facts, totalSupply, decimals: null, type: erc721 ? 'ERC-721' : 'ERC-1155' };
  if (totalSupply === null || (facts.symbol === null && facts.decimals === null)) return null;
  return { ...facts, totalSupply, type: 'ERC-20' };
}

function textIn(data: Hex | null): string | null {
  if (data === null) return null;
  try {
    // The oldest tokens answer bytes32 instead of a string.
    const text =
      size(data) === 32 ? hexToString(data, { size: 32 }) : decodeFunctionResult({ abi, functionName: 'name', data });
    return Array.from(text).slice(0, 256).join('');
  } catch {
    return null;
  }
}

function numberIn(data: Hex | null): bigint | null {
  return data !== null && size(data) === 32 ? BigInt(data) : null;
}

async function supports(node: Node, to: Address, interfaceId: Hex): Promise<boolean> {
  const data = encodeFunctionData({ abi, functionName: 'supportsInterface', args: [interfaceId] });
  return numberIn(await call(node, to, data)) === 1n;
}

function ask(
  node: Node,
  to: Address,
  functionName: 'name' | 'symbol' | 'decimals' | 'totalSupply',
): Promise<Hex | null> {
  return call(node, to, encodeFunctionData({ abi, functionName }));
}

/** What a call answers, `0x` where there is nothing to answer it; null when the contract ends it. */
async function call(node: Node, to: Address, data: Hex): Promise<Hex | null> {
  try {
    return await node.call<Hex>('eth_call', [{ to, data }, 'latest']);
  } catch (error) {
    if (error instanceof CallEnded) return null;
    throw error;
  }
}
