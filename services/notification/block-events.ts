import type { Hex } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { receiptsOf } from '../chain/block.ts';
import { innerTransfers, outerTransfers } from '../chain/block-transfers.ts';
import type { Nodes } from '../chain/nodes.ts';
import type { Profile } from '../chain/profiles.ts';
import type { BlockContents } from '../chain/reader.ts';
import { TracesFailed } from '../chain/traces.ts';
import type { EventStyle } from './event.ts';
import { deliveriesOf, matchesOf } from './match.ts';
import type { ReadBlock } from './store/chain.ts';
import type { NotificationStore } from './store/index.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Tokens } from './tokens.ts';

/** Selects transfers of a block: those in its transactions and logs, those in its traces, or both. */
export type BlockPart = 'outer' | 'inner' | 'both';

/** Limits which webhooks get a block's events. */
export interface Restriction {
  watchersOf(address: string): readonly Webhook[];
  /** Above 0: the deliveries belong to this replay. */
  replay: number;
}

/** Creates the deliveries of a block, for all webhooks or those in `only`. @throws when a receipt cannot be read. */
export type BlockEvents = (
  contents: BlockContents,
  part: BlockPart,
  only?: Restriction,
) => Promise<Omit<ReadBlock, 'tracesMissing'>>;

/** Creates the function that makes deliveries of blocks. */
export function createBlockEvents(options: {
  node: Nodes;
  store: NotificationStore;
  tokens: Tokens;
  clock: Clock;
  style: EventStyle;
  profile(): Profile;
  /** Whether a project still exists. A removed project gets no events. */
  isServed(projectId: string): boolean;
  /** How long a new event waits before it may be sent, in milliseconds. */
  delayMs(): number;
}): BlockEvents {
  const { node, store, tokens, clock, style, profile, isServed, delayMs } = options;

  return async (contents, part, only) => {
    const { block, logs } = contents;
    const { transfers, unreadable } = transfersIn(contents, part, profile());
    const watchersOf = only?.watchersOf ?? ((address: string) => store.webhooks.watchersOf(address));
    const served = (address: string) => watchersOf(address).filter(({ projectId }) => isServed(projectId));
    const matches = matchesOf(transfers, served, style);
    const listed = new Set(block.transactions.map(({ hash }) => hash));
    const hashes = [...new Set(matches.map(({ transfer }) => transfer.txHash))].filter((hash) => listed.has(hash));
    const receipts = await receiptsOf(node, block, logs, hashes as Hex[]);
    const made = deliveriesOf(matches, {
      block,
      receipts,
      style,
      clock,
      factsOf: (token) => tokens.factsOf(token),
      delayMs: delayMs(),
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

/** A block's transfers: payments, then internal payments, then tokens. */
function transfersIn({ block, logs, moves }: BlockContents, part: BlockPart, profile: Profile) {
  const none = { transfers: [], unreadable: [] };
  const outer = part === 'inner' ? none : outerTransfers(block, logs.logs, profile);
  const inner = part === 'outer' || moves instanceof TracesFailed ? none : innerTransfers(moves);
  const isPayment = ({ kind }: { kind: string }) => kind === 'native';
  return {
    transfers: [
      ...outer.transfers.filter(isPayment),
      ...inner.transfers,
      ...outer.transfers.filter((one) => !isPayment(one)),
    ],
    unreadable: [...outer.unreadable, ...inner.unreadable],
  };
}
