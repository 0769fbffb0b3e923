import { isBelow } from './amount.ts';
import type { Perspective, Subscription } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** Whether a subscription is told of a transfer; `hidden` names the reason in a word that `/why` explains. */
export type Match =
  | { outcome: 'matched'; perspective: Perspective }
  | { outcome: 'hidden'; reason: 'paused' | 'muted' | 'direction' | 'kind' | 'token' | 'minimum' }
  | { outcome: 'unrelated' };

/** Decides about one subscription; `now` in milliseconds matters for muting only. */
export function matchTransfer(subscription: Subscription, transfer: Transfer, now: number): Match {
  const perspective = seenFrom(subscription, transfer);
  if (!perspective) return { outcome: 'unrelated' };
  const hidden = (reason: Extract<Match, { outcome: 'hidden' }>['reason']): Match => ({ outcome: 'hidden', reason });
  if (subscription.paused) return hidden('paused');
  if (subscription.mutedUntil !== null && subscription.mutedUntil > now) return hidden('muted');
  const directed = perspective === 'incoming' || perspective === 'outgoing';
  if (subscription.direction !== 'any' && directed && perspective !== subscription.direction)
    return hidden('direction');
  if (!isOfKind(subscription, transfer)) return hidden('kind');
  if (subscription.token !== null && subscription.token !== transfer.token) return hidden('token');
  // An amount that cannot be compared (no decimals, an NFT) is told rather than lost.
  const { minimum } = subscription;
  const comparable = transfer.value !== null && transfer.decimals !== null && transfer.tokenId === null;
  if (minimum !== null && comparable && isBelow(transfer.value!, transfer.decimals!, minimum)) return hidden('minimum');
  return { outcome: 'matched', perspective };
}

function seenFrom({ address }: Subscription, { from, to, token }: Transfer): Perspective | null {
  if (address === from) return address === to ? 'self' : 'outgoing';
  if (address === to) return 'incoming';
  return address === token ? 'token' : null;
}

function isOfKind({ kind }: Subscription, transfer: Transfer): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'native':
    case 'erc20':
      return transfer.kind === kind;
    case 'nft':
      return transfer.kind === 'erc721' || transfer.kind === 'erc1155';
  }
}
