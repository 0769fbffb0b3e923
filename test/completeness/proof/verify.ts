import type { Hex } from 'viem';
import type { Discord } from '../../../sandbox/discord/index.ts';
import type { Transfer } from '../../../services/chain/transfers.ts';
import type { AddressText } from '../../../src/domain/address.ts';
import type { BlockRange, StoredTransfer } from '../../../src/domain/completeness.ts';
import { isDifference } from '../../../src/domain/transfer.ts';
import { shownIn } from '../../discord/shown.ts';
import type { Mined, ProofChain } from './chain.ts';

const MARK = /The chain does not have|not on the chain/;

interface Round {
  /** By watched address. */
  channels: ReadonlyMap<AddressText, string>;
  /** Coins at first. */
  before: ReadonlyMap<AddressText, bigint>;
  first: number;
  last: number;
  rewards: readonly { to: Hex; amount: bigint }[];
  isSigned: boolean;
  isBlind: boolean;
  unchecked: readonly BlockRange[];
  stored: readonly StoredTransfer[];
}

/** The number in a transfer that no other has. */
const numberOf = (transfer: Transfer): bigint => ('tokenId' in transfer ? transfer.tokenId : transfer.value);
const keyOf = (
  { txHash, token, from, to }: { txHash: string; token?: string | null; from: unknown; to: unknown },
  number: unknown,
) => [txHash, token, from, to, number].join(' ').toLowerCase();

function tally<Key>(counted: Iterable<readonly [Key, number]>): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const [key, count] of counted) counts.set(key, (counts.get(key) ?? 0) + count);
  return counts;
}

/** How often a channel shows each number, and which with the mark of what is not on the chain. `ids`: of NFTs. */
function numbersIn(discord: Discord, channelId: string, ids: ReadonlySet<string>) {
  const marked = new Set<string>();
  const found = discord.messages(channelId).flatMap(({ message }) =>
    shownIn(message).flatMap(({ text }) => {
      const numbers = new Map<string, number>();
      for (const line of text.split(/\\n|\n|","/)) {
        const digits = line.replaceAll(/(?<=\d)[.,](?=\d)/g, '');
        // A hash may end like one.
        for (const [, number, times] of digits.matchAll(/(?<![\da-f])0*(8\d{15})\b(?:[^×\d]*×(\d+))?/g)) {
          numbers.set(number!, Math.max(numbers.get(number!) ?? 0, ids.has(number!) ? 1 : Number(times ?? 1)));
          if (MARK.test(text)) marked.add(number!);
        }
      }
      return [...numbers];
    }),
  );
  return { counts: tally(found), marked };
}

export async function problemsOf(chain: ProofChain, discord: Discord, round: Round): Promise<string[]> {
  const { channels, before, first, last, rewards, isSigned, isBlind, unchecked, stored } = round;
  const problems: string[] = [];
  const isTouched = ({ from, to }: Transfer, address: Hex) =>
    [from, to].some((party) => party.toLowerCase() === address);
  const truth = (await chain.transfers(first, last)).filter((one) =>
    [...channels.keys()].some((address) => isTouched(one, address)),
  );
  /** The movements that no node could prove. */
  const loose = truth.filter(
    ({ block, ...one }: Mined) =>
      one.kind === 'native' &&
      ((isBlind && one.internal) || unchecked.some(({ after, upTo }) => block > after && block <= upTo)),
  );

  /** Delivered for blocks that no node could compare. */
  const isUnproven = (number: string) =>
    stored.some(
      ({ transfer: { tokenId, value, blockNumber } }) =>
        (tokenId ?? value) === number &&
        unchecked.some(({ after, upTo }) => blockNumber! > after && blockNumber! <= upTo),
    );

  const known = stored.filter(({ transfer }) => !isDifference(transfer));
  const wanted = tally(truth.map((one) => [keyOf(one, numberOf(one)), 1] as const));
  const posted = tally(known.map(({ count, transfer: one }) => [keyOf(one, one.tokenId ?? one.value), count] as const));
  const free = new Set(loose.map((one) => keyOf(one, numberOf(one))));
  for (const key of new Set([...wanted.keys(), ...posted.keys()])) {
    const [want, have] = [wanted.get(key) ?? 0, posted.get(key) ?? 0];
    // Without its own name, what comes twice within seconds counts twice until it is compared.
    const isLoose = free.has(key) && (have < want || !isSigned);
    const isLeft = have > want && isUnproven(key.split(' ').at(-1)!);
    if (want !== have && !isLoose && !isLeft) problems.push(`stored ${have} of ${want}: ${key}`);
  }

  const ids = new Set(truth.flatMap((one) => ('tokenId' in one ? [String(one.tokenId)] : [])));
  const isFree = new Set(loose.map((one) => String(numberOf(one))));
  for (const [address, channelId] of channels) {
    const { counts, marked } = numbersIn(discord, channelId, ids);
    const owed = tally([
      ...truth.filter((one) => isTouched(one, address)).map((one) => [String(numberOf(one)), 1] as const),
      ...rewards.filter(({ to }) => to === address && !isBlind).map(({ amount }) => [String(amount), 1] as const),
    ]);
    for (const [number, count] of owed)
      if (counts.get(number) !== count && !isFree.has(number) && !isUnproven(number))
        problems.push(`shown ${counts.get(number)} of ${count}: ${number}`);
    for (const number of counts.keys())
      if (!owed.has(number) && !marked.has(number) && !isBlind && !isUnproven(number))
        problems.push(`not marked: ${number}`);

    const sum = (token: string | null) =>
      stored
        .filter(({ transfer: { kind, token: of } }) => (kind === 'native' || kind === 'erc20') && of === token)
        .reduce((total, { count, transfer: { from, to, value } }) => {
          const amount = BigInt(count) * BigInt(value!);
          return total + (to === address ? amount : 0n) - (from === address ? amount : 0n);
        }, 0n);
    const coins = (await chain.balance(address)) - before.get(address)! + (await chain.fees(address, first, last));
    if (sum(null) !== coins && !unchecked.some(({ upTo }) => upTo >= first))
      problems.push(`the coins of ${address} changed by ${coins}, not ${sum(null)}`);
    const dollars = await chain.gained(address);
    if (sum(chain.dollar) !== dollars)
      problems.push(`the dollars of ${address} changed by ${dollars}, not ${sum(chain.dollar)}`);
  }
  return problems;
}
