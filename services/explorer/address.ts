import { getAddress, type Hex, isAddress } from 'viem';
import { html } from '../html.ts';
import { coins, link, NOT_AN_ADDRESS, type Page, type PageContext } from './page.ts';

/** The page of a wallet or a contract. */
export async function addressPage(context: PageContext, given: string): Promise<Page> {
  const { node } = context;
  if (!isAddress(given, { strict: false })) return NOT_AN_ADDRESS;
  const address = getAddress(given);
  const [balance, count, code] = await Promise.all([
    node.call<Hex>('eth_getBalance', [address, 'latest']),
    node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
    node.call<Hex>('eth_getCode', [address, 'latest']),
  ]);
  // Since EIP-7702 a wallet may have code: a pointer to the contract that acts for it.
  const isWallet = code === '0x' || code.startsWith('0xef0100');
  const contract = isWallet
    ? html`a wallet`
    : html`a contract – ${link(context, 'token', address, 'see it as a token')}`;
  const body = html`<h1>Address</h1>
<dl>
<dt>Address</dt><dd><code>${address}</code></dd>
<dt>Kind</dt><dd>${contract}</dd>
<dt>Balance</dt><dd>${coins(context, BigInt(balance))}</dd>
<dt>Transactions sent</dt><dd>${BigInt(count)}</dd>
</dl>`;
  return { status: 200, title: `Address ${address.slice(0, 10)}…`, body };
}
