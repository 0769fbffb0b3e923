import { formatEther, type Hex } from 'viem';
import type { NodeReceipt, NodeTransaction } from '../chain/node.ts';
import type { TokenFacts } from '../chain/token.ts';
import { SENTINEL_ADDRESS, type Transfer, withRightKind } from '../chain/transfers.ts';
import type { EventType } from './types.ts';

export type Role = 'token' | 'to' | 'from';

export interface EventStyle {
  /** `tokenType` of coins. */
  nativeSymbol: string;
  /** true: follow the specification to the letter where live services differ. */
  strict: boolean;
}

export interface EventSource {
  transfer: Transfer;
  role: Role;
  projectId: string;
  blockNumber: number;
  blockHash: Hex;
  /** null where they cannot be read: the event is then reported without. */
  gas: Gas | null;
}

/** Decimal, in wei or units of gas. */
type Gas = ReturnType<typeof gasOf>;

export const NO_GAS: Gas = { gasPrice: '0', gasUsed: '0', gasFee: '0', gasLimit: '0', txnValue: '0' };

/** `gasFee` is the sender's total cost. @throws when a figure cannot be read. */
export function gasOf(transaction: NodeTransaction, receipt: NodeReceipt) {
  const gasPrice = BigInt(receipt.effectiveGasPrice ?? transaction.gasPrice ?? 0);
  const gasUsed = BigInt(receipt.gasUsed ?? 0);
  return {
    gasPrice: gasPrice.toString(),
    gasUsed: gasUsed.toString(),
    gasFee: feeOf(transaction, receipt).toString(),
    gasLimit: BigInt(transaction.gas ?? 0).toString(),
    txnValue: BigInt(transaction.value ?? 0).toString(),
  };
}

/** In wei: gas, blobs, and data on the parent chain. */
export function feeOf({ gasPrice }: NodeTransaction, receipt: NodeReceipt): bigint {
  const { gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee } = receipt;
  const execution = BigInt(gasUsed ?? 0) * BigInt(effectiveGasPrice ?? gasPrice ?? 0);
  return execution + BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0) + BigInt(l1Fee ?? 0);
}

const KINDS: Readonly<Record<EventType, readonly Transfer['kind'][]>> = {
  ALL: ['native', 'erc20', 'erc721', 'erc1155'],
  NATIVE: ['native'],
  ERC20: ['erc20'],
  ERC721: ['erc721', 'erc1155'],
};

export const wants = (eventType: EventType, { kind }: Transfer): boolean => KINDS[eventType].includes(kind);

/** Whether any facts of the token would make it wanted. */
export function mayWant(eventType: EventType, transfer: Transfer): boolean {
  return [null, 0].some((decimals) => wants(eventType, withRightKind(transfer, { decimals })));
}

export function addressIn(transfer: Transfer, role: Role): string {
  if (role !== 'token') return transfer[role];
  return transfer.kind === 'native' ? SENTINEL_ADDRESS : transfer.token;
}

/** A token id is a bare integer of any length. `token` is null for coins. */
export function eventBody(source: EventSource, token: TokenFacts | null, style: EventStyle): string {
  const { role, projectId, blockNumber, blockHash, gas } = source;
  const transfer = withRightKind(source.transfer, token);
  return jsonOf({
    to: transfer.to,
    from: transfer.from,
    ...amountFields(transfer, token),
    txHash: transfer.txHash,
    blockNumber,
    blockHash,
    ...tokenFields(transfer, token, style),
    projectId,
    direction: directionOf(role, style),
    addressType: role === 'token' ? 'Token' : 'Wallet',
    ...gas,
  });
}

/** The JSON text of a follow-up: the event's, with `removed: true` at its end. */
export function withdrawalBody(eventText: string): string {
  return `${eventText.slice(0, -1)},"removed":true}`;
}

function directionOf(role: Role, { strict }: EventStyle): string | null {
  if (role === 'token') return strict ? 'incoming' : null;
  return role === 'to' ? 'incoming' : 'outgoing';
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
      // The specification has no field for the number of pieces: its `value` is replaced by `tokenId`.
      return { tokenId: transfer.tokenId, quantity: transfer.value.toString() };
  }
}

function tokenFields(transfer: Transfer, token: TokenFacts | null, { nativeSymbol }: EventStyle): Fields {
  const tokenAddress = addressIn(transfer, 'token');
  if (transfer.kind === 'native') {
    return { tokenType: nativeSymbol, tokenAddress, isInternalTransaction: transfer.internal ? true : undefined };
  }
  const tokenType = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }[transfer.kind];
  return { tokenType, tokenAddress, tokenName: token?.name ?? undefined, tokenSymbol: token?.symbol ?? undefined };
}

/** A bigint becomes a bare integer. */
function jsonOf(fields: Fields): string {
  const written = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`);
  return `{${written.join(',')}}`;
}

export function toDraft(source: EventSource, eventType: EventType): string {
  return JSON.stringify({ source, eventType }, (_key, value: unknown) =>
    typeof value === 'bigint' ? { $integer: value.toString() } : value,
  );
}

/** null when the webhook does not want it. */
export function fromDraft(draft: string, token: TokenFacts, style: EventStyle): string | null {
  const { source, eventType } = JSON.parse(draft, (_key, value: unknown) => {
    const integer = (value as { $integer?: unknown } | null)?.$integer;
    return typeof integer === 'string' ? BigInt(integer) : value;
  }) as { source: EventSource; eventType: EventType };
  return wants(eventType, withRightKind(source.transfer, token)) ? eventBody(source, token, style) : null;
}
