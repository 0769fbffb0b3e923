import {
  decodeAbiParameters,
  getAddress,
  getContractAddress,
  type Hex,
  parseAbiParameters,
  size,
  slice,
  zeroAddress,
} from 'viem';
import type { NodeBlock, NodeLog, NodeTransaction } from './node.ts';
import type { CoinMove } from './traces.ts';

/** EIP-55 checksummed. */
export type Address = `0x${string}`;

interface Common {
  txHash: Hex;
  from: Address;
  to: Address;
  /** Where in its transaction: `transaction`, `log:5`, `log:5:2` (third of a batch), `trace:0.1`, `mint`. Unique there. */
  place: string;
  /** true: the chain itself moves these coins, also when the transaction fails. */
  survives?: true;
}

/** Amounts in the smallest unit. `unindexed`: see {@link withRightKind}. */
export type Transfer =
  | (Common & { kind: 'native'; internal: boolean; value: bigint })
  | (Common & { kind: 'erc20'; token: Address; value: bigint })
  | (Common & { kind: 'erc721'; token: Address; tokenId: bigint; unindexed?: true })
  | (Common & { kind: 'erc1155'; token: Address; tokenId: bigint; value: bigint });

/** The address that stands for the coin where a token's address is expected. */
export const SENTINEL_ADDRESS: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';

const TRANSFER_TOPIC: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE_TOPIC: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH_TOPIC: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

const GWEI = 10n ** 9n;

/** The first topics of ERC-20 and ERC-721 Transfer, and ERC-1155 TransferSingle and TransferBatch. */
export const TRANSFER_TOPICS: readonly Hex[] = [TRANSFER_TOPIC, SINGLE_TOPIC, BATCH_TOPIC];

/** The first topics of wrapping coins into a token and back: Deposit(address,uint256), Withdrawal(address,uint256). */
export const WRAP_TOPICS: readonly Hex[] = [
  '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
  '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
];

/** The first topic of a movement of the coin on Polygon: LogTransfer(address,address,address,uint256,…). */
export const COIN_TOPIC: Hex = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';

/** The first topic of coins that a deposit creates on zkSync: Mint(address,uint256). */
export const MINT_TOPIC: Hex = '0x0f6798a560793a54c3bcfe86a93cde1e73087d944c0ea20544137d4121396885';

/** The first topic of coins that the bridge creates on Gnosis: AddedReceiver(uint256,address,address). */
export const RECEIVER_TOPIC: Hex = '0x3c798bbcf33115b42c728b8504cff11dd58736e9fa789f1cda2738db7d696b2a';

export function loggedCoins({ topics, data, transactionHash: txHash, logIndex }: NodeLog): Transfer[] {
  const [topic, first, from, to] = topics;
  const value = BigInt(slice(data, 0, 32));
  const common = { txHash, value, internal: true, place: `log:${Number(logIndex)}`, survives: true } as const;
  if (value === 0n || first === undefined) return [];
  if (topic === MINT_TOPIC || topic === RECEIVER_TOPIC)
    return [coins({ ...common, from: zeroAddress, to: addressOf(first) })];
  if (topic !== COIN_TOPIC || from === undefined || to === undefined) return [];
  return [coins({ ...common, from: addressOf(from), to: addressOf(to) })];
}

export function wrapTransfers({ address, topics, data, transactionHash: txHash, logIndex }: NodeLog): Transfer[] {
  const [topic, owner] = topics;
  if (owner === undefined || size(data) !== 32) return [];
  const isDeposit = topic === WRAP_TOPICS[0];
  const [from, to] = isDeposit ? [zeroAddress, addressOf(owner)] : [addressOf(owner), zeroAddress];
  const place = `log:${Number(logIndex)}`;
  return [{ txHash, token: getAddress(address), place, kind: 'erc20', from, to, value: BigInt(data) }];
}

/** Coins that consensus pays out without a transaction: the block's hash stands for it. */
export function withdrawalTransfers({ hash, withdrawals = [] }: NodeBlock): Transfer[] {
  return withdrawals
    .filter(({ amount }) => BigInt(amount) > 0n)
    .map(({ address, amount, index }) =>
      coins({
        txHash: hash,
        from: zeroAddress,
        to: address,
        value: BigInt(amount) * GWEI,
        internal: true,
        place: `withdrawal:${Number(index)}`,
      }),
    );
}

