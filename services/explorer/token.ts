import { formatUnits, getAddress, isAddress } from 'viem';
import { readToken } from '../chain/token.ts';
import { html } from '../html.ts';
import { link, missing, NOT_AN_ADDRESS, type Page, type PageContext } from './page.ts';

/** The page of a token contract. */
export async function tokenPage(context: PageContext, given: string): Promise<Page> {
  if (!isAddress(given, { strict: false })) return NOT_AN_ADDRESS;
  const address = getAddress(given);
  const token = await readToken(context.node, address);
  if (token === null) return missing('No token here', 'There is no token contract at this address.');
  const { totalSupply, decimals } = token;
  const body = html`<h1>Token</h1>
<dl>
<dt>Contract</dt><dd>${link(context, 'address', address)}</dd>
<dt>Name</dt><dd><code>${token.name ?? '–'}</code></dd>
<dt>Symbol</dt><dd><code>${token.symbol ?? '–'}</code></dd>
<dt>Type</dt><dd>${token.type}</dd>
<dt>Decimals</dt><dd>${decimals ?? '–'}</dd>
<dt>Total supply</dt><dd>${totalSupply === null ? '–' : formatUnits(totalSupply, decimals ?? 0)}</dd>
</dl>
<p class="soft">Anyone can give a token any name. Only the contract's address identifies the token.</p>`;
  return { status: 200, title: 'Token', body };
}
