import type { FastifyInstance } from 'fastify';
import { formatEther, formatUnits, getAddress, type Hex, isAddress, isHash } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { type Node, NodeBusy, type NodeReceipt, type NodeTransaction } from '../chain/node.ts';
import { askFacts, NO_FACTS, readToken, type TokenFacts } from '../chain/token.ts';
import { coinMovesOf } from '../chain/traces.ts';
import {
  type Address,
  internalTransfers,
  nativeTransfers,
  settled,
  type Transfer,
  tokenTransfers,
} from '../chain/transfers.ts';
import { type Html, html, page, pageHeaders } from '../html.ts';
import { feeOf } from '../notification/event.ts';
import { createPageCache, TooBusy } from './cache.ts';

/** Of how many tokens a page shows the name: each costs calls. */
const NAMED_TOKENS = 40;
/** How many transfers a page shows. */
const SHOWN_TRANSFERS = 500;

/** The pages' root and what they read. */
interface PageParts {
  /** The path prefix of the pages. */
  root: string;
  node: Node;
  nativeSymbol: string;
  clock: Clock;
}

/** Pages for people below the given instance's prefix: `/tx/…`, `/address/…` and `/token/…`, where alerts link to. */
export function explorerPages(server: FastifyInstance, parts: PageParts): void {
  const pages = createPages(parts);
  const cache = createPageCache<Shown>(parts.clock);
  const show = (path: string, make: (value: string) => Promise<Shown>) =>
    server.get<{ Params: { value: string } }>(path, async (request, reply) => {
      const { value } = request.params;
      const { status, title, body } = await cache.get(`${path} ${value.toLowerCase()}`, () => make(value));
      return reply
        .code(status)
        .headers(pageHeaders)
        .send(page(`${title} · Explorer`, body));
    });
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof TooBusy) {
      const body = html`<h1>Too many people are looking things up</h1><p>Try again in a minute.</p>`;
      return reply
        .code(503)
        .headers({ ...pageHeaders, 'retry-after': '5' })
        .send(page('Explorer', body));
    }
    request.log.error({ err: error }, 'request failed');
    const body = html`<h1>The chain cannot be read at the moment</h1><p>Try again in a minute.</p>`;
    return reply.code(500).headers(pageHeaders).send(page('Explorer', body));
  });
  show('/tx/:value', (hash) => pages.transaction(hash));
  show('/address/:value', (address) => pages.address(address));
  show('/token/:value', (address) => pages.token(address));
}

interface Shown {
  status: number;
  title: string;
  body: Html;
}

