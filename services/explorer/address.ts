import { formatUnits, getAddress, type Hex, isAddress } from 'viem';
import { readToken } from '../chain/token.ts';
import { html } from '../html.ts';
import { coins, link, missing, NOT_AN_ADDRESS, type PageParts, type Shown } from './shown.ts';

/** The page of a wallet or a contract. */
export async function addressPage(parts: PageParts, given: string): Promise<Shown> {
  const { node } = parts;
  if (!isAddress(given, { strict: false })) return NOT_AN_ADDRESS;
  const address = getAddress(given);
  const [balance, count, code] = await Promise.all([
    node.call<Hex>('eth_getBalance', [address, 'latest']),
    node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
    node.call<Hex>('eth_getCode', [address, 'latest']),
  ]);
  // Since EIP-7702 a wallet may have code: a pointer to the contract that acts for it.
  const isWallet = code === '0x' || code.startsWith('0xef0100');
  const contract = isWallet ? html`a wallet` : html`a contract – ${link(parts, 'token', address, 'see it as a token')}`;
  const body = html`<h1>Address</h1>
<dl>
<dt>Address</dt><dd><code>${address}</code></dd>
<dt>Kind</dt><dd>${contract}</dd>
<dt>Balance</dt><dd>${coins(parts, BigInt(balance))}</dd>
<dt>Transactions sent</dt><dd>${BigInt(count)}</dd>
</dl>`;
  return { status: 200, title: `Address ${address.slice(0, 10)}…`, body };
}

/** The page of a token contract. */
export async function tokenPage(parts: PageParts, given: string): Promise<Shown> {
  if (!isAddress(given, { strict: false })) return NOT_AN_ADDRESS;
  const address = getAddress(given);
  const token = await readToken(parts.node, address);
  if (token === null) return missing('No token here', 'There is no token contract at this address.');
  const { totalSupply, decimals } = token;
  const body = html`<h1>Token</h1>
<dl>
<dt>Contract</dt><dd>${link(parts, 'address', address)}</dd>
<dt>Name</dt><dd><code>${token.name ?? '–'}</code></dd>
<dt>Symbol</dt><dd><code>${token.symbol ?? '–'}</code></dd>
<dt>Type</dt><dd>${token.type}</dd>
<dt>Decimals</dt><dd>${decimals ?? '–'}</dd>
<dt>Total supply</dt><dd>${totalSupply === null ? '–' : formatUnits(totalSupply, decimals ?? 0)}</dd>
</dl>
<p class="soft">Anyone can give a token any name. Only the contract's address identifies the token.</p>`;
  return { status: 200, title: 'Token', body };
}
