import type { Choice } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { skeleton } from '../../src/domain/guard.ts';
import type { Asset } from '../../src/domain/subscription.ts';
import { isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import type { Translate } from '../../src/languages/index.ts';
import { shortAddress } from './reply.ts';
import type { CommandServices } from './services.ts';

/** The tokens that a guild's people may mean, with the operator's name for the native coin, if there is one. */
export async function knownIn(
  guildId: string | null,
  { tokens, settings }: Pick<CommandServices, 'tokens' | 'settings'>,
): Promise<KnownToken[]> {
  // No guild has an empty ID: that leaves the catalog.
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

/** Tokens that only copy the symbol of a cataloged one. */
export function imitationsAmong(known: readonly KnownToken[]): ReadonlySet<Asset> {
  const called = ({ symbol }: KnownToken): string => (symbol === null ? '' : skeleton(symbol));
  const genuine = new Set(known.filter(({ cataloged }) => cataloged).map(called));
  genuine.delete('');
  const others = known.filter(({ token, cataloged }) => !cataloged && token !== 'native');
  return new Set(others.filter((one) => genuine.has(called(one))).map(({ token }) => token));
}

/** A token as a choice: its symbol and shortened address, with a warning if it is an imitation. */
export function tokenChoice({ token, symbol }: KnownToken, imitations: ReadonlySet<Asset>, t: Translate): Choice {
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
