import { formatEther } from 'viem';
import type { NodeBlock, NodeReceipt, NodeTransaction } from '../chain/node.ts';
import type { TokenFacts } from '../chain/token.ts';
import { sentinelAddress, settled, type Transfer } from '../chain/transfers.ts';
import type { EventType } from './types.ts';

/** Which of the three addresses of a transfer is watched. */
export type Role = 'token' | 'to' | 'from';

/** Everything that an event tells. */
export interface EventSource {
  transfer: Transfer;
  role: Role;
  projectId: string;
  block: NodeBlock;
  transaction: NodeTransaction;
  receipt: NodeReceipt;
  /** null for coins. */
  token: TokenFacts | null;
  /** `tokenType` of coins. */
  nativeSymbol: string;
}

/** Whether a webhook of an event type wants to hear of a transfer. */
export function wants(eventType: EventType, { kind }: Transfer): boolean {
  switch (eventType) {
    case 'ALL':
      return true;
    case 'NATIVE':
      return kind === 'native';
    case 'ERC20':
      return kind === 'erc20';
    case 'ERC721':
      return kind === 'erc721' || kind === 'erc1155';
  }
}

/** As {@link wants}, before its token said what the transfer is. */
export function mayWant(eventType: EventType, transfer: Transfer): boolean {
  return [null, 0].some((decimals) => wants(eventType, settled(transfer, { decimals })));
}

/** The address of a transfer that stands in a role. */
export function addressIn(transfer: Transfer, role: Role): string {
  switch (role) {
    case 'token':
      return transfer.kind === 'native' ? sentinelAddress : transfer.token;
    case 'to':
      return transfer.to;
    case 'from':
      return transfer.from;
  }
}

/** The JSON text of an event. A token id is a bare integer of any length. */
export function eventBody(source: EventSource): string {
  const { transfer, role, projectId, block, transaction, receipt } = source;
  const gasPrice = BigInt(receipt.effectiveGasPrice ?? transaction.gasPrice ?? 0);
  const gasUsed = BigInt(receipt.gasUsed);
  return jsonOf({
    to: transfer.to,
    from: transfer.from,
    ...amountFields(transfer, source.token),
    txHash: transfer.txHash,
    blockNumber: Number(block.number),
    blockHash: block.hash,
    ...tokenFields(source),
    projectId,
    direction: role === 'token' ? null : role === 'to' ? 'incoming' : 'outgoing',
    addressType: role === 'token' ? 'Token' : 'Wallet',
    gasPrice: gasPrice.toString(),
    gasUsed: gasUsed.toString(),
    gasFee: (gasPrice * gasUsed).toString(),
    gasLimit: BigInt(transaction.gas).toString(),
    txnValue: BigInt(transaction.value).toString(),
  });
}

type Fields = Record<string, string | number | bigint | boolean | null | undefined>;

function amountFields(transfer: Transfer, token: TokenFacts | null): Fields {
  switch (transfer.kind) {
    case 'native':
      return { value: transfer.value.toString(), valueEth: formatEther(transfer.value) };
    case 'erc20':
      return { value: transfer.value.toString(), tokenDecimals: token?.decimals?.toString() };
    case 'erc721':
      return { tokenId: transfer.tokenId };
    case 'erc1155':
      return { tokenId: transfer.tokenId, value: transfer.value.toString() };
  }
}

function tokenFields({ transfer, token, nativeSymbol }: EventSource): Fields {
  const tokenAddress = addressIn(transfer, 'token');
  if (transfer.kind === 'native') {
    return { tokenType: nativeSymbol, tokenAddress, isInternalTransaction: transfer.internal ? true : undefined };
  }
  const tokenType = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }[transfer.kind];
  return { tokenType, tokenAddress, tokenName: token?.name ?? undefined, tokenSymbol: token?.symbol ?? undefined };
}

/** JSON of a flat object; a bigint becomes a bare integer, undefined is left out. */
function jsonOf(fields: Fields): string {
  const written = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`);
  return `{${written.join(',')}}`;
}
