import type { Hex } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { type Unreadable, unreadableOf } from '../chain/block-transfers.ts';
import type { NodeBlock, NodeReceipt } from '../chain/node.ts';
import type { TokenFacts } from '../chain/token.ts';
import { type Address, type Transfer, withRightKind } from '../chain/transfers.ts';
import {
  addressIn,
  type EventStyle,
  eventBody,
  type Gas,
  gasOf,
  mayWant,
  NO_GAS,
  type Role,
  toDraft,
  wants,
} from './event.ts';
import type { NewDelivery } from './store/new-deliveries.ts';
import type { Webhook } from './store/webhooks.ts';

/** A transfer that a webhook watches. */
export interface Match {
  transfer: Transfer;
  role: Role;
  webhook: Webhook;
}

const ROLES: readonly Role[] = ['token', 'to', 'from'];

/** Finds the webhooks that watch a block's transfers. In strict style one wallet event stands for both wallets. */
export function matchesOf(
  transfers: readonly Transfer[],
  watchersOf: (address: string) => readonly Webhook[],
  { strict }: Pick<EventStyle, 'strict'>,
): Match[] {
  // One transaction may move the tokens of one address thousands of times.
  const known = new Map<string, readonly Webhook[]>();

  function watchers(address: string): readonly Webhook[] {
    const found = known.get(address) ?? watchersOf(address);
    known.set(address, found);
    return found;
  }

  return transfers.flatMap((transfer) => {
    const wallets = new Set<string>();
    return ROLES.flatMap((role) =>
      watchers(addressIn(transfer, role))
        .filter(({ eventType }) => mayWant(eventType, transfer))
        .filter(({ id }) => {
          if (!strict || role === 'token') return true;
          const isFirst = !wallets.has(id);
          wallets.add(id);
          return isFirst;
        })
        .map((webhook) => ({ transfer, role, webhook })),
    );
  });
}

/** Everything deliveries are made of, besides the matches. */
export interface DeliverySource {
  block: NodeBlock;
  receipts: ReadonlyMap<Hex, NodeReceipt>;
  /** undefined while unknown. */
  factsOf(token: Address): TokenFacts | undefined;
  style: EventStyle;
  clock: Clock;
  /** How long a new event waits before it is sent, in milliseconds. */
  delayMs: number;
  /** Above 0: the deliveries belong to this replay. */
  replay?: number;
}

/** After how many events of a transaction, for one webhook, the next rank begins. */
const RANK_ENDS = [16, 256];

/**
 * Makes the deliveries of a block's matches; those of failed transactions and unwanted kinds are left out. A transaction
 * whose gas figures cannot be read is reported without them.
 */
export function deliveriesOf(
  matches: readonly Match[],
  source: DeliverySource,
): { deliveries: NewDelivery[]; unreadable: Unreadable[] } {
  const { block, receipts, clock, delayMs, replay = 0 } = source;
  const { hash: blockHash } = block;
  const blockNumber = Number(block.number);
  const gas = createGasReader(block, receipts);
  const rankOf = createRanks();
  const deliveries: NewDelivery[] = [];
  for (const { transfer, role, webhook } of matches) {
    const { txHash, place } = transfer;
    if (receipts.get(txHash)?.status === '0x0' && !transfer.survives) continue;
    const event = { transfer, role, projectId: webhook.projectId, blockNumber, blockHash, gas: gas.of(txHash) };
    const content = contentOf(event, webhook, source);
    if (content === null) continue;
    deliveries.push({
      webhookId: webhook.id,
      projectId: webhook.projectId,
      txHash,
      blockNumber,
      blockHash,
      blockTime: block.timestamp === undefined ? null : Number(block.timestamp),
      eventKey: `${txHash}/${place}/${role}`,
      transferKey: keyOf(transfer, role),
      place,
      matched: addressIn(transfer, role),
      ...confirmationOf(webhook, blockNumber),
      ...content,
      rank: rankOf(webhook, txHash),
      dueAt: clock.now() + delayMs,
      replay,
    });
  }
  return { deliveries, unreadable: gas.unreadable };
}

/** Ranks a webhook's events of each transaction in order, so that no payment waits behind a stranger's thousands. */
function createRanks() {
  const counts = new Map<string, number>();
  return ({ id }: Webhook, txHash: string): number => {
    const key = `${id} ${txHash}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return RANK_ENDS.filter((end) => count >= end).length;
  };
}

/** Reads the gas figures of each transaction once, and notes those that cannot be read. */
function createGasReader(block: NodeBlock, receipts: ReadonlyMap<Hex, NodeReceipt>) {
  const transactions = new Map(block.transactions.map((one) => [one.hash, one]));
  const known = new Map<Hex, Gas | null>();
  const unreadable: Unreadable[] = [];

  function read(txHash: Hex): Gas | null {
    const [transaction, receipt] = [transactions.get(txHash), receipts.get(txHash)];
    // Movements of the chain itself have no listed transaction and cost no gas.
    if (receipt === undefined || transaction === undefined) return NO_GAS;
    try {
      return gasOf(transaction, receipt);
    } catch (error) {
      unreadable.push(unreadableOf('receipt', { transaction, receipt }, txHash, error));
      return null;
    }
  }

  return {
    unreadable,
    of(txHash: Hex): Gas | null {
      const gas = known.has(txHash) ? known.get(txHash)! : read(txHash);
      known.set(txHash, gas);
      return gas;
    },
  };
}

type Content = Pick<NewDelivery, 'body' | 'draft' | 'token'>;

function contentOf(
  event: Parameters<typeof eventBody>[0],
  { eventType }: Webhook,
  { factsOf, style }: DeliverySource,
): Content | null {
  const { transfer } = event;
  if (transfer.kind === 'native') return { body: eventBody(event, null, style), draft: null, token: null };
  const facts = factsOf(transfer.token);
  if (facts === undefined) return { body: null, draft: toDraft(event, eventType), token: transfer.token };
  if (!wants(eventType, withRightKind(transfer, facts))) return null;
  return { body: eventBody(event, facts, style), draft: null, token: transfer.token };
}

/** Equal for the same transfer in another block, where its logs may have other numbers. */
function keyOf(transfer: Transfer, role: Role): string {
  const amount = transfer.kind === 'erc721' ? transfer.tokenId : transfer.value;
  const id = transfer.kind === 'erc1155' ? transfer.tokenId : '';
  return [transfer.kind, addressIn(transfer, 'token'), transfer.from, transfer.to, amount, id, role].join('/');
}

/** What a webhook's delivery waits for. */
function confirmationOf(
  { confirmations }: Webhook,
  blockNumber: number,
): Pick<NewDelivery, 'confirmAt' | 'confirmTag'> {
  if (typeof confirmations !== 'number') return { confirmAt: null, confirmTag: confirmations };
  return { confirmAt: confirmations === 0 ? null : blockNumber + confirmations, confirmTag: null };
}
