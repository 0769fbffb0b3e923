import { type AddressText, toAddress, ZERO_ADDRESS } from './address.ts';
import type { Token } from './token.ts';
import { isDifference, type Transfer, type TransferKind } from './transfer.ts';

/** Compares what moved on the chain with what was delivered: the proof that nothing was missed. */

/** Excludes block `after`, includes block `upTo`. */
export interface BlockRange {
  after: number;
  upTo: number;
}

export const isInRange = (block: number | null, { after, upTo }: BlockRange): boolean =>
  block !== null && block > after && block <= upTo;

export interface ChainLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  transactionHash: string;
  logIndex: string;
}

export interface ChainMovement extends Compared, Pick<Transfer, 'internal' | 'blockHash'> {
  kind: Exclude<TransferKind, 'unknown'>;
  blockNumber: number;
  /** `transaction`, `log:5` or `trace:0.1`: unique in the transaction. */
  place: string;
}

type Compared = Pick<
  Transfer,
  'kind' | 'txHash' | 'from' | 'to' | 'token' | 'value' | 'tokenId' | 'tokenIdExact' | 'blockNumber'
>;

export interface StoredTransfer {
  id: number;
  scope: number;
  count: number;
  transfer: Transfer;
}

export interface WatchedAddress {
  scope: number;
  address: AddressText;
  since: number;
}

/** `at`: when it was found. */
export interface MissedTransfer {
  transferId: number;
  network: number;
  scope: number;
  transfer: Transfer;
  address: AddressText;
  channelId: string;
  at: number;
  minedAt: number;
}

export type UncheckedReason = 'pruned' | 'refused';

export interface Unchecked extends BlockRange {
  reason: UncheckedReason;
  at: number;
}

export interface CheckProgress {
  /** Empty: no node has responded yet. */
  chainId: string;
  block: number;
  /** When `block` was mined; everything up to there was compared. */
  blockAt: number;
  unchecked: Unchecked[];
  /** The id of the latest transfer that was examined for a late delivery. */
  seen?: number;
  /** Nothing older is looked for. */
  since?: number;
}

export const isCompared = ({ block, unchecked }: CheckProgress, at: number): boolean =>
  at <= block && !unchecked.some((range) => isInRange(at, range));

export interface Completeness {
  network: string;
  title: string;
  block: number | null;
  blockAt: number | null;
  trouble: { since: number; reason: 'away' | 'refused' | 'other-chain' } | null;
  unchecked: Unchecked[];
  /** false: payments inside of transactions are only found as differences of the balance. */
  hasTraces: boolean | null;
}

export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
export const BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

const MAX_UNCHECKED = 20;

/** Ranges of one reason that touch become one. */
export function addUnchecked(known: readonly Unchecked[], added: readonly Unchecked[]): Unchecked[] {
  let all = [...known];
  for (const range of added) {
    const isApart = ({ reason, after, upTo }: Unchecked) =>
      reason !== range.reason || after > range.upTo || upTo < range.after;
    const touching = all.filter((other) => !isApart(other));
    all = [...all.filter(isApart), touching.reduce(together, range)];
  }
  // What was forgotten would count as compared.
  while (all.length > MAX_UNCHECKED) all = [together(all[1]!, all[0]!), ...all.slice(2)];
  return all;
}

const together = (a: Unchecked, b: Unchecked): Unchecked => ({
  ...a,
  after: Math.min(a.after, b.after),
  upTo: Math.max(a.upTo, b.upTo),
  at: Math.max(a.at, b.at),
});

export const topicOf = (address: AddressText): string => `0x${address.slice(2).padStart(64, '0')}`;
const addressIn = (topic: string | undefined): AddressText | null =>
  topic !== undefined && /^0x0{24}/.test(topic) ? toAddress(`0x${topic.slice(26)}`) : null;

const wordsOf = (data: string): bigint[] =>
  (data.slice(2).match(/[0-9a-f]{64}/gi) ?? []).map((word) => BigInt(`0x${word}`));

/** Contracts may log a list of any length; a longer one is ignored. */
const MAX_BATCH = 10_000;

/** Repeats every payment of the coin as a log of a token (EIP-7708). */
const COIN_LOGGER = '0xfffffffffffffffffffffffffffffffffffffffe';

