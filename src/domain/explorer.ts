import { type AddressText, checksumAddress } from './address.ts';
import type { Network } from './network.ts';

export type ExplorerRoot = Pick<Network, 'explorerUrl'>;

/** A block may stand for a transaction, see `difference`. null without an explorer, and for an invalid hash. */
export function transactionPage({ explorerUrl }: ExplorerRoot, txHash: string): string | null {
  const block = /^block(\d{1,15})$/.exec(txHash)?.[1];
  if (explorerUrl && block) return `${explorerUrl}/block/${block}`;
  return explorerUrl && /^0x[0-9a-f]{64}$/.test(txHash) ? `${explorerUrl}/tx/${txHash}` : null;
}

export function addressPage(
  { explorerUrl }: ExplorerRoot,
  address: AddressText,
  page: 'address' | 'token' = 'address',
): string | null {
  return explorerUrl ? `${explorerUrl}/${page}/${checksumAddress(address)}` : null;
}
