import type { AddressText } from './address.ts';
import { distinct } from './distinct.ts';
import { outerDigitsOf, skeleton } from './guard.ts';
import { otherSides } from './match.ts';
import type { TokenKnowledge } from './routing.ts';
import type { Watcher } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** What the store looks up so that the router can warn of imitated tokens and look-alike addresses. */

export interface GuildParty {
  guildId: string;
  outerDigits: string;
}

export interface Party extends GuildParty {
  address: AddressText;
}

export interface KnowledgeQuery {
  tokens: { network: number; token: AddressText }[];
  skeletons: { network: number; skeleton: string }[];
  /** Their look-alikes among the counterparties of the watched address. */
  parties: Party[];
  /** Parties and tokens, and their look-alikes, among the addresses that the guild has named or watches. */
  guildParties: GuildParty[];
}

export interface ObservedTransfer {
  network: number;
  transfer: Transfer;
  watchers: readonly Watcher[];
}

export function knowledgeQuery(observed: readonly ObservedTransfer[]): KnowledgeQuery {
  const query: KnowledgeQuery = { tokens: [], skeletons: [], parties: [], guildParties: [] };
  for (const { network, transfer, watchers } of observed) {
    const { token, tokenSymbol } = transfer;
    if (token) query.tokens.push({ network, token });
    if (token && tokenSymbol) query.skeletons.push({ network, skeleton: skeleton(tokenSymbol) });
    for (const { guildId, address } of watchers) {
      // The token, too: a contract that the guild has named counts as known if no explorer can tell.
      if (token) query.guildParties.push({ guildId, outerDigits: outerDigitsOf(token) });
      for (const party of otherSides({ address }, transfer)) {
        if (!party) continue;
        const outerDigits = outerDigitsOf(party);
        query.parties.push({ guildId, address, outerDigits });
        query.guildParties.push({ guildId, outerDigits });
      }
    }
  }
  return {
    tokens: distinct(query.tokens),
    skeletons: distinct(query.skeletons),
    parties: distinct(query.parties),
    guildParties: distinct(query.guildParties),
  };
}

/** A party's look-alikes lie between `from` and `to` and end with `last`. */
export const rangeOf = ({ outerDigits }: GuildParty): { from: string; to: string; last: string } => ({
  from: `0x${outerDigits.slice(0, 4)}`,
  to: `0x${outerDigits.slice(0, 4)}g`,
  last: outerDigits.slice(4),
});

/** A guild's label comes before a subscription to the same address. */
export function namedOnce(rows: TokenKnowledge['named']): TokenKnowledge['named'] {
  const labelsFirst = rows.toSorted((a, b) => Number(a.label === null) - Number(b.label === null));
  const byAddress = Map.groupBy(labelsFirst, ({ guildId, address }) => `${guildId} ${address}`);
  return [...byAddress.values()].map(([first]) => first!);
}