/** None in a malformed log: a contract may write anything under a known topic. */
export function movementsOf(log: ChainLog, blockHash: string | null = null): ChainMovement[] {
  const token = toAddress(log.address);
  const [topic, first, second, third] = log.topics;
  if (token === null || token === COIN_LOGGER) return [];
  const place = `log:${Number(log.logIndex)}`;
  const [internal, txHash, blockNumber] = [false, log.transactionHash.toLowerCase(), Number(log.blockNumber)];
  const common = { txHash, token, tokenIdExact: true, internal, blockNumber, blockHash, place };
  if (topic === TRANSFER_TOPIC) {
    const [from, to] = [addressIn(first), addressIn(second)];
    if (!from || !to) return [];
    if (third !== undefined) {
      return [{ ...common, kind: 'erc721', from, to, value: null, tokenId: BigInt(third).toString() }];
    }
    const words = wordsOf(log.data);
    if (log.data.length !== 66 || words.length !== 1) return [];
    return [{ ...common, kind: 'erc20', from, to, value: words[0]!.toString(), tokenId: null }];
  }
  const [from, to] = [addressIn(second), addressIn(third)];
  if (!from || !to) return [];
  return piecesIn(topic, wordsOf(log.data)).map(([id, value], index, all) => ({
    ...common,
    place: all.length > 1 ? `${place}:${index}` : place,
    kind: 'erc1155',
    from,
    to,
    value: value.toString(),
    tokenId: id.toString(),
  }));
}

/** IDs and numbers of pieces. */
function piecesIn(topic: string | undefined, words: bigint[]): [bigint, bigint][] {
  if (topic === SINGLE_TOPIC) return words.length === 2 ? [[words[0]!, words[1]!]] : [];
  if (topic !== BATCH_TOPIC) return [];
  const list = (at: bigint | undefined): bigint[] | null => {
    if (at === undefined || at % 32n !== 0n || at / 32n >= BigInt(words.length)) return null;
    const start = Number(at / 32n);
    const length = words[start]!;
    if (length > MAX_BATCH || start + 1 + Number(length) > words.length) return null;
    return words.slice(start + 1, start + 1 + Number(length));
  };
  const [ids, values] = [list(words[0]), list(words[1])];
  if (!ids || !values || ids.length !== values.length) return [];
  return ids.map((id, index) => [id, values[index]!]);
}

/** Coins that appeared or vanished and that no call explains. The block stands for their transaction. */
export function difference(
  address: AddressText,
  amount: bigint,
  blockNumber: number,
  blockHash: string | null,
): ChainMovement {
  return {
    kind: 'native',
    txHash: `block${blockNumber}`,
    from: amount < 0n ? address : null,
    to: amount < 0n ? null : address,
    token: null,
    value: (amount < 0n ? -amount : amount).toString(),
    tokenId: null,
    tokenIdExact: true,
    internal: true,
    blockNumber,
    blockHash,
    place: `difference:${address}`,
  };
}

/** Services write NFTs with or without a number of pieces, with another kind, or with a rounded ID. */
export function isSameMovement(a: Compared, b: Compared): boolean {
  const [unexplained, named] = a.token === null && isDifference(a) ? [a, b] : [b, a];
  if (unexplained.token === null && isDifference(unexplained) && !isDifference(named)) {
    const { from, to } = unexplained;
    return (
      named.kind === 'native' &&
      named.value === unexplained.value &&
      named.blockNumber === unexplained.blockNumber &&
      (to === null ? named.from === from : named.to === to)
    );
  }
  if (a.txHash !== b.txHash || a.token !== b.token || a.from !== b.from || a.to !== b.to) {
    return false;
  }
  if (a.tokenId === null || b.tokenId === null) return a.tokenId === b.tokenId && a.value === b.value;
  return a.tokenIdExact && b.tokenIdExact
    ? a.tokenId === b.tokenId
    : Math.abs(Number(a.tokenId) / Number(b.tokenId) - 1) < 1e-9;
}

/** Equal for the same movements; null: only {@link isSameMovement} can compare this one. */
const exactName = (movement: Compared): string | null =>
  isDifference(movement) || (movement.tokenId !== null && !movement.tokenIdExact)
    ? null
    : [movement.txHash, movement.token, movement.from, movement.to, movement.tokenId ?? `value ${movement.value}`].join(
        ' ',
      );

