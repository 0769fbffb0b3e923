import type { AddressText, Asset } from '../domain/address.ts';
import {
  type AssetSum,
  type AssetWords,
  assetOf,
  differenceOf,
  type Statement,
  type StatementOutcome,
  type StatementRequest,
} from '../domain/balance.ts';
import { blockBefore, ChainError, type ChainNode, refusalOf } from '../domain/chain-node.ts';
import type { BlockRange } from '../domain/completeness.ts';
import type { Store } from '../store/store.ts';
import { feeOf } from './movements.ts';

const MAX_BLOCKS_PER_READ = 50_000;
/** Most transactions whose sender and fee are asked for where an address's sums do not add up. */
const MAX_LOOKUPS = 50;

export function createStatements(store: Pick<Store, 'chainChecks'>, chains: ReadonlyMap<number, ChainNode>) {
  return async (request: StatementRequest): Promise<StatementOutcome> => {
    const chain = chains.get(request.network);
    const known = chain && (await store.chainChecks.progress(request.network));
    if (!chain || !known || known.progress.block < 0) return { status: 'unknown' };
    const { block, blockAt } = known.progress;
    if (request.since >= blockAt) return { status: 'unknown' };
    try {
      const compared = { number: block, hash: '', at: blockAt };
      const end = await blockBefore(chain, request.until, compared);
      const after = request.before?.block ?? (await blockBefore(chain, request.since, end)).number;
      return { status: 'read', statement: await readStatement(chain, { after, upTo: end.number }, request) };
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      return { status: 'away' };
    }
  };

  async function readStatement(chain: ChainNode, range: BlockRange, request: StatementRequest): Promise<Statement> {
    const { address, network } = request;
    const { sums, transactions } = await sumsIn(range, request);
    // What did not move is still there.
    for (const [asset, words] of Object.entries(request.before?.words ?? {}) as [Asset, AssetWords][]) {
      if (!sums.has(asset)) sums.set(asset, newSum(asset, words));
    }
    const assets = [...sums.values()]
      .filter(({ asset }) => request.wants(asset))
      .sort((a, b) => b.transfers - a.transfers);
    const shown = assets.slice(0, request.max);
    const holdings = shown.map(({ asset }) => ({ asset, address }));
    const closing = await chain.holdings(range.upTo, holdings).catch(unlessAway);
    const opening = await chain.holdings(range.after, holdings).catch(unlessAway);
    for (const [index, sum] of shown.entries()) {
      const kept = request.before?.of[sum.asset];
      sum.opening = kept === undefined ? (opening[index] ?? null) : BigInt(kept);
      sum.closing = closing[index] ?? null;
    }
    const coin = shown.find(({ asset }) => asset === 'native');
    let others: number | null = null;
    if (coin) {
      coin.fees = feesOf(transactions);
      if (differenceOf(coin)) {
        await lookUp(chain, address, transactions);
        coin.fees = feesOf(transactions);
      }
      const sent = [...transactions.values()].filter(({ isOwn }) => isOwn).length;
      if (differenceOf(coin))
        others = (await chain.sent(range.upTo, address)) - (await chain.sent(range.after, address)) - sent;
    }
    return { network, address, range, sums: shown, others };
  }

  async function sumsIn({ after, upTo }: BlockRange, { network, address, scope: own }: StatementRequest) {
    const sums = new Map<Asset, AssetSum>([['native', newSum('native', null)]]);
    const transactions = new Map<string, SeenTransaction>();
    for (let from = after; from < upTo; from += MAX_BLOCKS_PER_READ) {
      const step = { after: from, upTo: Math.min(upTo, from + MAX_BLOCKS_PER_READ) };
      for (const { scope, count, transfer } of await store.chainChecks.stored(network, step, [address], [])) {
        const asset = assetOf(transfer);
        if (scope !== own || count === 0 || transfer.token === address) continue;
        const { txHash, from: sender, to, internal, gasFee } = transfer;
        const isOwn = sender === address && !internal;
        const seen = transactions.get(txHash);
        transactions.set(txHash, { isOwn: isOwn || seen?.isOwn === true, fee: gasFee ?? seen?.fee ?? null });
        if (asset === null || transfer.value === null || sender === to) continue;
        const sum = sums.get(asset) ?? newSum(asset, transfer);
        sums.set(asset, sum);
        sum.transfer ??= transfer;
        sum.transfers += count;
        sum[to === address ? 'incoming' : 'outgoing'] += BigInt(transfer.value) * BigInt(count);
      }
    }
    return { sums, transactions };
  }
}

/** `isOwn`: the address sent the transaction, as far as is known, and pays its fee. */
interface SeenTransaction {
  isOwn: boolean;
  fee: string | null;
}

/** A node that no longer has a block's state does not have it later, either. */
function unlessAway(error: unknown): (bigint | null)[] {
  refusalOf(error);
  return [];
}

const newSum = (asset: Asset, transfer: AssetWords | null): AssetSum => ({
  asset,
  transfer,
  transfers: 0,
  opening: null,
  incoming: 0n,
  outgoing: 0n,
  fees: 0n,
  closing: null,
});

const feesOf = (transactions: ReadonlyMap<string, SeenTransaction>): bigint =>
  [...transactions.values()].reduce((sum, { isOwn, fee }) => sum + (isOwn ? BigInt(fee ?? 0) : 0n), 0n);

async function lookUp(
  chain: ChainNode,
  address: AddressText,
  transactions: Map<string, SeenTransaction>,
): Promise<void> {
  const hashes = [...transactions.keys()].filter((hash) => /^0x[0-9a-f]{64}$/.test(hash));
  for (const hash of hashes.slice(0, MAX_LOOKUPS)) {
    const transaction = await chain.transaction(hash);
    if (!transaction) continue;
    const isOwn = transaction.from.toLowerCase() === address;
    const receipt = isOwn ? await chain.receipt(hash) : null;
    transactions.set(hash, { isOwn, fee: receipt === null ? transactions.get(hash)!.fee : feeOf(receipt).toString() });
  }
}
