import { randomBytes } from 'node:crypto';
import { type Hex, zeroAddress, zeroHash } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import { type Unreadable, unreadableOf } from '../chain/block-transfers.ts';
import { hasFailed, type NodeBlock, type NodeReceipt } from '../chain/node.ts';
import type { TokenFacts } from '../chain/token.ts';
import { type Address, type Transfer, withRightKind } from '../chain/transfers.ts';
import { addressIn, type EventStyle, eventBody, gasOf, mayWant, NO_GAS, type Role, toDraft, wants } from './event.ts';
import type { Parts } from './parts.ts';
import type { NewDelivery } from './store/deliveries.ts';
import type { Webhook } from './store/webhooks.ts';

export interface Match {
  transfer: Transfer;
  role: Role;
  webhook: Webhook;
}

const ROLES: readonly Role[] = ['token', 'to', 'from'];

/** In strict style one wallet event stands for both wallets. */
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

export interface DeliverySource {
  block: NodeBlock;
  receipts: ReadonlyMap<Hex, NodeReceipt>;
  /** undefined while unknown. */
  factsOf(token: Address): TokenFacts | undefined;
  style: EventStyle;
  clock: Clock;
  delayMs: number;
  /** Above 0: the deliveries belong to this replay. */
  replay?: number;
}

const RANK_ENDS = [16, 256];

/** Leaves out failed transactions and unwanted kinds. An event whose gas figures cannot be read has none. */
export function deliveriesOf(
  matches: readonly Match[],
  source: DeliverySource,
): { deliveries: NewDelivery[]; unreadable: Unreadable[] } {
  const { block, receipts, clock, delayMs, replay = 0 } = source;
  const { hash: blockHash } = block;
  const blockNumber = Number(block.number);
  const gas = createGasReader(block, receipts);
  const rankOf = createRanks();
  const known = block.transactions.filter((transaction) => receipts.has(transaction?.hash));
  const failed = new Set(
    known.flatMap((transaction) => (hasFailed(transaction, receipts.get(transaction.hash)!) ? transaction.hash : [])),
  );
  const deliveries: NewDelivery[] = [];
  for (const { transfer, role, webhook } of matches) {
    const { txHash, place } = transfer;
    if (failed.has(txHash) && !transfer.survives) continue;
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

/** So that no payment waits behind a stranger's thousands. */
function createRanks() {
  const counts = new Map<string, number>();
  return ({ id }: Webhook, txHash: string): number => {
    const key = `${id} ${txHash}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return RANK_ENDS.filter((end) => count >= end).length;
  };
}

function createGasReader({ transactions }: NodeBlock, receipts: ReadonlyMap<Hex, NodeReceipt>) {
  const known = new Map<Hex, ReturnType<typeof read>>();
  const unreadable: Unreadable[] = [];

  function read(txHash: Hex) {
    const [transaction, receipt] = [transactions.find(({ hash }) => hash === txHash), receipts.get(txHash)];
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
    of(txHash: Hex): ReturnType<typeof read> {
      if (!known.has(txHash)) known.set(txHash, read(txHash));
      return known.get(txHash)!;
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

function confirmationOf(
  { confirmations }: Webhook,
  blockNumber: number,
): Pick<NewDelivery, 'confirmAt' | 'confirmTag'> {
  if (typeof confirmations !== 'number') return { confirmAt: null, confirmTag: confirmations };
  return { confirmAt: confirmations === 0 ? null : blockNumber + confirmations, confirmTag: null };
}

/** Value 0 from the zero address to itself, in a block that does not exist. It waits for nothing. */
export function testDelivery(webhook: Webhook, { style, clock }: Pick<Parts, 'style' | 'clock'>): NewDelivery {
  const txHash: Hex = `0x${randomBytes(32).toString('hex')}`;
  const [from, to] = [zeroAddress, zeroAddress];
  const transfer: Transfer = { kind: 'native', internal: false, txHash, from, to, value: 0n, place: 'test' };
  const block = { number: '0x0', hash: zeroHash, transactions: [] } as Partial<NodeBlock> as NodeBlock;
  const source = { block, receipts: new Map(), style, clock, delayMs: 0, factsOf: () => undefined };
  const [delivery] = deliveriesOf([{ transfer, role: 'to', webhook }], source).deliveries;
  return { ...delivery!, transferKey: '', matched: null, confirmAt: null, confirmTag: null };
}
