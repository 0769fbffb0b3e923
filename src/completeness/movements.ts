import { type AddressText, toAddress, ZERO_ADDRESS } from '../domain/address.ts';
import {
  type ChainBlock,
  ChainError,
  type ChainNode,
  type ChainReceipt,
  type ChainTransaction,
  refusalOf,
} from '../domain/chain-node.ts';
import {
  BATCH_TOPIC,
  type Balances,
  type BlockRange,
  type ChainLog,
  type ChainMovement,
  difference,
  isInRange,
  isSameMovement,
  movementsOf,
  netOf,
  SINGLE_TOPIC,
  type StoredTransfer,
  type Suspect,
  suspectsIn,
  TRANSFER_TOPIC,
  topicOf,
  type UncheckedReason,
} from '../domain/completeness.ts';

export interface ChainFacts {
  movements: ChainMovement[];
  /** By transaction hash. */
  fees: ReadonlyMap<string, bigint>;
  unchecked: { coin: UncheckedReason | null; tokens: UncheckedReason | null };
  /** null: no traces were needed. */
  hasTraces: boolean | null;
}

/** Most blocks and addresses in one request for logs; nodes that refuse this many get fewer. */
const MAX_BLOCKS = 2_000;
const MAX_ADDRESSES = 500;

export function createLogReader(chain: Pick<ChainNode, 'logs'>) {
  let blocks = MAX_BLOCKS;
  let many = MAX_ADDRESSES;

  async function read(
    { after, upTo }: BlockRange,
    addresses: readonly AddressText[],
    filterOf: (addresses: readonly AddressText[]) => object,
  ): Promise<ChainLog[]> {
    const middle = upTo - after > blocks ? after + blocks : null;
    if (middle !== null) {
      const first = await read({ after, upTo: middle }, addresses, filterOf);
      return [...first, ...(await read({ after: middle, upTo }, addresses, filterOf))];
    }
    if (addresses.length > many) {
      const first = await read({ after, upTo }, addresses.slice(0, many), filterOf);
      return [...first, ...(await read({ after, upTo }, addresses.slice(many), filterOf))];
    }
    try {
      const logs = await chain.logs({ after, upTo }, filterOf(addresses));
      if (upTo - after === blocks) blocks = Math.min(MAX_BLOCKS, blocks * 2);
      if (addresses.length === many) many = Math.min(MAX_ADDRESSES, many * 2);
      return logs;
    } catch (error) {
      const isTooMuch = error instanceof ChainError && error.failure === 'refused';
      if (!isTooMuch || (upTo - after === 1 && addresses.length === 1)) throw error;
      if (upTo - after > 1) blocks = (upTo - after) >> 1;
      else many = addresses.length >> 1;
      return read({ after, upTo }, addresses, filterOf);
    }
  }
  return read;
}

const ALL_TOPICS = [TRANSFER_TOPIC, SINGLE_TOPIC, BATCH_TOPIC];

async function tokenMovements(
  read: ReturnType<typeof createLogReader>,
  range: BlockRange,
  addresses: readonly AddressText[],
): Promise<ChainMovement[]> {
  const topics = (some: readonly AddressText[]) => some.map(topicOf);
  const found = [
    ...(await read(range, addresses, (some) => ({ topics: [[TRANSFER_TOPIC], topics(some)] }))),
    // The receiver of an ERC-20 or ERC-721, and the sender of an ERC-1155.
    ...(await read(range, addresses, (some) => ({ topics: [ALL_TOPICS, null, topics(some)] }))),
    ...(await read(range, addresses, (some) => ({ topics: [[SINGLE_TOPIC, BATCH_TOPIC], null, null, topics(some)] }))),
    ...(await read(range, addresses, (some) => ({ address: some, topics: [ALL_TOPICS] }))),
  ];
  const once = new Map(found.map((log) => [`${log.transactionHash} ${log.logIndex}`, log]));
  return [...once.values()].flatMap((log) => movementsOf(log));
}

/** The fee that the sender paid: gas, blobs, and data on the parent chain. */
export const feeOf = ({ gasUsed, effectiveGasPrice, l1Fee, blobGasUsed, blobGasPrice }: ChainReceipt): bigint =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0) +
  BigInt(l1Fee ?? 0) +
  BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);