/** Repeats every payment of coins as a Transfer log (EIP-7708). */
const COIN_LOGGER = '0xfffffffffffffffffffffffffffffffffffffffe';

export function tokenTransfers(log: NodeLog): Transfer[] {
  try {
    return decodeLog(log);
  } catch {
    return []; // A contract may write anything under a known topic.
  }
}

function decodeLog({ address, topics, data, transactionHash: txHash, logIndex }: NodeLog): Transfer[] {
  if (address.toLowerCase() === COIN_LOGGER) return [];
  const token = getAddress(address);
  const place = `log:${Number(logIndex)}`;
  const [topic, first, second, third] = topics;
  if (topic === TRANSFER_TOPIC && first === undefined) {
    const [from, to, tokenId] = decodeAbiParameters(parseAbiParameters('address, address, uint256'), data);
    return [{ txHash, token, place, kind: 'erc721', from, to, tokenId, unindexed: true }];
  }
  if (topic === TRANSFER_TOPIC && first !== undefined && second !== undefined) {
    const common = { txHash, token, place, from: addressOf(first), to: addressOf(second) };
    if (third !== undefined) return [{ ...common, kind: 'erc721', tokenId: BigInt(third) }];
    return size(data) === 32 ? [{ ...common, kind: 'erc20', value: BigInt(data) }] : [];
  }
  if (second === undefined || third === undefined) return [];
  const common = { txHash, token, place, kind: 'erc1155' as const, from: addressOf(second), to: addressOf(third) };
  if (topic === SINGLE_TOPIC) {
    const [tokenId, value] = decodeAbiParameters(parseAbiParameters('uint256, uint256'), data);
    return [{ ...common, tokenId, value }];
  }
  if (topic !== BATCH_TOPIC) return [];
  const [ids, values] = decodeAbiParameters(parseAbiParameters('uint256[], uint256[]'), data);
  if (ids.length !== values.length) return [];
  return ids.map((tokenId, index) => ({ ...common, place: `${place}:${index}`, tokenId, value: values[index]! }));
}

function addressOf(topic: Hex): Address {
  return getAddress(slice(topic, 12, 32));
}

/**
 * Returns a transfer with the right kind. A Transfer log without indexed fields is of an NFT older than its standard, such
 * as a CryptoKitty, or of an ERC-20; only an ERC-20 has decimals.
 */
export function withRightKind(transfer: Transfer, facts: { decimals: number | null } | null | undefined): Transfer {
  if (transfer.kind !== 'erc721' || !transfer.unindexed || (facts?.decimals ?? null) === null) return transfer;
  const { txHash, from, to, token, place, tokenId: value } = transfer;
  return { kind: 'erc20', txHash, token, from, to, place, value };
}

/** A deployment pays the new contract. A deposit of the OP Stack also creates coins for its sender. */
export function nativeTransfers({ hash: txHash, from, to, value, nonce, mint }: NodeTransaction): Transfer[] {
  const minted = BigInt(mint ?? 0);
  const paid = BigInt(value);
  const transfers: Transfer[] = [];
  if (minted > 0n) {
    const creation = { from: zeroAddress, to: from, value: minted, place: 'mint', internal: true } as const;
    transfers.push(coins({ txHash, ...creation, survives: true }));
  }
  if (paid > 0n) {
    const receiver = to ?? getContractAddress({ from, nonce: BigInt(nonce) });
    transfers.push(coins({ txHash, from, to: receiver, value: paid, internal: false, place: 'transaction' }));
  }
  return transfers;
}

export const internalTransfer = ({ path, ...move }: CoinMove): Transfer =>
  coins({ ...move, internal: true, place: `trace:${path}` });

function coins(move: Omit<Extract<Transfer, { kind: 'native' }>, 'kind'>): Transfer {
  return { kind: 'native', ...move, from: getAddress(move.from), to: getAddress(move.to) };
}
