import type { AddressText } from './address.ts';
import { endsOf, skeleton } from './guard.ts';
import { otherSides } from './match.ts';
import type { ObservedTransfer, TokenKnowledge } from './routing.ts';
import type { Watcher } from './subscription.ts';

/** Which of the knowledge about tokens and parties is needed to warn of some transfers. */

/** A party of a transfer, for a guild that watches another one. */
export interface Party {
  guildId: string;
  /** The watched address. */
  address: AddressText;
  /** The party's first and last four digits. */
  ends: string;
}

/** What to look up. */
export interface SoughtKnowledge {
  tokens: AddressText[];
  /** The skeletons of the tokens' symbols. */
  skeletons: string[];
  parties: Party[];
  /** The first party of each guild with the same ends: look-alikes do not depend on the watched address. */
  alike: Party[];
}

/** What to look up about some watched transfers, everything once. */
export function soughtKnowledge(
  observed: readonly (ObservedTransfer & { watchers: readonly Watcher[] })[],
): SoughtKnowledge {
  const tokens = new Set<AddressText>();
  const skeletons = new Set<string>();
  const parties = new Map<string, Party>();
  const alike = new Map<string, Party>();
  for (const { transfer, watchers } of observed) {
    const { token, tokenSymbol } = transfer;
    if (token) tokens.add(token);
    if (token && tokenSymbol) skeletons.add(skeleton(tokenSymbol));
    for (const { guildId, address } of watchers) {
      for (const party of otherSides({ address }, transfer)) {
        if (!party) continue;
        const found = { guildId, address, ends: endsOf(party) };
        parties.set(`${guildId} ${address} ${found.ends}`, found);
        if (!alike.has(`${guildId} ${found.ends}`)) alike.set(`${guildId} ${found.ends}`, found);
      }
    }
  }
  return {
    tokens: [...tokens],
    skeletons: [...skeletons],
    parties: [...parties.values()],
    alike: [...alike.values()],
  };
}

/** The range of addresses that begin like a party (`from` and `to` included), and how they end. */
export const rangeOf = ({ ends }: Party): { from: string; to: string; last: string } => ({
  from: `0x${ends.slice(0, 4)}`,
  to: `0x${ends.slice(0, 4)}g`,
  last: ends.slice(4),
});

/** Each address once: a guild's label comes before a subscription to the same address. */
export function namedOnce(rows: TokenKnowledge['named']): TokenKnowledge['named'] {
  const labelsFirst = rows.toSorted((one, other) => Number(one.label === null) - Number(other.label === null));
  const byAddress = Map.groupBy(labelsFirst, ({ guildId, address }) => `${guildId} ${address}`);
  return [...byAddress.values()].map(([first]) => first!);
}
