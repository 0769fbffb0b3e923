import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { inUnits } from '../domain/amount.ts';
import { DAY, HOUR, MINUTE } from '../domain/clock.ts';
import { addressPage, transactionPage } from '../domain/explorer.ts';
import { asName, asSymbol, inCode, linkText } from '../domain/text.ts';
import { sumOf, type View } from '../domain/transaction-parts.ts';
import { amountOf, isItem, mergedKind, type Transfer } from '../domain/transfer.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { type Language, translator } from '../languages/index.ts';
import { writeNumber } from '../languages/number.ts';
import type { RenderContext, RenderSettings } from './render-context.ts';

/** How transfers, amounts and names are written in messages. */

/** The icon and color of each view; `several`: a transaction with different ones. */
export const VIEW_STYLES: Record<View | 'swap' | 'several', { icon: string; color: number }> = {
  incoming: { icon: '📥', color: 0x2da44e },
  outgoing: { icon: '📤', color: 0xe5534b },
  internal: { icon: '🔁', color: 0x4184e4 },
  self: { icon: '↩️', color: 0x768390 },
  mint: { icon: '✨', color: 0x1b9aaa },
  burn: { icon: '🔥', color: 0xd4761d },
  token: { icon: '🪙', color: 0x986ee2 },
  swap: { icon: '🔄', color: 0xd6459b },
  several: { icon: '🧾', color: 0x8b949e },
};

/** Maximum length of a sum: a token may claim 255 decimals, and its sum would crowd out the others. */
export const MAX_SUM = 120;
/** Maximum length of a token ID in a line; of a longer one the first and last digits are shown. */
export const MAX_TOKEN_ID = 24;
/** Maximum number of graphemes of a label. */
const MAX_LABEL = 60;
const MAX_SHORT_LABEL = 20;

/**
 * Returns the functions with which a reply to a command writes transfers: in the language of the person who asks, with
 * the tokens that the catalog lists.
 */
export function replyWording(settings: RenderSettings) {
  type Write = (transfer: Transfer, language: Language, cataloged: RenderContext['cataloged']) => string;
  const inReply =
    (write: (transfer: Transfer, context: RenderContext) => string): Write =>
    (transfer, language, cataloged) =>
      write(transfer, { ...settings, language, t: translator(language), cataloged });
  return { moved: inReply(whatMoved), assetName: inReply(assetName) };
}

/** Third-party text as inline code; `fallback` replaces missing text. */
export function code(text: string | null | undefined, fallback: string, { t }: RenderContext, max?: number): string {
  return inCode(text, fallback, max, t('alert.hiddenName'));
}

/** A name that the guild chose. */
export const named = (
  label: string,
  { t, hasShortNames = false }: Pick<RenderContext, 't' | 'hasShortNames'>,
): string => asName(label, '', hasShortNames ? MAX_SHORT_LABEL : MAX_LABEL, t('alert.hiddenName'));

/** A whole number for people: `1,234`. */
export const number = (count: number | bigint | string, { language }: RenderContext): string =>
  writeNumber(String(count), language);

/** A count as a text takes it: `count` selects the plural, `number` is shown. */
export const counted = (count: number, context: RenderContext) => ({ count, number: number(count, context) });

/** How many transfers these alerts are about. */
export const transferCount = (alerts: readonly Alert[]): number => alerts.reduce((sum, { count }) => sum + count, 0);

/** The native coin's symbol in this transfer. */
export function coin(transfer: Transfer, { nativeSymbol, t }: RenderContext): string {
  const own = transfer.kind === 'native' ? transfer.tokenType : null;
  return asName(nativeSymbol ?? own, t('alert.nativeCoin'), undefined, t('alert.hiddenName'));
}

/** The name of what moved: coin, token or collection. */
export function assetName(transfer: Transfer, context: RenderContext): string {
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
  const url = context.linksTokens && !context.unlinked && token !== null ? addressPage(context, token, 'token') : null;
  return url ? `[${linkText(shown)}](${url})` : shown;
}

/** What one transfer moved: an amount, or an NFT. */
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

/** An NFT. A long ID is shortened; the details of a full alert about this NFT alone show all of it. */
function item({ tokenId, tokenIdExact }: Transfer, name: string, context: RenderContext): string {
  if (tokenId === null) return context.t('alert.noTokenId', { name });
  if (!tokenIdExact) return context.t('alert.impreciseItem', { name, id: code(tokenId, '?', context) });
  return `${name} #${shortId(tokenId)}`;
}

/** A token ID as a line shows it. */
export function shortId(id: string): string {
  return id.length > MAX_TOKEN_ID ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}

/** What alerts of one asset moved in total; null when there is no sum or it is too long. */
export function totalMoved(alerts: readonly Alert[], context: RenderContext): string | null {
  const { transfer, count } = alerts[0]!;
  if (isItem(transfer)) {
    if (alerts.length === 1 && count === 1) return whatMoved(transfer, context);
    // Pieces of different collections have no sum, and neither do pieces and an amount.
    const isOfIt = (other: Transfer) => isItem(other) && other.token !== null && other.token === transfer.token;
    if (alerts.length > 1 && !alerts.every((alert) => isOfIt(alert.transfer))) return null;
    const pieces = alerts.reduce((sum, alert) => sum + amountOf(alert.transfer) * BigInt(alert.count), 0n);
    return `${number(pieces, context)} × ${assetName(transfer, context)}`;
  }
  const sum = sumOf(alerts);
  if (sum === null) return alerts.length === 1 && count === 1 ? whatMoved(transfer, context) : null;
  const summed = { ...transfer, ...sum };
  const { length } = whatMoved(summed, { ...context, linksTokens: false });
  return length > MAX_SUM ? null : whatMoved(summed, context);
}

/**
 * The guild's own name for an address, unescaped: from its address book or the label of the subscription that watches
 * it.
 */
export function labelOf(address: AddressText, { labels, matches }: Alert): string | null {
  return labels[address] ?? matches.find((match) => match.address === address && match.label !== null)?.label ?? null;
}

/** A full checksum address, as a link where there is an explorer. */
export function linked(address: AddressText, page: 'address' | 'token', context: RenderContext): string {
  const url = context.unlinked ? null : addressPage(context, address, page);
  const full = `\`${checksumAddress(address)}\``;
  return url ? `[${full}](${url})` : full;
}

/** The transaction's page; null without an explorer. */
export const transactionUrl = (transfer: Transfer, settings: RenderSettings): string | null =>
  transactionPage(settings, transfer.txHash);

/** The transaction's hash without characters that could be markup. */
export const hash = ({ txHash }: Transfer): string => txHash.replace(/[^0-9a-z]/g, '');

/** A time in its two largest units: `2 hr, 5 min`. */
export function duration(ms: number, { language }: Pick<RenderContext, 'language'>): string {
  const rounded = Math.max(1, Math.round(ms / MINUTE)) * MINUTE;
  const parts: [amount: number, unit: string][] = [
    [Math.floor(rounded / DAY), 'day'],
    [Math.floor((rounded % DAY) / HOUR), 'hour'],
    [(rounded % HOUR) / MINUTE, 'minute'],
  ];
  const units = parts
    .filter(([amount]) => amount > 0)
    .slice(0, 2)
    .map(([amount, unit]) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(amount),
    );
  return new Intl.ListFormat(language, { type: 'unit', style: 'short' }).format(units);
}