interface Group {
  chain: ChainMovement[];
  stored: StoredTransfer[];
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

export interface Comparison {
  missed: ChainMovement[];
  wrong: { stored: StoredTransfer; count: number }[];
}

/**
 * All `movements` are on the chain. A `stored` transfer may be called wrong only if it `isCovered`; `isHere`: the chain
 * has some of it here, whatever block was named.
 */
export function compare(
  movements: readonly ChainMovement[],
  stored: readonly StoredTransfer[],
  isCovered: (stored: StoredTransfer, isHere: boolean) => boolean,
): Comparison {
  const groups: Group[] = [];
  const byName = new Map<string, Group>();
  const [byPlace, loosely] = [new Map<string, Group[]>(), new Map<string, Group[]>()];
  const groupFor = (transfer: Compared) => {
    // A stranger's transaction moves thousands of pieces: only what has no exact name is compared with each of them.
    const name = exactName(transfer);
    const known = name === null ? undefined : byName.get(name);
    if (known) return known;
    // A payment may be named by its transaction, which may have been in another block, or be a difference in its block.
    const keys = [transfer.txHash, ...(transfer.kind === 'native' ? [`block${transfer.blockNumber}`] : [])];
    const alike = keys
      .flatMap((key) => (name === null ? byPlace : loosely).get(key) ?? [])
      .find(({ chain, stored: [first] }) => isSameMovement(transfer, chain[0] ?? first!.transfer));
    const group = alike ?? { chain: [], stored: [] };
    if (!alike) groups.push(group);
    if (name !== null) byName.set(name, group);
    for (const key of keys) {
      listIn(byPlace, key).push(group);
      if (name === null) listIn(loosely, key).push(group);
    }
    return group;
  };
  for (const movement of movements) groupFor(movement).chain.push(movement);
  for (const movement of stored) groupFor(movement.transfer).stored.push(movement);
  const result: Comparison = { missed: [], wrong: [] };
  for (const { chain, stored: here } of groups) {
    const known = here.reduce((sum, { count }) => sum + count, 0);
    if (known < chain.length) result.missed.push(...chain);
    if (known <= chain.length) continue;
    let remaining = chain.length;
    for (const movement of here) {
      const count = Math.min(movement.count, remaining);
      remaining -= count;
      if (count < movement.count && isCovered(movement, chain.length > 0))
        result.wrong.push({ stored: movement, count });
    }
  }
  return result;
}

/** In the coin's smallest unit. */
export type Balances = ReadonlyMap<AddressText, bigint>;

/** A change of a balance that no known movement explains. */
export interface Suspect {
  block: number;
  address: AddressText;
  change: bigint;
}

/** Halves the range again and again and follows only the halves that do not add up, for all addresses together. */
export async function suspectsIn(
  { after, upTo }: BlockRange,
  start: Balances,
  end: Balances,
  expected: (address: AddressText, range: BlockRange) => bigint,
  balancesAt: (block: number, addresses: AddressText[]) => Promise<Balances>,
): Promise<Suspect[]> {
  const odd = [...start.keys()].filter(
    (address) => end.get(address)! - start.get(address)! !== expected(address, { after, upTo }),
  );
  if (odd.length === 0) return [];
  if (upTo - after === 1) {
    return odd.map((address) => ({ block: upTo, address, change: end.get(address)! - start.get(address)! }));
  }
  const middle = after + ((upTo - after) >> 1);
  const between = await balancesAt(middle, odd);
  const only = (balances: Balances): Balances => new Map(odd.map((address) => [address, balances.get(address)!]));
  return [
    ...(await suspectsIn({ after, upTo: middle }, only(start), between, expected, balancesAt)),
    ...(await suspectsIn({ after: middle, upTo }, between, only(end), expected, balancesAt)),
  ];
}

export function netOf(
  address: AddressText,
  range: BlockRange,
  payments: Iterable<Pick<ChainMovement, 'from' | 'to' | 'value' | 'blockNumber'>>,
  fees: Iterable<{ payer: AddressText; block: number; amount: bigint }>,
): bigint {
  let net = 0n;
  for (const { from, to, value, blockNumber } of payments) {
    if (!isInRange(blockNumber, range)) continue;
    if (to === address) net += BigInt(value!);
    if (from === address) net -= BigInt(value!);
  }
  for (const { payer, block, amount } of fees) if (payer === address && isInRange(block, range)) net -= amount;
  return net;
}

export type TokenFacts = Pick<Token, 'name' | 'symbol' | 'decimals'>;

/** As the notification service would write it. */
export function bodyOf(
  movement: ChainMovement,
  token: TokenFacts | null,
  symbol: string | null,
  fee: bigint | null,
): string {
  const { kind, from, to, value, tokenId, txHash, internal, blockNumber, blockHash } = movement;
  return JSON.stringify({
    from,
    to,
    txHash,
    blockNumber,
    blockHash,
    tokenType: { native: symbol ?? 'NATIVE', erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }[kind],
    tokenAddress: movement.token,
    tokenName: token?.name ?? null,
    tokenSymbol: token?.symbol ?? null,
    tokenDecimals: token?.decimals?.toString() ?? null,
    tokenId,
    ...(kind === 'erc1155' ? { quantity: value } : { value }),
    isInternalTransaction: internal,
    gasFee: fee?.toString() ?? null,
  });
}

/** The log may have any form. */
export function mentions({ address, topics, data }: ChainLog, { token, from, to, value, tokenId }: Compared): boolean {
  if (toAddress(address) !== token) return false;
  const words = `${topics.slice(1).join('')}${data}`.toLowerCase().replaceAll('0x', '');
  const has = (text: string) => words.includes(text);
  const parties = [from, to].filter((party) => party !== null && party !== ZERO_ADDRESS);
  const amount = tokenId !== null && /^\d+$/.test(tokenId) ? tokenId : value;
  return (
    parties.every((party) => has(party!.slice(2))) &&
    (amount === null || has(BigInt(amount).toString(16).padStart(64, '0')))
  );
}
