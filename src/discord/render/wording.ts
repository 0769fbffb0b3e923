import { type AddressText, checksumAddress } from '../../domain/address.ts';
import type { Alert } from '../../domain/alert.ts';
import type { AssetWords } from '../../domain/balance.ts';
import { DAY, HOUR, MINUTE } from '../../domain/clock.ts';
import type { Network } from '../../domain/network.ts';
import { asLabel, asName, asSymbol, inCode, linkText } from '../../domain/text.ts';
import {
  amountOf,
  FEE_DIGITS,
  inDollars,
  inUnits,
  isItem,
  mergedKind,
  rounded,
  sumOfWorth,
  type Transfer,
} from '../../domain/transfer.ts';
import { type Language, type Translate, translationFor } from '../../languages/index.ts';
import { writeNumber, writeWorth } from '../../languages/languages.ts';

export type ExplorerRoot = Pick<Network, 'explorerUrl'>;

export interface RenderSettings extends ExplorerRoot {
  nativeSymbol: string | undefined;
  /** By ID, where there are several: each alert then names its own, with that network's explorer and coin. */
  networks?: ReadonlyMap<number, Pick<Network, 'title' | 'explorerUrl' | 'nativeSymbol'>> | undefined;
}

export interface RenderContext extends RenderSettings {
  t: Translate;
  language: Language;
  /** Tokens whose names may be trusted. */
  cataloged: ReadonlySet<AddressText>;
  unlinked?: boolean;
  /** Labels are shortened, and balances and lesser remarks left out, so that no alert is dropped. */
  isShort?: boolean;
  /** Names of uncataloged tokens link to their contracts. */
  linksTokens?: boolean;
  /** The title of a compact alert is its headline, which a push notification shows. */
  plainTitles?: boolean;
  /** Title of the transaction's network, where there are several. */
  network?: string;
  /** Addresses are names or shortened, without markup. */
  plainNames?: boolean;
}

export function renderContext(alerts: readonly Alert[], settings: RenderSettings): RenderContext {
  return { ...settings, ...translationFor(alerts[0]!.language), cataloged: catalogedIn(alerts) };
}

function catalogedIn(alerts: readonly Alert[]): Set<AddressText> {
  const tokens = new Set<AddressText>();
  for (const { isCataloged, transfer } of alerts) if (isCataloged && transfer.token) tokens.add(transfer.token);
  return tokens;
}

export function noticeContext(
  language: string | null,
  settings: RenderSettings,
  network: number,
  cataloged: RenderContext['cataloged'] = new Set(),
): RenderContext {
  return { ...settings, ...settings.networks?.get(network), ...translationFor(language), cataloged };
}

/** The alerts are of one network. */
export function onNetwork(alerts: readonly Alert[], context: RenderContext): RenderContext {
  const { networks } = context;
  if (networks === undefined) return context;
  const { network: id } = alerts[0]!;
  const none = { title: `#${id}`, explorerUrl: undefined, nativeSymbol: undefined };
  const { title, ...own } = networks.get(id) ?? none;
  // A token of the same address may be another one on another network.
  return { ...context, ...own, cataloged: catalogedIn(alerts), network: asName(title, '', MAX_LABEL, title) };
}

/** A token may claim 255 decimals, and its sum would crowd out the others. */
export const MAX_SUM = 120;
/** Of a longer token ID the first and last digits are shown in a line. */
export const MAX_TOKEN_ID = 24;
/** In graphemes. */
const MAX_LABEL = 60;
const MAX_SHORT_LABEL = 20;

/** Third-party text as inline code; `fallback` replaces missing text. */
export function code(text: string | null | undefined, fallback: string, { t }: RenderContext, max?: number): string {
  return inCode(text, fallback, max, t('alert.hiddenName'));
}

export const named = (label: string, { t, isShort }: Pick<RenderContext, 't' | 'isShort'>): string =>
  asLabel(label, '', isShort ? MAX_SHORT_LABEL : MAX_LABEL, t('alert.hiddenName'));

export const number = (count: number | bigint | string, { language }: RenderContext): string =>
  writeNumber(String(count), language);

/** `count` selects the plural, `number` is shown. */
export const counted = (count: number, context: RenderContext) => ({ count, number: number(count, context) });

/** Equal for transfers of one asset of a network; tokens without a known contract are distinguished by name. */
export const assetKey = ({ kind, token, tokenName, tokenSymbol, decimals }: Transfer): string =>
  [kind, token ?? JSON.stringify([tokenName, tokenSymbol]), decimals].join(' ');

export const transferCount = (alerts: readonly Alert[]): number => alerts.reduce((sum, { count }) => sum + count, 0);

function coin(transfer: AssetWords, { nativeSymbol, t }: RenderContext): string {
  const own = transfer.kind === 'native' ? transfer.tokenType : null;
  return asName(nativeSymbol ?? own, t('alert.nativeCoin'), undefined, t('alert.hiddenName'));
}

export const feeText = (gasFee: string, transfer: Transfer, context: RenderContext): string => {
  const fee = writeNumber(rounded(inUnits(gasFee, 18), FEE_DIGITS), context.language);
  return context.t('alert.fee', { fee: `${fee} ${coin(transfer, context)}` });
};

/** The native coin where no transfer names it. */
export const COIN = { kind: 'native', tokenType: null } as AssetWords;

