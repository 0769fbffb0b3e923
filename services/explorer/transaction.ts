import { formatUnits, getAddress, type Hex, isHash } from 'viem';
import { type Node, NodeBusy, type NodeReceipt, type NodeTransaction } from '../chain/node.ts';
import { askFacts, NO_FACTS, type TokenFacts } from '../chain/token.ts';
import { coinMovesOf } from '../chain/traces.ts';
import {
  type Address,
  internalTransfers,
  nativeTransfers,
  type Transfer,
  tokenTransfers,
  withRightKind,
} from '../chain/transfers.ts';
import { type Html, html } from '../html.ts';
import { feeOf } from '../notification/event.ts';
import { coins, link, missing, type Page, type PageContext } from './page.ts';

/** How many tokens a page shows by name: each name costs calls. */
const MAX_NAMED_TOKENS = 40;
/** How many transfers a page shows. */
const MAX_SHOWN_TRANSFERS = 500;

/** The page of a transaction, with its transfers. */
export async function transactionPage(context: PageContext, hash: string): Promise<Page> {
  const { node } = context;
  if (!isHash(hash)) return missing('This is not a transaction hash', 'A hash is 0x and 64 hex digits.');
  const [transaction, receipt] = await Promise.all([
    node.call<NodeTransaction | null>('eth_getTransactionByHash', [hash]),
    node.call<NodeReceipt | null>('eth_getTransactionReceipt', [hash]),
  ]);
  if (transaction === null) return missing('No such transaction', 'It is not on this chain, or not yet.');
  // A failed transaction moves only what the chain itself moves.
  const hasMoved = receipt !== null && receipt.status !== '0x0';
  const moves = hasMoved ? await movesOf(node, transaction.hash) : [];
  const payments = nativeTransfers(transaction).filter(({ survives }) => hasMoved || survives);
  const transfers = receipt === null ? [] : [...payments, ...(moves ?? []), ...receipt.logs.flatMap(tokenTransfers)];
  const facts = await factsOf(node, transfers);
  const shown = transfers.slice(0, MAX_SHOWN_TRANSFERS).map((one) => transferRow(context, one, facts));
  const more = transfers.length - shown.length;
  const state = receipt === null ? 'waiting to be mined' : receipt.status === '0x0' ? 'failed' : 'succeeded';
  const fee = receipt === null ? null : feeOf(transaction, receipt);
  const body = html`<h1>Transaction</h1>
<dl>
<dt>Hash</dt><dd><code>${hash}</code></dd>
<dt>State</dt><dd>${state}</dd>
<dt>Block</dt><dd>${transaction.blockNumber === null ? '–' : BigInt(transaction.blockNumber)}</dd>
<dt>From</dt><dd>${link(context, 'address', getAddress(transaction.from))}</dd>
<dt>To</dt><dd>${transaction.to === null ? 'a new contract' : link(context, 'address', getAddress(transaction.to))}</dd>
<dt>Value</dt><dd>${coins(context, BigInt(transaction.value))}</dd>
<dt>Fee</dt><dd>${fee === null ? '–' : coins(context, fee)}</dd>
</dl>
<h2>Transfers</h2>
${shown.length === 0 ? html`<p>None.</p>` : shown}
${more > 0 ? html`<p class="soft">And ${more} more.</p>` : ''}
${moves === null ? html`<p class="soft">Coins that contracts sent on the way cannot be shown: the node does not trace this transaction.</p>` : ''}`;
  return { status: 200, title: `Transaction ${hash.slice(0, 10)}…`, body };
}

/** A transaction's internal payments; null where no node traces it. Its block's traces may be tens of megabytes. */
async function movesOf(node: Node, hash: Hex): Promise<Transfer[] | null> {
  try {
    return internalTransfers(await coinMovesOf(node, hash));
  } catch (error) {
    if (error instanceof NodeBusy) throw error;
    return null;
  }
}

/** Reads each token once, and only some: a transaction may touch hundreds. */
async function factsOf(node: Node, transfers: readonly Transfer[]): Promise<Map<Address, TokenFacts>> {
  const facts = new Map<Address, TokenFacts>();
  for (const transfer of transfers) {
    if (transfer.kind === 'native' || facts.has(transfer.token)) continue;
    const isNamed = facts.size < MAX_NAMED_TOKENS;
    facts.set(transfer.token, isNamed ? (await askFacts(node, transfer.token)).facts : NO_FACTS);
  }
  return facts;
}

function transferRow(context: PageContext, transfer: Transfer, facts: ReadonlyMap<Address, TokenFacts>): Html {
  const token = transfer.kind === 'native' ? undefined : facts.get(transfer.token);
  return html`<article>
<p>${amount(context, withRightKind(transfer, token), token)}</p>
<p><small>from</small> ${link(context, 'address', transfer.from)}</p>
<p><small>to</small> ${link(context, 'address', transfer.to)}</p>
</article>`;
}

function amount(context: PageContext, transfer: Transfer, facts: TokenFacts | undefined): Html {
  if (transfer.kind === 'native') {
    return html`<strong>${coins(context, transfer.value)}</strong>${transfer.internal ? ', sent by a contract' : ''}`;
  }
  const name = html`<code>${facts?.symbol ?? facts?.name ?? 'unnamed token'}</code>`;
  const token = html`${name} <small>${link(context, 'token', transfer.token, 'contract')}</small>`;
  switch (transfer.kind) {
    case 'erc20':
      return html`<strong>${formatUnits(transfer.value, facts?.decimals ?? 0)}</strong> ${token}`;
    case 'erc721':
      return html`<strong>#${transfer.tokenId}</strong> of ${token}`;
    case 'erc1155':
      return html`<strong>${transfer.value} × #${transfer.tokenId}</strong> of ${token}`;
  }
}
