import type { AddressText } from '../../../src/domain/address.ts';
import type { Alert, NewAlert, StoredMatch } from '../../../src/domain/alert.ts';
import type { Batch, ClaimOptions, DeadLetter, NewBatch, NextMessage, Notice } from '../../../src/domain/batch.ts';
import type { TransferHistory } from '../../../src/domain/history.ts';
import type { SeenTransfer } from '../../../src/domain/identity.ts';
import type { NewDelivery } from '../../../src/domain/inbox.ts';
import type { Decision, Learned, RoutingQuery, RoutingResult, StoredDelivery } from '../../../src/domain/routing.ts';
import { DEFAULT_CHOICES, type NewSubscription, type Subscription } from '../../../src/domain/subscription.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import type { Store } from '../../../src/store/store.ts';

/** Rows that tests of the contract start from, stored through the port. */

export const GUILD = '1000';
export const OTHER_GUILD = '2000';
export const CHANNEL = '1001';
export const OTHER_CHANNEL = '1002';
export const ADA = '77';
export const BOB = '78';
export const NOW = 1_800_000_000_000;
export const RUN = 'run-of-a-process';

export const address = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;
export const txHash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
/** The nth transfer's or delivery's key. */
export const keyOf = (n: number): string => n.toString(16).padStart(32, '0');

export const TREASURY = address(0x111);
export const ALICE = address(0x222);
export const USDC = address(0x333);

/** A subscription to the treasury in the guild's channel, unless changed; returns it as stored. */
export async function subscribe(store: Store, changed: Partial<NewSubscription> = {}): Promise<Subscription> {
  const outcome = await store.subscriptions.add({ ...newSubscription(), ...changed }, 1_000);
  if (outcome.status !== 'added') throw new Error(`The subscription was not added: ${outcome.status}.`);
  return outcome.subscription;
}

export const newSubscription = (changed: Partial<NewSubscription> = {}): NewSubscription => ({
  ...DEFAULT_CHOICES,
  guildId: GUILD,
  channelId: CHANNEL,
  address: TREASURY,
  createdBy: ADA,
  createdAt: NOW,
  ...changed,
});

/** 5 USDC from Alice to the treasury, in the nth transaction. */
export const transfer = (n: number, changed: Partial<Transfer> = {}): Transfer => ({
  kind: 'erc20',
  txHash: txHash(n),
  from: ALICE,
  to: TREASURY,
  token: USDC,
  value: '5000000',
  tokenId: null,
  tokenIdExact: true,
  tokenType: 'ERC-20',
  tokenName: 'USD Coin',
  tokenSymbol: 'USDC',
  decimals: 6,
  internal: false,
  blockNumber: n,
  blockHash: txHash(n),
  gasFee: null,
  ...changed,
});

export function storedTransfer(
  n: number,
  changed: Partial<Omit<SeenTransfer, 'transfer'>> & { transfer?: Partial<Transfer> } = {},
): SeenTransfer {
  const { transfer: given = {}, ...row } = changed;
  const first = {
    id: null,
    key: keyOf(n),
    scope: 0,
    network: 0,
    seenAt: NOW,
    count: 1,
    reorganized: false,
    isWorthless: false,
  };
  return { ...first, transfer: transfer(n, given), ...row };
}

export const delivery = (n: number, changed: Partial<StoredDelivery> = {}): StoredDelivery => ({
  transferKey: keyOf(n),
  key: keyOf(n),
  count: 1,
  received: 1,
  seenAt: NOW,
  run: RUN,
  windowMs: 0,
  inWindow: 1,
  ids: [],
  places: [],
  projectId: null,
  addressType: 'wallet',
  direction: 'incoming',
  lastAt: NOW,
  ...changed,
});

export const matchOf = (subscription: number): StoredMatch => ({
  subscription,
  perspective: 'incoming',
  isKnown: true,
  mayMention: true,
});

export const newAlert = (n: number, changed: Partial<NewAlert> = {}): NewAlert => ({
  transferKey: keyOf(n),
  inboxId: n,
  guildId: GUILD,
  channelId: CHANNEL,
  matches: [matchOf(1)],
  isSignificant: false,
  warnings: [],
  hold: null,
  dueAt: 0,
  ...changed,
});

