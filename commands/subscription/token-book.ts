import type { AutocompleteUse, Choice } from '../../src/discord/command.ts';
import { NATIVE_SENTINEL } from '../../src/domain/address.ts';
import type { Asset } from '../../src/domain/subscription.ts';
import { asSymbol, plainText } from '../../src/domain/text.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { choicesWith } from '../shared/choices.ts';
import { fullAddress, listInCode, quoted, shortAddress, thirdPartyName } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { seenBy } from '../shared/subscriptions.ts';
import { withSuggestion } from '../shared/suggestions.ts';
import { imitationsAmong, knownIn, tokenChoice, writeAsset } from '../shared/tokens.ts';

type Needs = ContextWith<'guildChannels' | 'subscriptions' | 'tokens' | 'settings'>;

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

/** Reads a guild's book of tokens. */
export async function tokenBook(guildId: string, context: ContextWith<'tokens' | 'settings'>): Promise<TokenBook> {
  const { settings, t } = context;
  const known = await knownIn(guildId, context);
  let unknown = 0;
  let bySymbol: Map<string | undefined, KnownToken[]> | undefined;
  const byAsset = new Map(known.map((one) => [one.token, one]));
  const symbolOf = (asset: Asset, fallback: string): string => {
    const { symbol, cataloged } = byAsset.get(asset) ?? { symbol: null, cataloged: false };
    const trusted = symbol !== null && (cataloged || asset === 'native');
    return trusted ? asSymbol(symbol, fallback, t('alert.hiddenName')) : thirdPartyName(t, symbol, fallback);
  };

  return {
    find(text) {
      const typed = text.trim();
      if (typed.toLowerCase() === 'native') return 'native';
      if (/^(0x|https?:\/\/)/i.test(typed)) {
        const parsed = parseAddress(typed);
        if (!parsed.ok) throw new UserError(t('subscription.filter.token', { reason: t(`address.${parsed.fault}`) }));
        return parsed.address === NATIVE_SENTINEL ? 'native' : parsed.address;
      }
      // A file may name thousands of symbols. Indexing them once keeps the event loop free.
      bySymbol ??= Map.groupBy(known, ({ symbol }) => plainText(symbol)?.toLowerCase());
      const wanted = plainText(typed)?.toLowerCase();
      const called = wanted === undefined ? [] : (bySymbol.get(wanted) ?? []);
      // Anybody can name a token USDC; the explorer's catalog lists the real one.
      const trusted = called.some(({ cataloged }) => cataloged) ? called.filter((one) => one.cataloged) : called;
      const [only, ...others] = trusted;
      if (only && others.length === 0) return only.token;
      const symbol = quoted(typed);
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
 * The tokens that moved at this guild's addresses and match the typed text; none if some of its channels are hidden
 * from the person.
 */
export async function offerTokens(interaction: AutocompleteUse, context: Needs): Promise<Choice[]> {
  const { t } = context;
  if ((await seenBy(interaction, context)).unseen.length > 0) return [];
  // A subscription selects the native coin by its kind; mute treats it as a token.
  const native = interaction.options.getSubcommand(false) === 'mute';
  const known = await knownIn(interaction.guildId, context);
  const imitations = imitationsAmong(known);
  const choices = known
    .filter(({ token, seen }) => seen && (native || token !== 'native'))
    .map((one) => tokenChoice(one, imitations, t));
  return choicesWith(interaction.options.getFocused(), choices);
}
