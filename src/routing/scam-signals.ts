import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import { COUNTERPARTY_REFRESH_MS, outerDigitsOf, skeleton } from '../domain/guard.ts';
import { asksFor, otherSides } from '../domain/match.ts';
import type { CatalogEntry, Counterparty, LearnedCounterparty, TokenKnowledge } from '../domain/routing.ts';
import type { Watcher } from '../domain/subscription.ts';
import { isZero, type Transfer } from '../domain/transfer.ts';
import type { Warning } from '../domain/warning.ts';

/** What is known about the tokens and parties of one commit's deliveries; each decision adds to it. */
export interface ScamSignals {
  /** An explorer is configured, so a token that `catalog` lacks could not be checked. */
  asksExplorer: boolean;
  catalog: Map<AddressText, CatalogEntry>;
  /** Cataloged tokens, by the skeleton of their symbol. */
  genuine: Map<string, Set<AddressText>>;
  nativeSymbol: string | null;
  /** Addresses that a guild has labeled or watches, by guild and ends. */
  named: Map<string, TokenKnowledge['named']>;
  /** When each was noted, by guild, watched address and ends. */
  counterparties: Map<string, Map<AddressText, number>>;
}

/** Indexes what the store knows and what the explorer just returned (`news`). */
export function toScamSignals(
  { catalog, genuine, named, counterparties }: TokenKnowledge,
  news: CatalogEntry[],
  nativeSymbol: string | null,
  asksExplorer: boolean,
): ScamSignals {
  const signals: ScamSignals = {
    asksExplorer,
    catalog: new Map([...catalog, ...news].map((entry) => [entry.token, entry])),
    genuine: new Map(),
    nativeSymbol,
    named: Map.groupBy(named, ({ guildId, address }) => guildId + outerDigitsOf(address)),
    counterparties: new Map(),
  };
  for (const { skeleton: text, token } of genuine) addTo(signals.genuine, text, token);
  for (const { symbol, token, cataloged } of news) {
    if (cataloged && symbol !== null) addTo(signals.genuine, skeleton(symbol), token);
  }
  for (const counterparty of counterparties) addCounterparty(signals, counterparty, counterparty.seenAt);
  return signals;
}

const keyOf = ({ guildId, address, counterparty }: Counterparty) =>
  `${guildId} ${address} ${outerDigitsOf(counterparty)}`;

/** Adds a counterparty to the signals. */
export function addCounterparty({ counterparties }: ScamSignals, noted: Counterparty, at: number): void {
  const key = keyOf(noted);
  const alike = counterparties.get(key) ?? new Map<AddressText, number>();
  counterparties.set(key, alike.set(noted.counterparty, at));
}

function addTo(sets: Map<string, Set<AddressText>>, key: string, address: AddressText): void {
  const set = sets.get(key);
  if (set) set.add(address);
  else sets.set(key, new Set([address]));
}

/** Warnings about the token itself, the same for every subscription. */
export function tokenWarnings(
  { token, tokenSymbol }: Transfer,
  { asksExplorer, catalog, genuine, nativeSymbol }: ScamSignals,
): Warning[] {
  if (token === null) return [];
  const entry = catalog.get(token);
  const cataloged = entry?.cataloged ?? null;
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
  if (entry === undefined && asksExplorer) warnings.push({ kind: 'unchecked' });
  return warnings;
}

/** Parties that look like an address the guild has labeled or watches, or like a recent counterparty. */
export function lookAlikes(subscription: Watcher, transfer: Transfer, signals: ScamSignals): Warning[] {
  const { guildId, address } = subscription;
  return otherSides(subscription, transfer).flatMap((party): Warning[] => {
    if (party === null || party === address || party === ZERO_ADDRESS) return [];
    const named = signals.named.get(guildId + outerDigitsOf(party)) ?? [];
    if (named.some((one) => one.address === party)) return [];
    if (named[0]) return [{ kind: 'look-alike', address: party, like: named[0].address, label: named[0].label }];
    const alike = signals.counterparties.get(keyOf({ guildId, address, counterparty: party }));
    const like = alike && [...alike.keys()].find((other) => other !== party);
    return like ? [{ kind: 'look-alike', address: party, like, label: null }] : [];
  });
}

/** A subscription that names the token is not warned that the explorer does not know it, or could not be asked. */
export function warningsFor(subscription: Watcher, transfer: Transfer, warnings: Warning[]): Warning[] {
  const isOfCatalog = ({ kind }: Warning) => kind === 'uncataloged' || kind === 'unchecked';
  return warnings.filter((warning) => !isOfCatalog(warning) || !asksFor(subscription, transfer));
}

/**
 * The watched address's counterparty, if it should be stored; otherwise null. Transfers that cost the sender nothing
 * prove nothing: a zero amount, a token that anybody may have made, an address that looks like another one.
 */
export function counterpartyToLearn(
  { guildId, address }: Watcher,
  transfer: Transfer,
  warnings: Warning[],
  { counterparties }: ScamSignals,
  at: number,
): LearnedCounterparty | null {
  const sides = otherSides({ address }, transfer);
  const [counterparty] = sides;
  // A watched token has no counterparties.
  if (sides.length !== 1 || !counterparty || counterparty === address || counterparty === ZERO_ADDRESS) return null;
  if (warnings.length > 0 || isZero(transfer)) return null;
  const learned = { guildId, address, counterparty, at };
  const notedAt = counterparties.get(keyOf(learned))?.get(counterparty);
  return notedAt === undefined || at > notedAt + COUNTERPARTY_REFRESH_MS ? learned : null;
}
