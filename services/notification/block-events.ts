import { type Hex, keccak256 } from 'viem';
import { receiptsOf } from '../chain/block.ts';
import { innerTransfers, outerTransfers } from '../chain/block-transfers.ts';
import type { Profile } from '../chain/profiles.ts';
import type { BlockContents } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import { deliveriesOf, type Match, matchesOf } from './match.ts';
import type { Parts } from './parts.ts';
import type { ReadBlock } from './store/chain.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Tokens } from './tokens.ts';

/** `inner`: only those in traces. */
type BlockPart = 'inner' | 'both';

export type BlockEvents = ReturnType<typeof createBlockEvents>;

export function createBlockEvents(
  { node, store, clock, style, isServed, faults }: Parts,
  tokens: Tokens,
  profile: () => Profile,
) {
  let matched = 0;
  const inventedFrom = (matches: readonly Match[]): Match[] =>
    matches
      .filter(() => matched++ % 3 === 0)
      .map((match) => ({ ...match, transfer: { ...match.transfer, txHash: keccak256(match.transfer.txHash) } }));

  return async (
    contents: BlockContents,
    part: BlockPart,
    only?: { watchersOf(address: string): readonly Webhook[]; replay: number },
  ): Promise<Omit<ReadBlock, 'tracesMissing'>> => {
    const { block, logs } = contents;
    const { transfers, unreadable } = transfersIn(contents, part, profile());
    const watchersOf = only?.watchersOf ?? store.webhooks.watchersOf;
    const served = (address: string) => watchersOf(address).filter(({ projectId }) => isServed(projectId));
    const matches = matchesOf(transfers, served, style);
    const listed = new Set(block.transactions.map(({ hash }) => hash));
    const hashes = [...new Set(matches.map(({ transfer }) => transfer.txHash))].filter((hash) => listed.has(hash));
    const receipts = await receiptsOf(node, block, logs, hashes as Hex[]);
    const { lose, invent, delayMs } = faults();
    const sent = [...(lose ? [] : matches), ...(invent ? inventedFrom(matches) : [])];
    const made = deliveriesOf(sent, {
      block,
      receipts,
      style,
      clock,
      factsOf: tokens.factsOf,
      delayMs,
      replay: only?.replay ?? 0,
    });
    return {
      number: Number(block.number),
      hash: block.hash,
      time: Number(block.timestamp ?? 0),
      deliveries: made.deliveries,
      unreadable: [...unreadable, ...made.unreadable],
    };
  };
}

/** Payments, then internal payments, then tokens. */
function transfersIn({ block, logs, moves }: BlockContents, part: BlockPart, profile: Profile) {
  const none = { transfers: [], unreadable: [] };
  const outer = part === 'inner' ? none : outerTransfers(block, logs.logs, profile);
  const inner = moves instanceof TracesFailed ? none : innerTransfers(moves);
  const payments = outer.transfers.filter(({ kind }) => kind === 'native');
  const tokens = outer.transfers.filter(({ kind }) => kind !== 'native');
  return {
    transfers: [...payments, ...inner.transfers, ...tokens],
    unreadable: [...outer.unreadable, ...inner.unreadable],
  };
}
