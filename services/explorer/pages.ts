import type { FastifyInstance, FastifyReply } from 'fastify';
import { formatEther, formatUnits, getAddress, type Hex, isAddress, isHash } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { completeLists } from '../chain/block.ts';
import { hasFailed, type Node, NodeBusy, type NodeReceipt, type NodeTransaction } from '../chain/node.ts';
import { askFacts, NO_FACTS, readToken, type TokenFacts } from '../chain/token.ts';
import { coinMovesOf } from '../chain/traces.ts';
import {
  type Address,
  internalTransfer,
  nativeTransfers,
  type Transfer,
  tokenTransfers,
  withRightKind,
} from '../chain/transfers.ts';
import { type Html, html, PAGE_HEADERS, page } from '../html.ts';
import { feeOf } from '../notification/event.ts';
import { createPageCache, TooBusy } from './cache.ts';

interface PageContext {
  root: string;
  node: Node;
  nativeSymbol: string;
  clock: Clock;
}

interface Page {
  status: number;
  title: string;
  body: Html;
}

/** Alerts link to these. */
export function explorerPages(server: FastifyInstance, context: PageContext): void {
  const cache = createPageCache<Page>(context.clock);
  const send = (reply: FastifyReply, { status, title, body }: Page) =>
    reply.code(status).headers(PAGE_HEADERS).send(page(title, body));
  const show = (path: string, make: (context: PageContext, value: string) => Promise<Page>) =>
    server.get<{ Params: { value: string } }>(path, async (request, reply) => {
      const { value } = request.params;
      const made = await cache.get(`${path} ${value.toLowerCase()}`, () => make(context, value));
      return send(reply, { ...made, title: `${made.title} · Explorer` });
    });
  server.setErrorHandler((error, request, reply) => {
    const failed = (status: number, title: string) =>
      send(reply, { ...missing(title, 'Try again in a minute.', status), title: 'Explorer' });
    if (error instanceof TooBusy) {
      reply.header('retry-after', '5');
      return failed(503, 'Too many people are looking things up');
    }
    request.log.error({ err: error }, 'request failed');
    return failed(500, 'The chain cannot be read at the moment');
  });
  show('/tx/:value', transactionPage);
  show('/address/:value', addressPage);
  show('/token/:value', tokenPage);
}

function coins({ nativeSymbol }: PageContext, wei: bigint): Html {
  return html`${formatEther(wei)} ${nativeSymbol}`;
}

function link({ root }: PageContext, kind: 'address' | 'token', address: Address, text?: string): Html {
  return html`<a href="${root}/${kind}/${address}">${text === undefined ? html`<code>${address}</code>` : text}</a>`;
}

function missing(title: string, hint: string, status = 404): Page {
  return { status, title, body: html`<h1>${title}</h1><p>${hint}</p>` };
}

const NOT_AN_ADDRESS = missing('This is not an address', 'An address is 0x and 40 hex digits.', 400);

async function addressPage(context: PageContext, given: string): Promise<Page> {
  if (!isAddress(given, { strict: false })) return NOT_AN_ADDRESS;
  const address = getAddress(given);
  const [balance, count, code] = await Promise.all(
    ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) =>
      context.node.call<Hex>(method, [address, 'latest']),
    ),
  );
  // Since EIP-7702 a wallet may have code: a pointer to the contract that acts for it.
  const isWallet = code === '0x' || code!.startsWith('0xef0100');
  const contract = isWallet
    ? html`a wallet`
    : html`a contract – ${link(context, 'token', address, 'see it as a token')}`;
  const body = html`<h1>Address</h1>
<dl>
<dt>Address</dt><dd><code>${address}</code></dd>
<dt>Kind</dt><dd>${contract}</dd>
<dt>Balance</dt><dd>${coins(context, BigInt(balance!))}</dd>
<dt>Transactions sent</dt><dd>${BigInt(count!)}</dd>
</dl>`;
  return { status: 200, title: `Address ${address.slice(0, 10)}…`, body };
}

async function tokenPage(context: PageContext, given: string): Promise<Page> {
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

/** Each name costs calls. */
const MAX_NAMED_TOKENS = 40;
const MAX_SHOWN_TRANSFERS = 500;

async function transactionPage(context: PageContext, hash: string): Promise<Page> {
  const { node } = context;
  if (!isHash(hash)) return missing('This is not a transaction hash', 'A hash is 0x and 64 hex digits.');
  const [transaction, receipt] = await Promise.all([
    node.call<NodeTransaction | null>('eth_getTransactionByHash', [hash]),
    node.call<NodeReceipt | null>(
      'eth_getTransactionReceipt',
      [hash],
      (receipt) => void (receipt && completeLists(receipt)),
    ),
  ]);
  if (transaction === null) return missing('No such transaction', 'It is not on this chain, or not yet.');
  // A failed transaction moves only what the chain itself moves.
  const hasMoved = receipt !== null && !hasFailed(transaction, receipt);
  const moves = hasMoved ? await movesOf(node, transaction.hash) : [];
  const payments = nativeTransfers(transaction).filter(({ survives }) => hasMoved || survives);
  const transfers = receipt === null ? [] : [...payments, ...(moves ?? []), ...receipt.logs.flatMap(tokenTransfers)];
  const facts = await factsOf(node, transfers);
  const shown = transfers.slice(0, MAX_SHOWN_TRANSFERS).map((transfer) => transferRow(context, transfer, facts));
  const more = transfers.length - shown.length;
  const state = receipt === null ? 'waiting to be mined' : hasMoved ? 'succeeded' : 'failed';
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

/** null where no node traces it. Its block's traces may be tens of megabytes. */
async function movesOf(node: Node, hash: Hex): Promise<Transfer[] | null> {
  try {
    return (await coinMovesOf(node, hash)).map(internalTransfer);
  } catch (error) {
    if (error instanceof NodeBusy) throw error;
    return null;
  }
}

/** A transaction may touch hundreds of tokens. */
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
