import { type AddressText, checksumAddress } from './address.ts';

/** Without a slash at its end; undefined: there is no explorer. */
export interface ExplorerRoot {
  explorerUrl: string | undefined;
}

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
