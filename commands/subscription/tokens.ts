import type { AutocompleteUse, Choice } from '../../src/discord/command.ts';
import { type AddressText, NATIVE_SENTINEL } from '../../src/domain/address.ts';
import { skeleton } from '../../src/domain/guard.ts';
import type { Asset } from '../../src/domain/subscription.ts';
import { asSymbol, isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { checksumAddress, parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { fitting } from '../shared/choices.ts';
import { withMeant } from '../shared/meant.ts';
import { fullAddress, nameOf, quoted, shortAddress } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { seenBy } from '../shared/subscriptions.ts';

type Needs = ContextWith<'guildChannels' | 'subscriptions' | 'tokens' | 'settings' | 'now'>;

/** Unknown symbols for which a similar one is looked for: a file may name thousands. */
const MEANT_MOST = 10;

/** The tokens that a symbol can mean in one guild, and how they are shown. */
export interface TokenBook {
  /** Resolves a text to a token: an address, a symbol or `native`; throws a {@link UserError}. */
  find(text: string): Asset;
  /** Symbol and full address, as far as they are known. */
  nameOf(asset: Asset): string;
  /** A short form; the full one must be shown elsewhere. */
  shortNameOf(asset: Asset): string;
}

/** Opens a guild's book of tokens. */
export async function tokenBook(guildId: string, context: Needs): Promise<TokenBook> {
  const { settings, t } = context;
  const known = await knownIn(guildId, context);
  let unknown = 0;
  let bySymbol: Map<string | undefined, KnownToken[]> | undefined;
  const byAsset = new Map(known.map((one) => [one.token, one]));
  const symbolOf = (asset: Asset, fallback: string): string => {
    const { symbol, cataloged } = byAsset.get(asset) ?? { symbol: null, cataloged: false };
    const trusted = symbol !== null && (cataloged || asset === 'native');
    return trusted ? asSymbol(symbol, fallback, t('alert.hiddenName')) : nameOf(t, symbol, fallback);
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
      const fitting = wanted === undefined ? [] : (bySymbol.get(wanted) ?? []);
      // Anybody can name a token USDC; the explorer's catalog lists the real one.
      const trusted = fitting.some(({ cataloged }) => cataloged) ? fitting.filter((one) => one.cataloged) : fitting;
      const [only, ...others] = trusted;
      if (only && others.length === 0) return only.token;
      const symbol = quoted(typed);
      if (!only) {
        // Only what is genuine: an imitation must not be suggested.
        const sure = ++unknown > MEANT_MOST ? [] : known.filter((one) => one.cataloged || one.token === 'native');
        const genuine = sure.flatMap(({ symbol }) => plainText(symbol) ?? []);
        throw new UserError(withMeant(t('subscription.token.unknown', { symbol }), typed, genuine, t));
      }
      const choices = trusted.slice(0, 5).map(({ token }) => `\`${writeAsset(token)}\``);
      throw new UserError(t('subscription.token.several', { symbol, choices: choices.join(t('reply.comma')) }));
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

/** The tokens that a guild's people may mean, with the operator's name for the native coin, if there is one. */
export async function knownIn(
  guildId: string | null,
  { tokens, settings }: Pick<Needs, 'tokens' | 'settings'>,
): Promise<KnownToken[]> {
  // No guild has an empty id: that leaves the catalog.
  const found = await tokens.known(guildId ?? '');
  const { nativeSymbol: symbol } = settings;
  if (symbol === undefined) return found;
  const native: KnownToken = { token: 'native', symbol, cataloged: true, seen: false };
  const rest = found.some(({ token }) => token === 'native') ? [] : [native];
  return [...found.map((one) => (one.token === 'native' ? { ...native, seen: one.seen } : one)), ...rest];
}

/** The tokens whose names may be trusted, of those that a guild's people may mean. */
export function catalogedAmong(known: readonly KnownToken[]): ReadonlySet<AddressText> {
  return new Set(known.flatMap(({ token, cataloged }) => (cataloged && token !== 'native' ? [token] : [])));
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
    .map((one) => choiceOf(one, imitations, t));
  return fitting(interaction, choices);
}

/** Tokens that only copy the symbol of a cataloged one. */
export function imitationsAmong(known: readonly KnownToken[]): ReadonlySet<Asset> {
  const called = ({ symbol }: KnownToken): string => (symbol === null ? '' : skeleton(symbol));
  const genuine = new Set(known.filter(({ cataloged }) => cataloged).map(called));
  genuine.delete('');
  const others = known.filter(({ token, cataloged }) => !cataloged && token !== 'native');
  return new Set(others.filter((one) => genuine.has(called(one))).map(({ token }) => token));
}

/** A token as a choice: its symbol and shortened address, with a warning if it is an imitation. */
export function choiceOf({ token, symbol }: KnownToken, imitations: ReadonlySet<Asset>, t: Translate): Choice {
  const named = symbol === null || looksLikeLink(symbol) ? null : plainText(symbol);
  const parts = [named && isolate(named), token === 'native' ? t('subscription.token.native') : shortAddress(token)];
  const title = parts.filter(Boolean).join(' · ');
  const name = imitations.has(token) ? `⚠️ ${t('alert.imitation', { title })}` : title;
  return { name, value: writeAsset(token) };
}

/** In the form in which people type it. */
export function writeAsset(asset: Asset): string {
  return asset === 'native' ? asset : checksumAddress(asset);
}