/** The decision of subscription 1 about the nth transfer. */
export const decision = (n: number, changed: Partial<Decision> = {}): Decision => ({
  transferKey: keyOf(n),
  guildId: GUILD,
  channelId: CHANNEL,
  subscription: 1,
  address: TREASURY,
  outcome: 'matched',
  at: NOW,
  ...changed,
});

export const routed = ({
  learned,
  ...changed
}: Partial<Omit<RoutingResult, 'learned'>> & { learned?: Partial<Learned> } = {}): RoutingResult => ({
  done: [],
  transfers: [],
  deliveries: [],
  alerts: [],
  decisions: [],
  concerned: [],
  stats: [],
  quarantined: [],
  changed: [],
  learned: { catalog: [], counterparties: [], nativeSymbols: [], heads: [], ...learned },
  now: NOW,
  ...changed,
});

export const firstEvent = (subscription: number) => ({ subscription, events: 1, lastEventAt: NOW, gapMs: null });

export const queryOf = (n: number, changed: Partial<RoutingQuery> = {}): RoutingQuery => ({
  transferKey: keyOf(n),
  deliveryKey: keyOf(n),
  scope: 0,
  at: NOW,
  transfer: transfer(n),
  ...changed,
});

export const contextOf = ({ routing }: Store, n: number, changed: Partial<RoutingQuery> = {}, now = NOW) =>
  routing.context([queryOf(n, changed)], now);

export const historyOf = async ({ history }: Store, n: number, guildId = GUILD): Promise<TransferHistory[]> =>
  (await history.transfers({ guildId, txHash: txHash(n) }, NOW, 9)).first;

/** Stores the transfers with these numbers, each with an alert and a decision in the guild's channel. */
export async function post(
  store: Store,
  numbers: number[],
  changed: Partial<NewAlert> & {
    now?: number;
    transfer?: Partial<Transfer>;
    scope?: number;
    isWorthless?: boolean;
  } = {},
): Promise<void> {
  const { now = NOW, transfer: given, scope = 0, isWorthless = false, ...alert } = changed;
  const { guildId = GUILD, channelId = CHANNEL } = alert;
  await store.routing.commit(
    routed({
      now,
      transfers: numbers.map((n) =>
        storedTransfer(n, { seenAt: now, scope, isWorthless, ...(given && { transfer: given }) }),
      ),
      deliveries: numbers.map((n) => delivery(n, { seenAt: now, lastAt: now })),
      alerts: numbers.map((n) => newAlert(n, alert)),
      decisions: numbers.map((n) => decision(n, { guildId, channelId, at: now })),
    }),
  );
}

export const notice = (changed: Partial<Notice> = {}): Notice => ({
  guildId: GUILD,
  channelId: CHANNEL,
  nonce: 'nonce',
  reference: 'reference',
  payload: JSON.stringify({ embeds: [{ title: 'Title', description: 'Text' }] }),
  now: NOW,
  aboutChannelId: null,
  ...changed,
});

export const newBatch = (alerts: Alert[], changed: Partial<NewBatch> = {}): NewBatch => ({
  channelId: CHANNEL,
  kind: 'create',
  reason: null,
  nonce: 'nonce',
  reference: 'reference',
  payload: JSON.stringify({ embeds: [{}] }),
  plainText: false,
  attachment: null,
  isSignificant: false,
  alerts,
  mentioning: [],
  ...changed,
});

/** Freezes a channel's due alerts into a message, as the deliverer does; returns the batch's id. */
export async function freeze(store: Store, changed: Partial<NewBatch> = {}, now = NOW): Promise<number> {
  const { channelId = CHANNEL } = changed;
  const { alerts } = await dueAlerts(store, now, channelId);
  const batch = newBatch(alerts, { channelId, reference: `reference-${now}`, ...changed });
  const id = await store.outbox.freeze(batch, now);
  if (id === null) throw new Error('The alerts changed before they were frozen.');
  return id;
}

/** Freezes a channel's due alerts and confirms that Discord has the message; returns the batch's id. */
export async function send(store: Store, changed: Partial<NewBatch> = {}, now = NOW): Promise<number> {
  const id = await freeze(store, changed, now);
  await store.outbox.markSent(id, `message-${id}`, now);
  return id;
}

