import type { Choice } from '../../src/discord/command.ts';
import type { RenderContext } from '../../src/discord/render/wording.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { skeleton } from '../../src/domain/guard.ts';
import type { Asset } from '../../src/domain/subscription.ts';
import { isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import { catalogedAmong, type KnownToken } from '../../src/domain/token.ts';
import { checksumAddress, shortAddress } from '../../src/domain/typed-address.ts';
import type { Translate } from '../../src/languages/index.ts';
import { hasSeveral, onNetwork } from './networks.ts';
import type { CommandServices, Context } from './services.ts';

/**
 * The tokens that a guild's people may mean, on one network or on each, with the operator's name for the native coin,
 * if there is one.
 */
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
  const nativeOf = (one: KnownToken) =>
    one.token === 'native' ? natives.find(({ network: on }) => on === one.network) : undefined;
  const seen = found.map((one) => ({ ...one, ...nativeOf(one), seen: one.seen }));
  const rest = natives.filter((coin) => !found.some((one) => one.token === 'native' && one.network === coin.network));
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
  return new Set(others.filter((one) => genuine.has(called(one))).map(({ token }) => token));
}

/**
 * Tokens as choices: the server's name if there is one, the symbol and the shortened address. Genuine ones are first,
 * imitations are last and say so.
 */
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
    .map((one) => {
      const { token, symbol } = one;
      const label = token === 'native' ? undefined : labels.get(token);
      const named = symbol === null || looksLikeLink(symbol) ? null : plainText(symbol);
      const parts = [
        label && isolate(label),
        named && isolate(named),
        token === 'native' ? t('subscription.token.native') : shortAddress(token),
      ];
      const title = parts.filter(Boolean).join(' · ');
      const name = rank(one) === 2 ? `⚠️ ${t('alert.imitation', { title })}` : title;
      return { choice: { name, value: writeAsset(token) }, isGenuine: rank(one) === 0 };
    });
}

/** Each asset once: one address may be the same token on several networks. Where one is genuine, that one counts. */
export function uniqueTokens(known: readonly KnownToken[]): Map<Asset, KnownToken> {
  const unique = new Map<Asset, KnownToken>();
  for (const one of known) {
    const other = unique.get(one.token);
    if (!other || (one.cataloged && !other.cataloged)) unique.set(one.token, one);
  }
  return unique;
}

export function writeAsset(asset: Asset): string {
  return asset === 'native' ? asset : checksumAddress(asset);
}
