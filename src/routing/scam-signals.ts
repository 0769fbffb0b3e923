import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import { DEALING_MS, endsOf, skeleton } from '../domain/guard.ts';
import { asksFor, otherSides } from '../domain/match.ts';
import type { CatalogEntry, Dealing, TokenKnowledge } from '../domain/routing.ts';
import type { Watcher } from '../domain/subscription.ts';
import { isZero, type Transfer } from '../domain/transfer.ts';
import type { Warning } from '../domain/warning.ts';

/** What is known of the tokens and parties of one commit's deliveries; each that is decided adds to it. */
export interface ScamSignals {
  catalog: Map<AddressText, CatalogEntry>;
  /** Catalogued tokens by the skeleton of their symbol. */
  genuine: Map<string, Set<AddressText>>;
  nativeSymbol: string | null;
  /** By guild and ends. */
  named: Map<string, TokenKnowledge['named']>;
  /** When they were noted, by guild, watched address and ends. */
  dealings: Map<string, Map<AddressText, number>>;
}

/** Puts what the store knows, and what the explorer just said, in order. */
export function toScamSignals(
  { catalog, genuine, named, dealings }: TokenKnowledge,
  news: CatalogEntry[],
  nativeSymbol: string | null,
): ScamSignals {
  const signals: ScamSignals = {
    catalog: new Map([...catalog, ...news].map((entry) => [entry.token, entry])),
    genuine: new Map(),
    nativeSymbol,
    named: Map.groupBy(named, ({ guildId, address }) => guildId + endsOf(address)),
    dealings: new Map(),
  };
  for (const { skeleton: text, token } of genuine) addTo(signals.genuine, text, token);
  for (const { symbol, token, cataloged } of news) {
    if (cataloged && symbol !== null) addTo(signals.genuine, skeleton(symbol), token);
  }
  for (const dealing of dealings) note(signals.dealings, dealing, dealing.seenAt);
  return signals;
}

const dealingKey = ({ guildId, address, counterparty }: Dealing) => `${guildId} ${address} ${endsOf(counterparty)}`;

function note(dealings: ScamSignals['dealings'], dealing: Dealing, at: number): void {
  const key = dealingKey(dealing);
  const noted = dealings.get(key);
  if (noted) noted.set(dealing.counterparty, at);
  else dealings.set(key, new Map([[dealing.counterparty, at]]));
}

function addTo(sets: Map<string, Set<AddressText>>, key: string, address: AddressText): void {
  const set = sets.get(key);
  if (set) set.add(address);
  else sets.set(key, new Set([address]));
}

/** What is wrong with the token itself, whoever watches. */
export function tokenWarnings(
  { token, tokenSymbol }: Transfer,
  { catalog, genuine, nativeSymbol }: ScamSignals,
): Warning[] {
  if (token === null) return [];
  const cataloged = catalog.get(token)?.cataloged ?? null;
  if (cataloged === true) return [];
  const warnings: Warning[] = [];
  const text = tokenSymbol === null ? '' : skeleton(tokenSymbol);
  if (tokenSymbol !== null && text !== '') {
    if (nativeSymbol !== null && text === skeleton(nativeSymbol)) {
      warnings.push({ kind: 'imitation', symbol: tokenSymbol, genuine: null });
    } else {
      const others = [...(genuine.get(text) ?? [])].filter((other) => other !== token);
      if (others[0]) warnings.push({ kind: 'imitation', symbol: tokenSymbol, genuine: others[0] });
    }
  }
  if (cataloged === false) warnings.push({ kind: 'uncataloged' });
  return warnings;
}

/** The other sides that look like somebody whom the guild has named or the watched address lately dealt with. */
export function lookAlikes(subscription: Watcher, transfer: Transfer, signals: ScamSignals): Warning[] {
  const { guildId, address } = subscription;
  return otherSides(subscription, transfer).flatMap((party): Warning[] => {
    if (party === null || party === address || party === ZERO_ADDRESS) return [];
    const named = signals.named.get(guildId + endsOf(party)) ?? [];
    if (named.some((one) => one.address === party)) return [];
    if (named[0]) return [{ kind: 'look-alike', address: party, like: named[0].address, label: named[0].label }];
    const dealings = signals.dealings.get(dealingKey({ guildId, address, counterparty: party }));
    const like = dealings && [...dealings.keys()].find((other) => other !== party);
    return like ? [{ kind: 'look-alike', address: party, like, label: null }] : [];
  });
}

/** The warnings that a line bears for one subscription; who asks for a token by name need not hear that it is obscure. */
export function warningsFor(subscription: Watcher, transfer: Transfer, warnings: Warning[]): Warning[] {
  return warnings.filter(({ kind }) => kind !== 'uncataloged' || !asksFor(subscription, transfer));
}

/**
 * Whom the watched address dealt with, which the deliveries that follow know as well; null when it is not to be stored.
 * Nothing is learned from transfers that cost their maker nothing: of a zero amount, of a token that anybody may have
 * made, or with an address that looks like another one.
 */
export function learnDealing(
  { guildId, address }: Watcher,
  transfer: Transfer,
  warnings: Warning[],
  { dealings }: ScamSignals,
  at: number,
): (Dealing & { at: number }) | null {
  const sides = otherSides({ address }, transfer);
  const [counterparty] = sides;
  // A token that is watched deals with nobody.
  if (sides.length !== 1 || !counterparty || counterparty === address || counterparty === ZERO_ADDRESS) return null;
  if (warnings.length > 0 || isZero(transfer)) return null;
  const dealing = { guildId, address, counterparty, at };
  const noted = dealings.get(dealingKey(dealing))?.get(counterparty);
  if (noted !== undefined && at <= noted + DEALING_MS) return null;
  note(dealings, dealing, at);
  return dealing;
}
