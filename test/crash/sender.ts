import { LOST_RESPONSE_MS, startDeliveries } from './deliveries.ts';
import type { Watched } from './watched.ts';

/** Waits between the tries of one delivery: the real schedule's shape, in milliseconds instead of minutes. */
const RETRIES = [100, 200, 300, 500];

export interface Sent {
  /** How it is shown: its amount, or its token's ID. Nothing else looks like it. */
  text: string;
  channelIds: string[];
  acknowledged: boolean;
  /** Milliseconds since any moment: when it was first posted, and when its first body was acknowledged. */
  begunAt: number;
  acknowledgedAt: number;
}

/** How many transfers go to the same few channels before the next few have their turn. */
const TURN = 150;
const AT_ONCE = 6;
/** How many may wait: few enough that no channel's backlog becomes a digest. */
export const ENOUGH = 50;

const STRANGER = `0x${'d'.repeat(40)}`;
const TOKEN = `0x${'7'.repeat(40)}`;
const ITEMS = `0x${'8'.repeat(40)}`;
/** Amounts and token IDs begin here, so that no other number looks like one. */
const AMOUNTS = 8_000_000_000_000_000;
const TOKEN_IDS = 9_000_000_000_000_000n;

/**
 * Posts transfers at a rate, and each body again until it gets a 200: single bodies, twins, bodies of another block, and
 * repeats of acknowledged ones. `waiting`: how many transfers the channels do not show yet.
 */
export function startSender(
  url: string | (() => string),
  watched: Watched[],
  waiting: () => number,
  { everyMs = 20, laterMs = RETRIES } = {},
) {
  const repeats = { share: 0.1, afterMs: LOST_RESPONSE_MS };
  const { deliver, later, unanswered, close } = startDeliveries({ url, retriesMs: RETRIES, laterMs, repeats });
  const sent = new Map<string, Sent>();
  let serial = 0;
  let acknowledged = 0;

  const post = (event: Sent, body: object) =>
    deliver(JSON.stringify(body), () => {
      if (!event.acknowledged) event.acknowledgedAt = performance.now();
      event.acknowledged = true;
      acknowledged++;
    });

  function transfer(): void {
    const { transfer: event, body, isBetweenWatched } = createTransfer(++serial, watched);
    sent.set(event.text, event);
    post(event, { ...body, direction: 'incoming' });
    if (isBetweenWatched) post(event, { ...body, direction: 'outgoing' });
    if (Math.random() < 0.3) post(event, { ...body, direction: 'incoming', addressType: 'Token' });
    if (Math.random() < 0.2) {
      const moved = { ...body, direction: 'incoming', blockHash: `0x${'c'.repeat(64)}`, blockNumber: serial + 1 };
      later(Math.random() * 800, () => post(event, moved));
    }
    if (Math.random() < 0.2) {
      // Some gather with the first transfer, the others join its message.
      later(Math.random() * 1_600, () => {
        const nft = createNft(body, event.channelIds[0]!);
        sent.set(nft.transfer.text, nft.transfer);
        post(nft.transfer, nft.body);
      });
    }
  }

  const pulse = setInterval(() => {
    if (waiting() < ENOUGH) transfer();
  }, everyMs);

  return {
    sent,
    acknowledged: () => acknowledged,
    unanswered,
    /** Sends no new transfers; what was begun is still repeated until it gets a 200. */
    calm: () => clearInterval(pulse),
    async close(): Promise<void> {
      clearInterval(pulse);
      await close();
    },
  };
}

type Body = Record<string, unknown> & { txHash: string };

/** The nth transfer to one or between two watched addresses, with its event's body, which lacks a direction. */
function createTransfer(
  n: number,
  watched: readonly Watched[],
): { transfer: Sent; body: Body; isBetweenWatched: boolean } {
  const first = Math.floor((n - 1) / TURN) * AT_ONCE;
  const pick = () => watched[(first + Math.floor(Math.random() * AT_ONCE)) % watched.length]!;
  const to = pick();
  const other = Math.random() < 0.3 ? pick() : null;
  // Self-transfers are not posted by default.
  const from = other === to ? null : other;
  const value = AMOUNTS + n;
  const channelIds = [...new Set([to.channelId, ...(from ? [from.channelId] : [])])];
  const body = {
    from: from?.address ?? STRANGER,
    to: to.address,
    txHash: `0x${n.toString(16).padStart(64, '0')}`,
    blockNumber: n,
    blockHash: `0x${'b'.repeat(64)}`,
    tokenType: 'ERC-20',
    tokenAddress: TOKEN,
    tokenSymbol: 'USDC',
    tokenDecimals: '0',
    value: String(value),
    addressType: 'Wallet',
    projectId: 'p',
  };
  return { transfer: newSent(value.toLocaleString('en-US'), channelIds), body, isBetweenWatched: from !== null };
}

/** An NFT that moved in the transaction of a body; its alert joins the transaction's message. */
function createNft(body: Body, channelId: string): { transfer: Sent; body: Body } {
  const tokenId = String(TOKEN_IDS + BigInt(body.txHash));
  const token = { tokenAddress: ITEMS, tokenType: 'ERC-721', tokenSymbol: 'KEY', tokenDecimals: null, value: '1' };
  return {
    transfer: newSent(tokenId, [channelId]),
    body: { ...body, ...token, from: STRANGER, tokenId, direction: 'incoming' },
  };
}

const newSent = (text: string, channelIds: string[]): Sent => ({
  text,
  channelIds,
  acknowledged: false,
  begunAt: performance.now(),
  acknowledgedAt: Number.POSITIVE_INFINITY,
});