export function assetName(transfer: AssetWords, context: RenderContext): string {
  const { kind, token, tokenName, tokenSymbol } = transfer;
  const { t } = context;
  if (kind === 'native') return coin(transfer, context);
  const isCollection = mergedKind(kind) === 'nft';
  const name = isCollection ? (tokenName ?? tokenSymbol) : (tokenSymbol ?? tokenName);
  const fallback = t(isCollection ? 'alert.unnamedCollection' : 'alert.unnamedToken');
  if (token !== null && context.cataloged.has(token) && name !== null) {
    const hidden = t('alert.hiddenName');
    return isCollection ? asName(name, fallback, undefined, hidden) : asSymbol(name, fallback, hidden);
  }
  const shown = code(name, fallback, context);
  const url = context.linksTokens && token !== null ? addressPage(context, token, 'token') : null;
  return url ? `[${linkText(shown)}](${url})` : shown;
}

/** `≈ $18,400`; an unknown price is shown if a subscription asks for it. */
export function worthOfAll(alerts: readonly Alert[], { t, language }: RenderContext): string[] {
  const sum = sumOfWorth(alerts);
  if (sum !== null) return sum === 0n ? [] : [writeWorth(inDollars(sum), language)];
  for (const { transfer, matches } of alerts) {
    if (transfer.price !== null) continue;
    for (const { minimumUsd, mention, mentionMinimumUsd } of matches)
      if (minimumUsd !== null || (mention !== null && mentionMinimumUsd !== null)) return [t('alert.unknownPrice')];
  }
  return [];
}

export function worthLine(
  sums: readonly (readonly [icon: string, sum: bigint])[],
  unpriced: number,
  { t, language }: Pick<RenderContext, 't' | 'language'>,
): string[] {
  const parts = sums.flatMap(([icon, sum]) => (sum > 0n ? `${icon} ${writeWorth(inDollars(sum), language)}` : []));
  const rest = { count: unpriced, number: writeNumber(String(unpriced), language) };
  if (parts.length > 0 && unpriced > 0) parts.push(t('digest.unpriced', rest));
  return parts.length > 0 ? [parts.join(' · ')] : [];
}

export function whatMoved(transfer: Transfer, context: RenderContext): string {
  const { t } = context;
  const { value, decimals } = transfer;
  const token = assetName(transfer, context);
  if (isItem(transfer)) {
    const pieces = amountOf(transfer);
    return (pieces === 1n ? '' : `${number(pieces, context)} × `) + item(transfer, token, context);
  }
  if (value === null) return t('alert.unknownAmount', { token });
  const amount = writeNumber(inUnits(value, decimals), context.language);
  return decimals === null ? t('alert.rawUnits', { amount, token }) : `${amount} ${token}`;
}

function item({ tokenId, tokenIdExact }: Transfer, name: string, context: RenderContext): string {
  if (tokenId === null) return context.t('alert.noTokenId', { name });
  if (!tokenIdExact) return context.t('alert.impreciseItem', { name, id: code(tokenId, '?', context) });
  return `${name} #${shortId(tokenId)}`;
}

export function shortId(id: string): string {
  return id.length > MAX_TOKEN_ID ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}

/** The first texts that fit into `room` characters; each takes `gap` more. */
export function fitting(texts: Iterable<string>, room: number, gap = 1): string[] {
  const shown: string[] = [];
  let remaining = room;
  for (const text of texts) {
    remaining -= text.length + gap;
    if (remaining < 0) break;
    shown.push(text);
  }
  return shown;
}

export const andMore = (rest: number, context: RenderContext): string[] =>
  rest > 0 ? [context.t('alert.more', { number: number(rest, context) })] : [];

/** The guild's own name, from its address book or the label of a subscription; null: the address has none. */
export function nameOf(address: AddressText, alerts: readonly Alert[], context: RenderContext): string | null {
  for (const { labels, matches } of alerts) {
    let label = labels[address] ?? null;
    for (const match of matches) if (match.address === address) label ??= match.label;
    if (label !== null) return named(label, context);
  }
  return null;
}

type LinkContext = ExplorerRoot & Pick<RenderContext, 'unlinked'>;

export function linked(address: AddressText, page: 'address' | 'token', context: LinkContext): string {
  const url = addressPage(context, address, page);
  const full = `\`${checksumAddress(address)}\``;
  return url ? `[${full}](${url})` : full;
}

/** A block may stand for a transaction, see `difference`. null without an explorer, and for an invalid hash. */
export function transactionPage({ explorerUrl }: ExplorerRoot, txHash: string): string | null {
  const block = /^block(\d{1,15})$/.exec(txHash)?.[1];
  if (explorerUrl && block) return `${explorerUrl}/block/${block}`;
  return explorerUrl && /^0x[0-9a-f]{64}$/.test(txHash) ? `${explorerUrl}/tx/${txHash}` : null;
}

export function addressPage(
  { explorerUrl, unlinked }: LinkContext,
  address: AddressText,
  page: 'address' | 'token' = 'address',
): string | null {
  return explorerUrl && !unlinked ? `${explorerUrl}/${page}/${checksumAddress(address)}` : null;
}

/** The hash without characters that could be markup. */
export const hash = ({ txHash }: Transfer): string => txHash.replace(/[^0-9a-z]/g, '');

/** A time in its two largest units: `2 hr, 5 min`. */
export function duration(ms: number, { language }: Pick<RenderContext, 'language'>): string {
  const rounded = Math.max(1, Math.round(ms / MINUTE)) * MINUTE;
  const days = Math.floor(rounded / DAY);
  const hours = Math.floor((rounded % DAY) / HOUR);
  const minutes = days > 0 && hours > 0 ? 0 : (rounded % HOUR) / MINUTE;
  return new Intl.DurationFormat(language, { style: 'short' }).format({ days, hours, minutes });
}
