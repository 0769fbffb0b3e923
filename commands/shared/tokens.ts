import type { AutocompleteUse, Choice } from '../../src/discord/command.ts';
import type { RenderContext } from '../../src/discord/render/wording.ts';
import {
  type AddressText,
  type Asset,
  checksumAddress,
  NATIVE_SENTINEL,
  parseAddress,
  shortAddress,
} from '../../src/domain/address.ts';
import { inTime } from '../../src/domain/clock.ts';
import type { Choices } from '../../src/domain/subscription.ts';
import { asSymbol, isolate, looksLikeLink, plainText, skeleton } from '../../src/domain/text.ts';
import { catalogedAmong, type KnownToken } from '../../src/domain/token.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { nameIn } from '../../src/languages/index.ts';
import { seenBy } from './channels.ts';
import { countLookUp } from './fair-use.ts';
import { addressesNamed, faultText, type Names } from './names.ts';
import { eachNetwork, hasSeveral, onNetwork, pickedNetwork } from './networks.ts';
import { fullAddress, listInCode, quoted, thirdPartyName } from './reply.ts';
import type { CommandServices, Context } from './services.ts';
import { choicesWith, withSuggestion } from './suggestions.ts';

/** On one network or on each. The native coin has the operator's name for it, if there is one. */
export async function knownIn(
  guildId: string | null,
  { tokens, settings }: Pick<CommandServices, 'tokens' | 'settings'>,
  only: number | null = null,
): Promise<KnownToken[]> {
  // No guild has an empty ID: that leaves the catalog.
  const found = await tokens.known(guildId ?? '', only ?? undefined);
  const coins = hasSeveral(settings) ? settings.networks : [{ ...settings, id: settings.networks[0]!.id }];
  const natives = coins.flatMap(({ id, nativeSymbol: symbol }): KnownToken[] => {
    if (symbol === undefined || (only !== null && only !== id)) return [];
    return [{ token: 'native', network: id, symbol, cataloged: true, seen: false }];
  });
  const nativeOf = (token: KnownToken) =>
    token.token === 'native' ? natives.find(({ network: on }) => on === token.network) : undefined;
  const seen = found.map((token) => ({ ...token, ...nativeOf(token), seen: token.seen }));
  const rest = natives.filter(
    (coin) => !found.some((token) => token.token === 'native' && token.network === coin.network),
  );
  return [...seen, ...rest];
}

/** How a reply writes what moved on a network: as alerts do, trusting the names of these tokens that are cataloged there. */
export function renderingOn(context: Context, network: number | null, known: readonly KnownToken[]): RenderContext {
  const { settings, t, language } = onNetwork(context, network);
  return { ...settings, networks: undefined, t, language, cataloged: catalogedAmong(known, network) };
}

/** Tokens that only copy the symbol of a cataloged one. */
function imitationsAmong(known: readonly KnownToken[]): ReadonlySet<Asset> {
  const called = ({ network, symbol }: KnownToken): string =>
    symbol === null || skeleton(symbol) === '' ? '' : `${network} ${skeleton(symbol)}`;
  const genuine = new Set(known.filter(({ cataloged }) => cataloged).map(called));
  genuine.delete('');
  const others = known.filter(({ token, cataloged }) => !cataloged && token !== 'native');
  return new Set(others.filter((token) => genuine.has(called(token))).map(({ token }) => token));
}

/** Genuine ones are first; imitations are last and marked. */
export function tokenChoices(
  known: readonly KnownToken[],
  t: Translate,
  labels: ReadonlyMap<AddressText, string> = new Map(),
): { choice: Choice; isGenuine: boolean }[] {
  const imitations = imitationsAmong(known);
  const rank = ({ token, cataloged }: KnownToken) =>
    cataloged || token === 'native' ? 0 : imitations.has(token) ? 2 : 1;
  return [...uniqueTokens(known).values()]
    .sort((a, b) => rank(a) - rank(b))
    .map((uniqueToken) => {
      const { token, symbol } = uniqueToken;
      const label = token === 'native' ? undefined : labels.get(token);
      const named = symbol === null || looksLikeLink(symbol) ? null : plainText(symbol);
      const parts = [
        label && isolate(label),
        named && isolate(named),
        token === 'native' ? t('subscription.token.native') : shortAddress(token),
      ];
      const title = parts.filter(Boolean).join(' · ');
      const name = rank(uniqueToken) === 2 ? `⚠️ ${t('alert.imitation', { title })}` : title;
      return { choice: { name, value: writeAsset(token) }, isGenuine: rank(uniqueToken) === 0 };
    });
}

/** Each asset once: one address may be the same token on several networks. Where one is genuine, that one counts. */
function uniqueTokens(known: readonly KnownToken[]): Map<Asset, KnownToken> {
  const unique = new Map<Asset, KnownToken>();
  for (const token of known) {
    const other = unique.get(token.token);
    if (!other || (token.cataloged && !other.cataloged)) unique.set(token.token, token);
  }
  return unique;
}

export function writeAsset(asset: Asset): string {
  return asset === 'native' ? asset : checksumAddress(asset);
}

/** Only this many unknown symbols get a suggestion: a file may name thousands. */
const MAX_SUGGESTIONS = 10;

export interface TokenBook {
  /** Resolves a text to a token: an address, a symbol or `native`; throws a {@link UserError}. */
  find(text: string): Asset;
  nameOf(asset: Asset): string;
  /** A short form; the full one must be shown elsewhere. */
  shortNameOf(asset: Asset): string;
}