const coins = (
  from: string | null,
  to: string | null,
  value: bigint,
  rest: Pick<ChainMovement, 'txHash' | 'place' | 'blockNumber' | 'blockHash' | 'internal'>,
): ChainMovement => ({
  kind: 'native',
  from: toAddress(from),
  to: toAddress(to),
  value: value.toString(),
  token: null,
  tokenId: null,
  tokenIdExact: true,
  ...rest,
});

const concerns = ({ from, to }: Record<'from' | 'to', string | null>, some: ReadonlySet<string>): boolean =>
  [from, to].some((party) => party !== null && some.has(party));

/** `stored`: what was delivered about these blocks, which saves calls where it is right. */
export async function readFacts(
  chain: ChainNode,
  readLogs: ReturnType<typeof createLogReader>,
  range: BlockRange,
  addresses: readonly AddressText[],
  /** Of the addresses that were known at the beginning of the range; null: balances cannot be read. */
  balances: { start: Balances; end: Balances } | null,
  stored: readonly StoredTransfer[],
): Promise<ChainFacts> {
  const watched = new Set(addresses);
  const unchecked: ChainFacts['unchecked'] = { coin: null, tokens: null };
  let hasTraces: boolean | null = null;
  const tokens = await tokenMovements(readLogs, range, addresses).catch((error: unknown) => {
    unchecked.tokens = uncheckedReasonOf(error);
    return [];
  });
  /** By transaction and place. */
  const payments = new Map<string, ChainMovement>();
  const fees = new Map<string, { payer: AddressText; block: number; amount: bigint }>();
  const add = (movement: ChainMovement) => payments.set(`${movement.txHash} ${movement.place}`, movement);

  async function addTransaction(transaction: ChainTransaction, needsReceipt: boolean): Promise<void> {
    const { hash: txHash, value, mint } = transaction;
    const [from, receiver] = [toAddress(transaction.from)!, toAddress(transaction.to)];
    const blockNumber = Number(transaction.blockNumber);
    const receipt = needsReceipt || watched.has(from) || receiver === null ? await chain.receipt(txHash) : undefined;
    if (receipt && watched.has(from)) fees.set(txHash, { payer: from, block: blockNumber, amount: feeOf(receipt) });
    const common = { txHash: txHash.toLowerCase(), blockNumber, blockHash: null };
    if (BigInt(mint ?? 0) > 0n)
      add(coins(ZERO_ADDRESS, from, BigInt(mint!), { ...common, internal: true, place: 'mint' }));
    const isReverted = receipt === null || (receipt?.status !== undefined && BigInt(receipt.status) === 0n);
    if (isReverted) payments.delete(`${common.txHash} transaction`);
    if (isReverted || BigInt(value) === 0n) return;
    const to = receiver ?? toAddress(receipt?.contractAddress);
    add(coins(from, to, BigInt(value), { ...common, internal: false, place: 'transaction' }));
  }

  const native = stored.filter(({ transfer }) => transfer.kind === 'native');
  const named = new Set(native.filter(({ transfer }) => !transfer.internal).map(({ transfer }) => transfer.txHash));
  for (const { from, txHash } of tokens) if (from !== null && watched.has(from)) named.add(txHash);
  for (const txHash of named) {
    const transaction = await chain.transaction(txHash);
    if (transaction?.blockNumber && isInRange(Number(transaction.blockNumber), range))
      await addTransaction(transaction, false);
  }
  /** Payments inside of transactions that were delivered: right if the balances add up. */
  let claims: ChainMovement[] = claimsOf(native, range);
  const all = () => [...payments.values(), ...claims];
  const net = (address: AddressText, of: BlockRange) => netOf(address, of, all(), fees.values());

  /** Finds what explains the unexplained changes of balances in a block. */
  async function explain(number: number, suspects: Suspect[]): Promise<void> {
    const block = await chain.block(number);
    const whole = { after: number - 1, upTo: number };
    const odd = new Set(suspects.map(({ address }) => address));
    for (const transaction of block.transactions) {
      const parties = { from: toAddress(transaction.from), to: toAddress(transaction.to) };
      if (concerns(parties, odd)) await addTransaction({ ...transaction, blockNumber: block.number }, true);
    }
    addWithdrawals(block, odd, add);
    const unexplained = ({ address, change }: Suspect) => change - net(address, whole);
    if (suspects.every((suspect) => unexplained(suspect) === 0n)) return;
    const isClaimed = (claim: ChainMovement) => claim.blockNumber === number && concerns(claim, odd);
    const traced = await chain.payments(block);
    hasTraces = traced !== null;
    // A transaction that is not in the block paid nothing there.
    const listed = new Set(
      [block.hash, ...block.transactions.map(({ hash }) => hash)].map((hash) => hash.toLowerCase()),
    );
    const kept = claims.filter((claim) => !isClaimed(claim) || listed.has(claim.txHash));
    claims = claims.filter((claim) => !isClaimed(claim));
    for (const { txHash, from, to, value, path } of traced ?? []) {
      const common = { txHash: txHash.toLowerCase(), blockNumber: number, blockHash: block.hash, internal: true };
      const payment = coins(from, to, value, { ...common, place: `trace:${path}` });
      if (concerns(payment, odd)) add(payment);
    }
    // Without traces, what was delivered is believed unless the balances add up without it.
    if (traced === null && suspects.some((suspect) => unexplained(suspect) !== 0n)) claims = kept;
    for (const suspect of suspects) {
      const rest = unexplained(suspect);
      // Some chains charge more than a receipt says.
      const own = [...fees.values()].filter(({ payer, block: at }) => payer === suspect.address && at === number);
      if (rest === 0n || (rest < 0n && -rest <= own.reduce((sum, { amount }) => sum + amount, 0n))) continue;
      add(difference(suspect.address, rest, number, block.hash));
    }
  }

  if (balances !== null) {
    try {
      const { start, end } = balances;
      const known = new Map([...start].filter(([address]) => end.has(address)));
      const suspects = await suspectsIn(range, known, end, net, (block, some) => chain.balances(block, some));
      for (const [number, some] of Map.groupBy(suspects, ({ block }) => block)) await explain(number, some);
    } catch (error) {
      unchecked.coin = uncheckedReasonOf(error);
    }
  }
  return {
    movements: [...tokens, ...all().filter((movement) => concerns(movement, watched))],
    fees: new Map([...fees].map(([hash, { amount }]) => [hash, amount])),
    unchecked,
    hasTraces,
  };
}