/** Creates the pages of transactions, addresses and tokens. */
function createPages({ root, node, nativeSymbol }: PageParts) {
  async function transaction(hash: string): Promise<Shown> {
    if (!isHash(hash)) return missing('This is not a transaction hash', 'A hash is 0x and 64 hex digits.');
    const [transaction, receipt] = await Promise.all([
      node.call<NodeTransaction | null>('eth_getTransactionByHash', [hash]),
      node.call<NodeReceipt | null>('eth_getTransactionReceipt', [hash]),
    ]);
    if (transaction === null) return missing('No such transaction', 'It is not on this chain, or not yet.');
    // A failed transaction moved nothing.
    const hasMoved = receipt !== null && receipt.status !== '0x0';
    const moves = hasMoved ? await movesOf(transaction.hash) : [];
    const transfers = hasMoved
      ? [...nativeTransfers(transaction), ...(moves ?? []), ...receipt.logs.flatMap(tokenTransfers)]
      : [];
    const facts = await factsOf(transfers);
    const shown = transfers.slice(0, SHOWN_TRANSFERS).map((one) => transferRow(one, facts));
    const more = transfers.length - shown.length;
    const state = receipt === null ? 'waiting to be mined' : receipt.status === '0x0' ? 'failed' : 'succeeded';
    const fee = receipt === null ? null : feeOf(transaction, receipt);
    const body = html`<h1>Transaction</h1>
<dl>
<dt>Hash</dt><dd><code>${hash}</code></dd>
<dt>State</dt><dd>${state}</dd>
<dt>Block</dt><dd>${transaction.blockNumber === null ? '–' : BigInt(transaction.blockNumber)}</dd>
<dt>From</dt><dd>${link('address', getAddress(transaction.from))}</dd>
<dt>To</dt><dd>${transaction.to === null ? 'a new contract' : link('address', getAddress(transaction.to))}</dd>
<dt>Value</dt><dd>${coins(BigInt(transaction.value))}</dd>
<dt>Fee</dt><dd>${fee === null ? '–' : coins(fee)}</dd>
</dl>
<h2>Transfers</h2>
${shown.length === 0 ? html`<p>None.</p>` : shown}
${more > 0 ? html`<p class="soft">And ${more} more.</p>` : ''}
${moves === null ? html`<p class="soft">Coins that contracts sent on the way cannot be shown: the node does not trace this transaction.</p>` : ''}`;
    return { status: 200, title: `Transaction ${hash.slice(0, 10)}…`, body };
  }

  async function address(given: string): Promise<Shown> {
    if (!isAddress(given, { strict: false })) return notAnAddress;
    const address = getAddress(given);
    const [balance, count, code] = await Promise.all([
      node.call<Hex>('eth_getBalance', [address, 'latest']),
      node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
      node.call<Hex>('eth_getCode', [address, 'latest']),
    ]);
    // Since EIP-7702 a wallet may have code: a pointer to the contract that acts for it.
    const isWallet = code === '0x' || code.startsWith('0xef0100');
    const contract = isWallet ? html`a wallet` : html`a contract – ${link('token', address, 'see it as a token')}`;
    const body = html`<h1>Address</h1>
<dl>
<dt>Address</dt><dd><code>${address}</code></dd>
<dt>Kind</dt><dd>${contract}</dd>
<dt>Balance</dt><dd>${coins(BigInt(balance))}</dd>
<dt>Transactions sent</dt><dd>${BigInt(count)}</dd>
</dl>`;
    return { status: 200, title: `Address ${address.slice(0, 10)}…`, body };
  }

  async function token(given: string): Promise<Shown> {
    if (!isAddress(given, { strict: false })) return notAnAddress;
    const address = getAddress(given);
    const token = await readToken(node, address);
    if (token === null) return missing('No token here', 'There is no token contract at this address.');
    const { totalSupply, decimals } = token;
    const body = html`<h1>Token</h1>
<dl>
<dt>Contract</dt><dd>${link('address', address)}</dd>
<dt>Name</dt><dd><code>${token.name ?? '–'}</code></dd>
<dt>Symbol</dt><dd><code>${token.symbol ?? '–'}</code></dd>
<dt>Type</dt><dd>${token.type}</dd>
<dt>Decimals</dt><dd>${decimals ?? '–'}</dd>
<dt>Total supply</dt><dd>${totalSupply === null ? '–' : formatUnits(totalSupply, decimals ?? 0)}</dd>
</dl>
<p class="soft">Anyone can give a token any name. Only the contract's address tells which token it is.</p>`;
    return { status: 200, title: 'Token', body };
  }

  /** A transaction's internal payments; null where no node traces it. Its block's traces may be tens of megabytes. */
  async function movesOf(hash: Hex): Promise<Transfer[] | null> {
    try {
      return internalTransfers(await coinMovesOf(node, hash));
    } catch (error) {
      if (error instanceof NodeBusy) throw error;
      return null;
    }
  }

  /** Reads each token once, and only some: a transaction may touch hundreds. */
  async function factsOf(transfers: readonly Transfer[]): Promise<Map<Address, TokenFacts>> {
    const facts = new Map<Address, TokenFacts>();
    for (const transfer of transfers) {
      if (transfer.kind === 'native' || facts.has(transfer.token)) continue;
      const isNamed = facts.size < NAMED_TOKENS;
      facts.set(transfer.token, isNamed ? (await askFacts(node, transfer.token)).facts : NO_FACTS);
    }
    return facts;
  }

  function transferRow(transfer: Transfer, facts: ReadonlyMap<Address, TokenFacts>): Html {
    const token = transfer.kind === 'native' ? undefined : facts.get(transfer.token);
    return html`<article>
<p>${amount(settled(transfer, token), token)}</p>
<p><small>from</small> ${link('address', transfer.from)}</p>
<p><small>to</small> ${link('address', transfer.to)}</p>
</article>`;
  }

  function amount(transfer: Transfer, facts: TokenFacts | undefined): Html {
    if (transfer.kind === 'native') {
      return html`<strong>${coins(transfer.value)}</strong>${transfer.internal ? ', sent by a contract' : ''}`;
    }
    const name = html`<code>${facts?.symbol ?? facts?.name ?? 'unnamed token'}</code>`;
    const token = html`${name} <small>${link('token', transfer.token, 'contract')}</small>`;
    switch (transfer.kind) {
      case 'erc20':
        return html`<strong>${formatUnits(transfer.value, facts?.decimals ?? 0)}</strong> ${token}`;
      case 'erc721':
        return html`<strong>#${transfer.tokenId}</strong> of ${token}`;
      case 'erc1155':
        return html`<strong>${transfer.value} × #${transfer.tokenId}</strong> of ${token}`;
    }
  }

  function coins(wei: bigint): Html {
    return html`${formatEther(wei)} ${nativeSymbol}`;
  }

  function link(kind: 'address' | 'token', address: Address, text?: string): Html {
    return html`<a href="${root}/${kind}/${address}">${text === undefined ? html`<code>${address}</code>` : text}</a>`;
  }

  return { transaction, address, token };
}

const notAnAddress = missing('This is not an address', 'An address is 0x and 40 hex digits.', 400);

function missing(title: string, hint: string, status = 404): Shown {
  return { status, title, body: html`<h1>${title}</h1><p>${hint}</p>` };
}