/** `names` of addresses count where no token has the typed symbol. */
export async function tokenBook(
  context: Context,
  names: Names = new Map(),
  network: number | null = null,
): Promise<TokenBook> {
  const { guildId, settings, t } = context;
  const unique = uniqueTokens(await knownIn(guildId, context, network));
  const known = [...unique.values()];
  let unknown = 0;
  let bySymbol: Map<string | undefined, KnownToken[]> | undefined;
  const symbolOf = (asset: Asset, fallback: string): string => {
    const { symbol, cataloged } = unique.get(asset) ?? { symbol: null, cataloged: false };
    const trusted = symbol !== null && (cataloged || asset === 'native');
    return trusted ? asSymbol(symbol, fallback, t('alert.hiddenName')) : thirdPartyName(t, symbol, fallback);
  };

  return {
    find(text) {
      const typed = text.trim();
      if (typed.toLowerCase() === 'native') return 'native';
      const parsed = parseAddress(typed);
      if (parsed.ok) return parsed.address === NATIVE_SENTINEL ? 'native' : parsed.address;
      if (parsed.fault !== 'form' || /^(0x|https?:\/\/)/i.test(typed)) {
        throw new UserError(t('subscription.filter.token', { reason: faultText(parsed.fault, typed, t) }));
      }
      // A file may name thousands of symbols. Indexing them once keeps the event loop free.
      bySymbol ??= Map.groupBy(known, ({ symbol }) => plainText(symbol)?.toLowerCase());
      const wanted = plainText(typed)?.toLowerCase();
      const called = bySymbol.get(wanted ?? '') ?? bySymbol.get(wanted?.replace(/^\$/, '') ?? '') ?? [];
      // Anybody can name a token USDC; the explorer's catalog lists the real one.
      const trusted = called.some(({ cataloged }) => cataloged) ? called.filter((token) => token.cataloged) : called;
      const [only, ...others] = trusted;
      if (only && others.length === 0) return only.token;
      const symbol = quoted(typed);
      const [named, ...alike] = only ? [] : addressesNamed(typed, names);
      if (named !== undefined && alike.length === 0) return named;
      if (!only) {
        // Only what is genuine: an imitation must not be suggested.
        const sure =
          ++unknown > MAX_SUGGESTIONS ? [] : known.filter((token) => token.cataloged || token.token === 'native');
        const genuine = sure.flatMap(({ symbol }) => plainText(symbol) ?? []);
        throw new UserError(withSuggestion(t('subscription.token.unknown', { symbol }), typed, genuine, t));
      }
      const choices = trusted.slice(0, 5).map(({ token }) => writeAsset(token));
      throw new UserError(t('subscription.token.several', { symbol, choices: listInCode(choices, t) }));
    },
    nameOf(asset) {
      const symbol = symbolOf(asset, '');
      if (asset === 'native') return symbol || t('subscription.token.native');
      return `${symbol} ${fullAddress(asset, settings, 'token')}`.trim();
    },
    shortNameOf(asset) {
      return symbolOf(asset, asset === 'native' ? t('subscription.token.native') : `\`${shortAddress(asset)}\``);
    },
  };
}

/** Offers tokens that moved here, but only to people who see every channel; for a typed text also the catalog. */
export async function offerTokens(interaction: AutocompleteUse, context: Context): Promise<Choice[]> {
  const isAll = (await seenBy(context)).unseen.length === 0;
  // A subscription selects the native coin by its kind; mute treats it as a token.
  const native = interaction.options.getSubcommand(false) === 'mute';
  const typed = interaction.options.getFocused();
  const network = pickedNetwork(interaction, context);
  const known = await knownIn(isAll ? interaction.guildId : null, context, network);
  const offered = known.filter(({ token, seen }) => (seen || typed !== '') && (native || token !== 'native'));
  return choicesWith(
    typed,
    tokenChoices(offered, context.t).map(({ choice }) => choice),
  );
}

const MAX_LOOKUPS = 3;
const WAIT_MS = 2_000;

type Chosen = { token?: AddressText | null; filters?: Partial<Choices['filters']>; network?: number | null };

/** Warnings of chosen tokens that no explorer knows, such as wallets; none while one of them does not respond. */
export async function noTokenLines(choices: Chosen | readonly Chosen[], context: Context): Promise<string[]> {
  const { interaction, settings, t, language } = context;
  const chosen = [choices].flat().flatMap(({ token, filters, network = null }) => {
    const assets: (Asset | null)[] = [token ?? null, ...(filters?.tokens ?? [])];
    return assets.flatMap((asset): [AddressText, number | null][] =>
      asset === null || asset === 'native' ? [] : [[asset, network]],
    );
  });
  if (chosen.length === 0) return [];
  const known = new Set((await knownIn(interaction.guildId, context)).map((token) => token.token));
  const unknown = [...new Map(chosen)].filter(([address]) => !known.has(address)).slice(0, MAX_LOOKUPS);
  const isNowhere = async ([address, network]: [AddressText, number | null]): Promise<boolean> => {
    const explorers = eachNetwork(context, network).map(({ explorer }) => explorer);
    // On a network without an explorer, the address may be a token.
    if (explorers.length === 0 || explorers.includes(null)) return false;
    try {
      const asked = explorers.map((explorer) => explorer!.token(address, () => countLookUp('explorer', context)));
      const responses = await Promise.all(asked.map((response) => inTime(response, WAIT_MS, context)));
      return responses.every((response) => response?.status === 'not-found');
    } catch {
      // Too many lookups at the moment: the choice is saved either way.
      return false;
    }
  };
  const nowhere = await Promise.all(unknown.map(isNowhere));
  const counterparties = nameIn(language, 'subscription edit counterparties');
  return unknown
    .filter((_, n) => nowhere[n])
    .map(([address]) => t('subscription.filter.noToken', { address: fullAddress(address, settings), counterparties }));
}