/** Why blocks that the node refuses stay unchecked. The caller retries while the node is unreachable. */
export const uncheckedReasonOf = (error: unknown): UncheckedReason =>
  refusalOf(error).failure === 'pruned' ? 'pruned' : 'refused';

/** Counts each payment as often as the scope that has it most often. */
function claimsOf(native: readonly StoredTransfer[], range: BlockRange): ChainMovement[] {
  const inside = native.filter(({ transfer: { internal, blockNumber } }) => internal && isInRange(blockNumber, range));
  const claims: ChainMovement[] = [];
  for (const [scope, ofScope] of Map.groupBy(inside, (movement) => movement.scope)) {
    for (const { transfer, count } of ofScope) {
      const { txHash, from, to, value, blockNumber, blockHash } = transfer;
      if (value === null) continue;
      const known = claims.filter((claim) => isSameMovement(claim, transfer)).length;
      for (let index = known; index < count; index++) {
        const place = `claim:${scope}:${index}`;
        claims.push(
          coins(from, to, BigInt(value), { txHash, blockNumber: blockNumber!, blockHash, internal: true, place }),
        );
      }
    }
  }
  return claims;
}

const GWEI = 10n ** 9n;

/** Adds a block's withdrawals. They belong to no transaction, so the block's hash takes its place. */
function addWithdrawals(
  { hash, number, withdrawals = [] }: ChainBlock,
  odd: ReadonlySet<string>,
  add: (movement: ChainMovement) => void,
): void {
  for (const { index, address, amount } of withdrawals) {
    const to = toAddress(address);
    if (to === null || !odd.has(to) || BigInt(amount) === 0n) continue;
    const place = `withdrawal:${Number(index)}`;
    const common = { txHash: hash.toLowerCase(), blockNumber: Number(number), blockHash: hash, internal: true, place };
    add(coins(ZERO_ADDRESS, to, BigInt(amount) * GWEI, common));
  }
}
