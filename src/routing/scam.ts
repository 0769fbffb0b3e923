import { type AddressText, outerDigitsOf, ZERO_ADDRESS } from '../domain/address.ts';
import type { Warning } from '../domain/alert.ts';
import { HOUR } from '../domain/clock.ts';
import { type CatalogEntry, COUNTERPARTY_REFRESH_MS, type Counterparty, type TokenKnowledge } from '../domain/scam.ts';
import type { Watcher } from '../domain/subscription.ts';
import { skeleton } from '../domain/text.ts';
import { isZero, otherSides, type Transfer } from '../domain/transfer.ts';

export type ScamSignals = ReturnType<typeof toScamSignals>;

export function toScamSignals(knowledge: TokenKnowledge) {
  const { catalog, genuine, nativeSymbols, named, counterparties } = knowledge;
  const signals = {
    /** The networks with an explorer: a token there that `catalog` lacks could not be checked. */
    explorers: new Set<number>(),
    /** Tokens that were not looked up because there were too many, by network and token. */
    crowded: new Set<string>(),
    /** By network and token. */
    catalog: new Map(catalog.map((entry) => [`${entry.network} ${entry.token}`, entry] as const)),
    /** Cataloged tokens, by network and the skeleton of their symbol. */
    genuine: new Map<string, Set<AddressText>>(),
    /** By network. */
    nativeSymbols: new Map(nativeSymbols),
    /** Addresses that a guild has labeled or watches, by guild and ends. */
    named: Map.groupBy(named, ({ guildId, address }) => guildId + outerDigitsOf(address)),
    /** By guild, watched address and ends. */
    counterparties: new Map<string, Map<AddressText, Counterparty>>(),
  };
  for (const { network, skeleton: text, token } of genuine) addGenuine(signals, `${network} ${text}`, token);
  for (const counterparty of counterparties) addCounterparty(signals, counterparty);
  return signals;
}

export function addToCatalog(signals: ScamSignals, entry: CatalogEntry): void {
  const { network, token, symbol, cataloged } = entry;
  signals.catalog.set(`${network} ${token}`, entry);
  if (cataloged && symbol !== null) addGenuine(signals, `${network} ${skeleton(symbol)}`, token);
}

export function addCounterparty({ counterparties }: ScamSignals, noted: Counterparty): void {
  const { guildId, address, counterparty, isPaid } = noted;
  const key = `${guildId} ${address} ${outerDigitsOf(counterparty)}`;
  const alike = counterparties.get(key) ?? new Map<AddressText, Counterparty>();
  const wasPaid = alike.get(counterparty)?.isPaid ?? false;
  counterparties.set(key, alike.set(counterparty, { ...noted, isPaid: isPaid || wasPaid }));
}

function addGenuine({ genuine }: ScamSignals, key: string, token: AddressText): void {
  genuine.set(key, (genuine.get(key) ?? new Set()).add(token));
}

/** The cataloged tokens whose symbols look like this one; null: the coin's does. */
export function tokensLike(network: number, symbol: string | null, signals: ScamSignals): (AddressText | null)[] {
  const text = symbol === null ? '' : skeleton(symbol);
  if (text === '') return [];
  const native = signals.nativeSymbols.get(network);
  if (native !== undefined && text === skeleton(native)) return [null];
  return [...(signals.genuine.get(`${network} ${text}`) ?? [])];
}

/** Within this time a channel gets one card for all imitations of a token or party. */
const REPEAT_MS = HOUR;
/** The oldest are forgotten first, so that the next one is a card again. */
const MAX_REMEMBERED = 20_000;

export type Marker = ReturnType<typeof createRepeatMarker>;

