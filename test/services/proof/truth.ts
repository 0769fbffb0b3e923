import type { Hex } from 'viem';
import { type ContractName, callData, callResult } from '../../../sandbox/chain/contracts.ts';
import type { Chain } from '../../../sandbox/chain/index.ts';
import type { Rpc } from '../../../sandbox/chain/rpc.ts';
import { readBlock, readLogs } from '../../../services/chain/block.ts';
import { innerTransfers, outerTransfers } from '../../../services/chain/block-transfers.ts';
import { connect } from '../../../services/chain/nodes.ts';
import { profileOf } from '../../../services/chain/profiles.ts';
import { coinMoves } from '../../../services/chain/traces.ts';
import type { Received } from '../receiver.ts';

/** Reads from the chain, without the services: balances, and the events of its blocks. */

const COIN = 'coin';
const HOLDINGS = ['dollar', 'bell', 'fake', 'keys', 'supplies'] as const;
/** The only ERC-1155 id that the operations move. */
const PIECES = 7n;

/** Balances by `owner asset`. */
export type Balances = Map<string, bigint>;

export async function balancesOf(rpc: Rpc, chain: Chain, owners: readonly Hex[]): Promise<Balances> {
  const found: Balances = new Map();
  for (const owner of owners) {
    found.set(`${owner} ${COIN}`, BigInt(await rpc<Hex>('eth_getBalance', [owner, 'latest'])));
    for (const name of HOLDINGS) {
      const token = chain.tokens[name];
      const contract: ContractName = ({ 'ERC-20': 'Coin', 'ERC-721': 'Collectible', 'ERC-1155': 'Supplies' } as const)[
        token.type
      ];
      const data = callData(contract, 'balanceOf', token.type === 'ERC-1155' ? [owner, PIECES] : [owner]);
      const answer = await rpc<Hex>('eth_call', [{ to: token.address, data }, 'latest']);
      found.set(`${owner} ${token.address.toLowerCase()}`, callResult(contract, 'balanceOf', answer) as bigint);
    }
  }
  return found;
}

/** Fees that each of the owners paid in these blocks, in wei. */
export async function feesOf(rpc: Rpc, owners: readonly Hex[], first: number, last: number): Promise<Map<Hex, bigint>> {
  const fees = new Map<Hex, bigint>(owners.map((owner) => [owner, 0n]));
  for (let number = first; number <= last; number++) {
    const receipts = await rpc<{ from: Hex; gasUsed: Hex; effectiveGasPrice: Hex }[]>('eth_getBlockReceipts', [
      `0x${number.toString(16)}`,
    ]);
    for (const { from, gasUsed, effectiveGasPrice } of receipts) {
      const owner = owners.find((one) => one.toLowerCase() === from.toLowerCase());
      if (owner) fees.set(owner, fees.get(owner)! + BigInt(gasUsed) * BigInt(effectiveGasPrice));
    }
  }
  return fees;
}

interface Body {
  blockHash: string;
  txHash: string;
  direction: 'incoming' | 'outgoing';
  to: string;
  from: string;
  value?: string;
  tokenId?: string;
  quantity?: string;
  tokenType: string;
  tokenAddress: string;
  removed?: boolean;
}

/** Reads what a receiver got, with each number as text; a token id may have any length. */
export function bodyOf({ body }: Received): Body {
  return JSON.parse(body.replace(/:(\d+)([,}])/g, ':"$1"$2')) as Body;
}

export function changesBy(bodies: readonly Body[], known: ReadonlySet<string>, nativeSymbol: string): Balances {
  const changes: Balances = new Map();
  for (const { direction, to, from, value, quantity, tokenType, tokenAddress } of bodies) {
    const owner = direction === 'incoming' ? to : from;
    const asset = tokenType === nativeSymbol ? COIN : tokenAddress.toLowerCase();
    const key = [...known].find((one) => one.toLowerCase() === `${owner.toLowerCase()} ${asset}`);
    if (key === undefined) continue;
    const amount = tokenType === 'ERC-721' ? 1n : BigInt((tokenType === 'ERC-1155' ? quantity : value) ?? 0);
    changes.set(key, (changes.get(key) ?? 0n) + (direction === 'incoming' ? amount : -amount));
  }
  return changes;
}

/** The events of the blocks as they are now, read from a node without faults: block, transaction, place and role. */
export async function eventsOf(
  rpc: Rpc,
  rpcUrl: string,
  owners: readonly Hex[],
  first: number,
  last: number,
): Promise<string[]> {
  const clean = connect(rpcUrl);
  const watched = new Set<string>(owners.map((owner) => owner.toLowerCase()));
  const events: string[] = [];
  for (let number = first; number <= last; number++) {
    const block = await readBlock(clean, number);
    if (block.transactions.length === 0) continue;
    const outer = outerTransfers(block, (await readLogs(clean, block)).logs, profileOf(''));
    const inner = innerTransfers(await coinMoves(clean, block));
    const receipts = await rpc<{ transactionHash: string; status: Hex }[]>('eth_getBlockReceipts', [block.number]);
    const reverted = new Set(receipts.filter(({ status }) => status === '0x0').map((one) => one.transactionHash));
    for (const { txHash, place, from, to } of [...outer.transfers, ...inner.transfers]) {
      if (reverted.has(txHash)) continue;
      if (watched.has(to.toLowerCase())) events.push([block.hash, txHash, place, 'incoming'].join(' '));
      if (watched.has(from.toLowerCase())) events.push([block.hash, txHash, place, 'outgoing'].join(' '));
    }
  }
  clean.close();
  return events.sort();
}

/** The ids of the deliveries that reported each event. */
export function idsByEvent(received: readonly Received[]): Map<string, Set<unknown>> {
  const found = new Map<string, Set<unknown>>();
  for (const one of received) {
    const event = eventOf(one);
    found.set(event, (found.get(event) ?? new Set()).add(one.headers['webhook-id']));
  }
  return found;
}

/** A delivery's event, in the form of {@link eventsOf}. */
export function eventOf(received: Received): string {
  const { blockHash, txHash, direction } = bodyOf(received);
  return [blockHash, txHash, received.headers['ledgerbell-place'], direction].join(' ');
}
