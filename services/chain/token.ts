import { decodeFunctionResult, encodeFunctionData, type Hex, hexToString, numberToHex, parseAbi, size } from 'viem';
import { CallEnded, type Node, NodeBusy, NodeUnreachable } from './node.ts';
import type { Address } from './transfers.ts';

/** null where the contract does not say. */
export interface TokenFacts {
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

export interface TokenRecord extends TokenFacts {
  type: 'ERC-20' | 'ERC-721' | 'ERC-1155';
  /** In the smallest unit. */
  totalSupply: bigint | null;
}

/** A contract returned no bytes: the node may not have the contract yet. */
class EmptyResponse extends NodeUnreachable {}

export const NO_FACTS: TokenFacts = { name: null, symbol: null, decimals: null };

/** More than an honest `name()` needs behind proxies, and too little to keep a node busy. */
const MAX_GAS = numberToHex(5_000_000);

const MAX_CHARACTERS = 256;

const ABI = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function supportsInterface(bytes4) view returns (bool)',
]);

/** `failure` is null when every call got a definite response, which an empty one is not. @throws {NodeBusy} */
export async function askFacts(node: Node, address: Address) {
  let failure: Error | null = null;

  async function asked(question: keyof TokenFacts): Promise<Hex | null> {
    try {
      const data = await ask(node, address, question);
      if (data === null || size(data) >= 32) return data;
      failure ??= new EmptyResponse(`${question}() of ${address} returns nothing`);
      return null;
    } catch (error) {
      if (error instanceof NodeBusy) throw error;
      failure ??= error as Error;
      return null;
    }
  }

  const [name, symbol, decimals] = await Promise.all([asked('name'), asked('symbol'), asked('decimals')]);
  const count = numberIn(decimals);
  const facts: TokenFacts = {
    name: textIn(name),
    symbol: textIn(symbol),
    decimals: count !== null && count <= 255n ? Number(count) : null,
  };
  return { facts, failure: failure as Error | null };
}

/** null when there is no contract or it is not a token. */
export async function readToken(node: Node, address: Address): Promise<TokenRecord | null> {
  if ((await node.call<Hex>('eth_getCode', [address, 'latest'])) === '0x') return null;
  const [{ facts, failure }, totalSupply, erc721, erc1155, anything] = await Promise.all([
    askFacts(node, address),
    ask(node, address, 'totalSupply').then(numberIn),
    supports(node, address, '0x80ac58cd'),
    supports(node, address, '0xd9b67a26'),
    // ERC-165 forbids to affirm this one: such a contract affirms everything.
    supports(node, address, '0xffffffff'),
  ]);
  if (failure !== null && !(failure instanceof EmptyResponse)) throw failure;
  if ((erc721 || erc1155) && !anything)
    return { ...facts, totalSupply, decimals: null, type: erc721 ? 'ERC-721' : 'ERC-1155' };
  if (totalSupply === null || (facts.symbol === null && facts.decimals === null)) return null;
  return { ...facts, totalSupply, type: 'ERC-20' };
}

function textIn(data: Hex | null): string | null {
  if (data === null) return null;
  try {
    // The oldest tokens return bytes32 instead of a string.
    const text =
      size(data) === 32
        ? hexToString(data, { size: 32 })
        : decodeFunctionResult({ abi: ABI, functionName: 'name', data });
    // Cut first: the expression takes quadratic time, hours for a megabyte of NULs.
    return Array.from(text.slice(0, 2 * MAX_CHARACTERS).replace(/\0+$/, ''))
      .slice(0, MAX_CHARACTERS)
      .join('');
  } catch {
    return null;
  }
}

function numberIn(data: Hex | null): bigint | null {
  return data !== null && size(data) === 32 ? BigInt(data) : null;
}

async function supports(node: Node, to: Address, interfaceId: Hex): Promise<boolean> {
  const data = encodeFunctionData({ abi: ABI, functionName: 'supportsInterface', args: [interfaceId] });
  return numberIn(await call(node, to, data)) === 1n;
}

/** Asks again before it believes that a contract does not respond: a missing number of decimals makes a coin an NFT. */
async function ask(node: Node, to: Address, functionName: keyof TokenFacts | 'totalSupply'): Promise<Hex | null> {
  const data = encodeFunctionData({ abi: ABI, functionName });
  const first = await call(node, to, data);
  return first !== null && first !== '0x' ? first : await call(node, to, data);
}

/** The result of a call: `0x` without a contract, null when the contract reverts. */
async function call(node: Node, to: Address, data: Hex): Promise<Hex | null> {
  try {
    return await node.call<Hex>('eth_call', [{ to, data, gas: MAX_GAS }, 'latest'], (result: unknown) => {
      if (typeof result !== 'string' || !/^0x[0-9a-f]*$/i.test(result)) {
        throw new NodeUnreachable("The node's response to eth_call cannot be read");
      }
    });
  } catch (error) {
    if (error instanceof CallEnded) return null;
    throw error;
  }
}
