import { randomBytes } from 'node:crypto';
import type { Watched } from '../../test/crash/watched.ts';

/** What a sender needs to send about one transfer. */
export interface Transfer {
  hash: string;
  /** Where it must be posted; empty if nobody watches its parties. */
  channels: string[];
  /** Its bodies: the first one, and its twins. */
  bodies: string[];
}

/** How many of ten events are of addresses and tokens that were seen before. */
const KNOWN = 6;
const STRANGERS = Array.from({ length: 2_000 }, () => newAddress());
const TOKENS = Array.from({ length: 40 }, () => newAddress());
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
const BLOCK_EVERY = 60;

function newAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

const chance = (share: number): boolean => Math.random() < share;
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const known = (list: readonly string[]): string => (chance(KNOWN / 10) ? oneOf(list) : newAddress());

/** What moves: coins, amounts of tokens, single items. */
function asset(serial: number): Record<string, unknown> {
  const value = String(1_000_000 + serial);
  if (chance(0.3)) return { tokenType: 'NATIVE', tokenAddress: NATIVE, value, valueEth: '0.000001' };
  const token = { tokenAddress: chance(0.95) ? oneOf(TOKENS) : newAddress(), tokenName: 'GoodDollar' };
  if (chance(0.7)) return { ...token, tokenType: 'ERC-20', tokenSymbol: 'G$', tokenDecimals: '2', value };
  return { ...token, tokenType: 'ERC-721', tokenSymbol: 'KEY', tokenId: serial };
}

/** Generates the next transfer: most are of watched addresses; some have twins or come again in another block. */
export function nextTransfer(serial: number, watched: readonly Watched[]): Transfer {
  const to = chance(0.95) ? oneOf(watched) : null;
  const other = chance(0.2) ? oneOf(watched) : null;
  // Self-transfers are not posted by default.
  const from = other === to ? null : other;
  const hash = `0x${randomBytes(32).toString('hex')}`;
  const body = {
    to: to?.address ?? newAddress(),
    from: from?.address ?? known(STRANGERS),
    txHash: hash,
    blockNumber: 18_000_000 + Math.floor(serial / BLOCK_EVERY),
    blockHash: `0x${randomBytes(32).toString('hex')}`,
    ...asset(serial),
    gasPrice: '1500000000',
    gasUsed: '65000',
    gasFee: '97500000000000',
    gasLimit: '90000',
    txnValue: '0',
    projectId: '62caedf9e2719e72815d0703',
    addressType: 'Wallet',
    direction: 'incoming',
  };
  const bodies: object[] = [body];
  if (from) bodies.push({ ...body, direction: 'outgoing' });
  if (chance(0.2)) bodies.push({ ...body, addressType: 'Token' });
  if (chance(0.1)) bodies.push({ ...body, blockHash: `0x${randomBytes(32).toString('hex')}` });
  return {
    hash,
    channels: [...new Set([to, from].flatMap((one) => one?.channelId ?? []))],
    bodies: bodies.map((one) => JSON.stringify(one)),
  };
}