/** Returns a function that marks a warning if its channel was warned of such a copy before. */
export function createRepeatMarker() {
  /** Ordered by time. `by`: the delivery and the copy; a delivery that is routed again does not repeat itself. */
  const warned = new Map<string, { at: number; by: string }>();

  return (channelId: string, network: number, warning: Warning, inboxId: number, now: number): Warning => {
    if (warning.kind !== 'look-alike' && warning.kind !== 'imitation') return warning;
    // By what is imitated: a stranger makes copies of it for nothing, on a cheap network more than on another.
    const what = warning.kind === 'look-alike' ? warning.like : `${warning.genuine} ${skeleton(warning.symbol)}`;
    const key = `${channelId} ${network} ${what}`;
    const by = `${inboxId} ${warning.kind === 'look-alike' ? warning.address : ''}`;
    const before = warned.get(key);
    if (before && before.by !== by && now - before.at < REPEAT_MS) return { ...warning, isRepeat: true };
    warned.delete(key);
    warned.set(key, { at: now, by });
    if (warned.size > MAX_REMEMBERED) warned.delete(warned.keys().next().value!);
    return warning;
  };
}

export function tokenWarnings(network: number, { token, tokenSymbol }: Transfer, signals: ScamSignals): Warning[] {
  if (token === null) return [];
  const entry = signals.catalog.get(`${network} ${token}`);
  if (entry?.cataloged === true) return [];
  const isCrowded = signals.crowded.has(`${network} ${token}`);
  const [genuine] = tokensLike(network, tokenSymbol, signals).filter((other) => other !== token);
  return [
    ...(genuine === undefined ? [] : [{ kind: 'imitation' as const, symbol: tokenSymbol!, genuine }]),
    ...(entry?.cataloged === false ? [{ kind: 'uncataloged' as const }] : []),
    ...(entry === undefined && signals.explorers.has(network)
      ? [{ kind: 'unchecked' as const, ...(isCrowded && { isCrowded }) }]
      : []),
  ];
}

/**
 * Compares the other parties of a transfer with those that the watched address knows. `alike` warns of parties that
 * look like known ones; `learned` is a party to know from now on.
 */
export function compareParties(
  { guildId, address }: Watcher,
  transfer: Transfer,
  { ofToken, isKnownToken, at }: { ofToken: Warning[]; isKnownToken: boolean; at: number },
  signals: ScamSignals,
): { alike: Warning[]; learned: Counterparty | null } {
  const isPaying = address === transfer.from;
  const sides = otherSides({ address }, transfer);
  const alike: Warning[] = [];
  let learned: Counterparty | null = null;
  for (const party of sides) {
    if (party === null || party === address || party === ZERO_ADDRESS) continue;
    const digits = outerDigitsOf(party);
    const named = signals.named.get(guildId + digits) ?? [];
    const met = signals.counterparties.get(`${guildId} ${address} ${digits}`);
    const known = met?.get(party);
    if (named[0]) {
      const isNamed = named.some((other) => other.address === party);
      if (!isNamed) alike.push({ kind: 'look-alike', address: party, like: named[0].address, label: named[0].label });
    } else {
      for (const [like, { isPaid }] of met ?? []) {
        // A party that the watched address pays need only differ from those it paid: a stranger may have sent something
        // before from an address that looks like it.
        if (like === party || (isPaying && !isPaid)) continue;
        // A party that was paid is known, unless another that was paid looks like it.
        if (!isPaid && known?.isPaid) continue;
        alike.push({ kind: 'look-alike', address: party, like, label: null });
        break;
      }
    }
    // A watched token has no counterparties. And transfers that cost the sender nothing prove nothing: a zero amount, a
    // token that anybody may have made, an address that looks like another one.
    if (sides.length > 1 || alike.length > 0 || ofToken.length > 0 || isZero(transfer)) continue;
    // Nor does an unknown token prove that the address paid.
    const isPaid = isKnownToken && isPaying;
    if (!known || at > known.seenAt + COUNTERPARTY_REFRESH_MS || (isPaid && !known.isPaid))
      learned = { guildId, address, counterparty: party, seenAt: at, isPaid };
  }
  return { alike, learned };
}
