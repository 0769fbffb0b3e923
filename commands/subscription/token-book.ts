import type { AutocompleteUse, Choice, Use } from '../../src/discord/command.ts';
import { type AddressText, NATIVE_SENTINEL } from '../../src/domain/address.ts';
import { inTime } from '../../src/domain/clock.ts';
import type { Asset, Choices } from '../../src/domain/subscription.ts';
import { asSymbol, plainText } from '../../src/domain/text.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { parseAddress, shortAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { nameIn } from '../../src/languages/index.ts';
import { seenBy } from '../shared/channels.ts';
import { countLookUp } from '../shared/fair-use.ts';
import { addressesNamed, faultText, type Names } from '../shared/names.ts';
import { eachNetwork, pickedNetwork } from '../shared/networks.ts';
import { fullAddress, listInCode, quoted, thirdPartyName } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { choicesWith, withSuggestion } from '../shared/suggestions.ts';
import { knownIn, tokenChoices, uniqueTokens, writeAsset } from '../shared/tokens.ts';

/** Only this many unknown symbols get a suggestion: a file may name thousands. */
const MAX_SUGGESTIONS = 10;

/** The tokens that a symbol can mean in one guild, and how they are shown. */
export interface TokenBook {
  /** Resolves a text to a token: an address, a symbol or `native`; throws a {@link UserError}. */
  find(text: string): Asset;
  /** Symbol and full address, as far as they are known. */
  nameOf(asset: Asset): string;
  /** A short form; the full one must be shown elsewhere. */
  shortNameOf(asset: Asset): string;
}

/**
 * Reads a guild's book of tokens, of one network or of all. `names`: the guild's names of addresses, which stand for
 * tokens without such a symbol.
 */
export async function tokenBook(
  guildId: string,
  context: Context,
  names: Names = new Map(),
  network: number | null = null,
): Promise<TokenBook> {
  const { settings, t } = context;
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
      const trusted = called.some(({ cataloged }) => cataloged) ? called.filter((one) => one.cataloged) : called;
      const [only, ...others] = trusted;
      if (only && others.length === 0) return only.token;
      const symbol = quoted(typed);
      const [named, ...alike] = only ? [] : addressesNamed(typed, names);
      if (named !== undefined && alike.length === 0) return named;
      if (!only) {
        // Only what is genuine: an imitation must not be suggested.
        const sure = ++unknown > MAX_SUGGESTIONS ? [] : known.filter((one) => one.cataloged || one.token === 'native');
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

/**
 * The tokens that match the typed text: those that moved at this guild's addresses, unless some of its channels are
 * hidden from the person, and with a text those of the catalog.
 */
export async function offerTokens(interaction: AutocompleteUse, context: Context): Promise<Choice[]> {
  const isAll = (await seenBy(interaction, context)).unseen.length === 0;
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

/** What is chosen in one subscription, on its network (null: on every one), or in several. */
type Chosen = { token?: AddressText | null; filters?: Partial<Choices['filters']>; network?: number | null };

/** Warnings of chosen tokens that no explorer knows, such as wallets; none while one of them does not respond. */
export async function noTokenLines(
  choices: Chosen | readonly Chosen[],
  interaction: Use,
  context: Context,
): Promise<string[]> {
  const { settings, t, language } = context;
  const chosen = [choices].flat().flatMap(({ token, filters, network = null }) => {
    const assets: (Asset | null)[] = [token ?? null, ...(filters?.tokens ?? [])];
    return assets.flatMap((one): [AddressText, number | null][] =>
      one === null || one === 'native' ? [] : [[one, network]],
    );
  });
  if (chosen.length === 0) return [];
  const known = new Set((await knownIn(interaction.guildId, context)).map((one) => one.token));
  const unknown = [...new Map(chosen)].filter(([address]) => !known.has(address)).slice(0, MAX_LOOKUPS);
  const isNowhere = async ([address, network]: [AddressText, number | null]): Promise<boolean> => {
    const explorers = eachNetwork(context, network).map(({ explorer }) => explorer);
    // What no explorer is asked about may be a token there.
    if (explorers.length === 0 || explorers.includes(null)) return false;
    try {
      const asked = explorers.map((one) => one!.token(address, () => countLookUp('explorer', interaction, context)));
      const responses = await Promise.all(asked.map((one) => inTime(one, WAIT_MS, context)));
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
