import type { AddressText } from './address.ts';
import { outerDigitsOf, skeleton } from './guard.ts';
import { otherSides } from './match.ts';
import type { ObservedTransfer, TokenKnowledge } from './routing.ts';
import type { Watcher } from './subscription.ts';

/** What the store looks up so that the router can warn of imitated tokens and look-alike addresses. */

/** A party of a transfer, for a guild that watches another one. */
export interface GuildParty {
  guildId: string;
  /** The party's first and last four digits. */
  outerDigits: string;
}

/** A party of a transfer, for a guild that watches `address`. */
export interface Party extends GuildParty {
  address: AddressText;
}

/** What is looked up, everything once. */
export interface KnowledgeQuery {
  tokens: AddressText[];
  /** The skeletons of the tokens' symbols. */
  skeletons: string[];
  /** For their look-alikes among the counterparties of the watched address. */
  parties: Party[];
  /** For their look-alikes among the addresses that the guild has named or watches, whichever address is watched. */
  guildParties: GuildParty[];
}

/** Lists what has to be looked up about some watched transfers. */
export function knowledgeQuery(
  observed: readonly (ObservedTransfer & { watchers: readonly Watcher[] })[],
): KnowledgeQuery {
  const tokens = new Set<AddressText>();
  const skeletons = new Set<string>();
  const parties = new Map<string, Party>();
  const guildParties = new Map<string, GuildParty>();
  for (const { transfer, watchers } of observed) {
    const { token, tokenSymbol } = transfer;
    if (token) tokens.add(token);
    if (token && tokenSymbol) skeletons.add(skeleton(tokenSymbol));
    for (const { guildId, address } of watchers) {
      for (const party of otherSides({ address }, transfer)) {
        if (!party) continue;
        const outerDigits = outerDigitsOf(party);
        parties.set(`${guildId} ${address} ${outerDigits}`, { guildId, address, outerDigits });
        guildParties.set(`${guildId} ${outerDigits}`, { guildId, outerDigits });
      }
    }
  }
  return {
    tokens: [...tokens],
    skeletons: [...skeletons],
    parties: [...parties.values()],
    guildParties: [...guildParties.values()],
  };
}

/** Between which texts the addresses are that begin like a party, and what they end with if they look like it. */
export const rangeOf = ({ outerDigits }: GuildParty): { from: string; to: string; last: string } => ({
  from: `0x${outerDigits.slice(0, 4)}`,
  to: `0x${outerDigits.slice(0, 4)}g`,
  last: outerDigits.slice(4),
});

/** Each address once: a guild's label comes before a subscription to the same address. */
export function namedOnce(rows: TokenKnowledge['named']): TokenKnowledge['named'] {
  const labelsFirst = rows.toSorted((one, other) => Number(one.label === null) - Number(other.label === null));
  const byAddress = Map.groupBy(labelsFirst, ({ guildId, address }) => `${guildId} ${address}`);
  return [...byAddress.values()].map(([first]) => first!);
}