/** Freezes a channel's due alerts, which Discord refuses; returns the latest dead letter. */
export async function refuse(store: Store, changed: Partial<NewBatch> = {}): Promise<DeadLetter> {
  await store.outbox.deadLetter(await freeze(store, changed), 'refused', NOW);
  return (await store.deadLetters.list(99)).at(-1)!;
}

export const TAKE: ClaimOptions = { limit: 1_000, withoutCompanions: false, mayEdit: true };

export const next = async ({ outbox }: Store, now = NOW, channelId = CHANNEL): Promise<NextMessage> =>
  (await outbox.claim(channelId, TAKE, now))!.next;

/** The transaction numbers of the alerts that a channel is sent next; empty when that is something else. */
export async function due(store: Store, now = NOW, channelId = CHANNEL): Promise<number[]> {
  const found = await next(store, now, channelId);
  return found.status === 'alerts' ? found.alerts.map((alert) => Number(alert.transfer.txHash)) : [];
}

export async function dueAlerts(
  store: Store,
  now = NOW,
  channelId = CHANNEL,
): Promise<Extract<NextMessage, { status: 'alerts' }>> {
  const found = await next(store, now, channelId);
  if (found.status !== 'alerts') throw new Error(`There are no alerts to send, but: ${JSON.stringify(found)}.`);
  return found;
}

/** Claims the frozen message or the edit that comes next. */
export async function frozen(store: Store, now = NOW, channelId = CHANNEL): Promise<Batch> {
  const found = await next(store, now, channelId);
  if (found.status !== 'batch') throw new Error(`There is no message to send, but: ${JSON.stringify(found)}.`);
  return found.batch;
}

/** Counts another transfer equal to the nth, which sent messages must show; returns where they are. */
export async function countAgain(store: Store, n: number, now = NOW, given: Partial<Transfer> = {}) {
  const [seen] = (await contextOf(store, n, { transfer: transfer(n, given) }, now)).transfers;
  const changed = { ...seen!, count: seen!.count + 1 };
  return (await store.routing.commit(routed({ transfers: [changed], changed: [keyOf(n)], now }))).edited;
}

/** Stores bodies and quarantines them, as the router does with what it does not understand. */
export async function quarantine(
  store: Store,
  bodies: (string | Uint8Array)[],
  scope = 0,
  reason = 'The body is not JSON.',
): Promise<void> {
  const ids = await store.inbox.append(bodies.map((body, n) => received(body, { scope, receivedAt: NOW + n })));
  const quarantined = ids.map((id) => ({ id, reason }));
  await store.routing.commit(routed({ quarantined }));
}

export const received = (body: string | Uint8Array, changed: Partial<NewDelivery> = {}): NewDelivery => ({
  scope: 0,
  receivedAt: NOW,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  identity: null,
  run: RUN,
  runMs: 0,
  ...changed,
});

/** A guild's project on a network; returns its scope. Its path token is `token`, followed by the guild and the network. */
export const saveProject = ({ projects }: Store, guildId = GUILD, network = 0): Promise<number> =>
  projects.save(
    { guildId, network, projectId: `p${network}`, sealed: new Uint8Array() },
    `token-${guildId}-${network}`,
  );

export const name = ({ labels }: Store, named: AddressText, text: string, guildId = GUILD) =>
  labels.set(guildId, { address: named, name: text, createdBy: ADA, at: NOW });

export const change = ({ audit }: Store, guildId = GUILD, at = NOW): Promise<void> =>
  audit.record({ guildId, userId: ADA, action: 'label.set', detail: {}, at });

export const PARKED = {
  channelId: CHANNEL,
  state: 'parked',
  dueAt: NOW,
  attempts: 1,
  since: NOW,
  reason: '50001',
} as const;

export const PROGRESS = { chainId: '1', block: 7, blockAt: NOW, unchecked: [] };

/** Deletes everything that was seen before a time and is done with. */
export async function pruneAll({ retention }: Store, before: number): Promise<void> {
  for (let after: number | null = 0; after !== null; ) after = await retention.pruneTransfers(before, after);
  for (let from: number | null = 0; from !== null; ) from = await retention.pruneMessages(before, from);
  while (await retention.pruneRest(before));
}

export async function finishErasure({ erasure }: Store, guildId: string): Promise<void> {
  while (await erasure.step(guildId));
}
