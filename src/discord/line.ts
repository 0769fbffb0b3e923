import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { inUnits } from '../domain/amount.ts';
import { addressPage, type ExplorerRoot, transactionPage } from '../domain/explorer.ts';
import { asName, asSymbol, inCode, linkText } from '../domain/text.ts';
import { sumOf, type View } from '../domain/transaction-parts.ts';
import { amountOf, isItem, mergedKind, type Transfer } from '../domain/transfer.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { type Language, languageOf, type Translate, translator } from '../languages/index.ts';
import { writeNumber } from '../languages/number.ts';

/** What rendering depends on besides the alert: the explorer and the native coin's name, where known. */
export interface RenderSettings extends ExplorerRoot {
  nativeSymbol: string | undefined;
}

/** The language, labels and settings in which one guild's messages are rendered. */
export interface Voice extends RenderSettings {
  t: Translate;
  language: Language;
  /** Tokens that the explorer's catalog lists: their names may be trusted. */
  cataloged: ReadonlySet<AddressText>;
  /** Addresses are not linked. */
  unlinked?: boolean;
  /** Labels are shortened, so that no alert has to be dropped. */
  hasShortNames?: boolean;
  /** Other tokens' names link to their contracts. */
  linksTokens?: boolean;
}

/** The icon of each view; `several`: a transaction with different ones. */
export const LOOKS: Record<View | 'swap' | 'several', { icon: string; color: number }> = {
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

/** Most characters of a sum: a token may claim 255 decimals, and its sum would crowd out the others. */
export const LONGEST_SUM = 120;
/** Most characters of a token ID in a line; longer ones are among the details. */
export const LONGEST_ID = 24;
/** Graphemes of a label. */
export const LONGEST_LABEL = 60;
const SHORT_LABEL = 20;

/** The voice for a guild's alerts (at least one). */
export function voiceOf(alerts: readonly Alert[], settings: RenderSettings): Voice {
  const chosen = languageOf(alerts[0]!.language);
  const cataloged = new Set(alerts.flatMap(({ isCataloged, transfer }) => (isCataloged && transfer.token) || []));
  return { ...settings, language: chosen, t: translator(chosen), cataloged };
}

/** The same names in a reply: in the language of the person who asks, with the tokens that the catalog lists. */
export function wordsOf(settings: RenderSettings) {
  type Words = (transfer: Transfer, language: Language, cataloged: Voice['cataloged']) => string;
  const inReply =
    (write: (transfer: Transfer, voice: Voice) => string): Words =>
    (transfer, language, cataloged) =>
      write(transfer, { ...settings, language, t: translator(language), cataloged });
  return { moved: inReply(whatMoved), assetName: inReply(assetName) };
}

/** Third-party text as inline code; `fallback` replaces missing text. */
export function code(text: string | null | undefined, fallback: string, { t }: Voice, most?: number): string {
  return inCode(text, fallback, most, t('alert.hiddenName'));
}

/** A name that the guild chose. */
export const named = (label: string, { t, hasShortNames = false }: Voice): string =>
  asName(label, '', hasShortNames ? SHORT_LABEL : LONGEST_LABEL, t('alert.hiddenName'));

/** A whole number for people: `1,234`. */
export const number = (count: number | bigint | string, { language }: Voice): string =>
  writeNumber(String(count), language);

/** The native coin's symbol in this transfer. */
export function coin(transfer: Transfer, { nativeSymbol, t }: Voice): string {
  const own = transfer.kind === 'native' ? transfer.tokenType : null;
  return asName(nativeSymbol ?? own, t('alert.nativeCoin'), undefined, t('alert.hiddenName'));
}

/** The name of what moved: coin, token or collection. */
export function assetName(transfer: Transfer, voice: Voice): string {
  const { kind, token, tokenName, tokenSymbol } = transfer;
  const { t } = voice;
  if (kind === 'native') return coin(transfer, voice);
  const isCollection = mergedKind(kind) === 'nft';
  const name = isCollection ? (tokenName ?? tokenSymbol) : (tokenSymbol ?? tokenName);
  const fallback = t(isCollection ? 'alert.unnamedCollection' : 'alert.unnamedToken');
  if (token !== null && voice.cataloged.has(token) && name !== null) {
    const hidden = t('alert.hiddenName');
    return isCollection ? asName(name, fallback, undefined, hidden) : asSymbol(name, fallback, hidden);
  }
  const shown = code(name, fallback, voice);
  const url = voice.linksTokens && !voice.unlinked && token !== null ? addressPage(voice, token, 'token') : null;
  return url ? `[${linkText(shown)}](${url})` : shown;
}

/** What one transfer moved: an amount, or an NFT. */
export function whatMoved(transfer: Transfer, voice: Voice): string {
  const { t } = voice;
  const { value, decimals } = transfer;
  const token = assetName(transfer, voice);
  if (isItem(transfer)) {
    const pieces = amountOf(transfer);
    return (pieces === 1n ? '' : `${number(pieces, voice)} × `) + item(transfer, token, voice);
  }
  if (value === null) return t('alert.unknownAmount', { token });
  const amount = writeNumber(inUnits(value, decimals), voice.language);
  return decimals === null ? t('alert.rawUnits', { amount, token }) : `${amount} ${token}`;
}

/** An NFT. Long IDs are shortened here and shown in full among the details. */
function item({ tokenId, tokenIdExact }: Transfer, name: string, voice: Voice): string {
  if (tokenId === null) return voice.t('alert.noTokenId', { name });
  if (!tokenIdExact) return voice.t('alert.impreciseItem', { name, id: code(tokenId, '?', voice) });
  return `${name} #${shortId(tokenId)}`;
}

/** A token ID as a line shows it. */
export function shortId(id: string): string {
  return id.length > LONGEST_ID ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}

/** The sum of what alerts of one asset moved; null when there is none or it is too long. */
export function whatTheyMoved(alerts: readonly Alert[], voice: Voice): string | null {
  const { transfer, count } = alerts[0]!;
  if (isItem(transfer)) {
    if (alerts.length === 1 && count === 1) return whatMoved(transfer, voice);
    // Pieces of different collections have no sum, and neither do pieces and an amount.
    const isOfIt = (other: Transfer) => isItem(other) && other.token !== null && other.token === transfer.token;
    if (alerts.length > 1 && !alerts.every((alert) => isOfIt(alert.transfer))) return null;
    const pieces = alerts.reduce((sum, alert) => sum + amountOf(alert.transfer) * BigInt(alert.count), 0n);
    return `${number(pieces, voice)} × ${assetName(transfer, voice)}`;
  }
  const sum = sumOf(alerts);
  if (sum === null) return alerts.length === 1 && count === 1 ? whatMoved(transfer, voice) : null;
  const summed = { ...transfer, ...sum };
  const { length } = whatMoved(summed, { ...voice, linksTokens: false });
  return length > LONGEST_SUM ? null : whatMoved(summed, voice);
}

/**
 * The guild's own name for an address, unescaped: from its address book or the label of the subscription that watches
 * it.
 */
export function labelOf(address: AddressText, { labels, matches }: Alert): string | null {
  return labels[address] ?? matches.find((match) => match.address === address && match.label !== null)?.label ?? null;
}

/** A full checksum address, as a link where there is an explorer. */
export function linked(address: AddressText, page: 'address' | 'token', voice: Voice): string {
  const url = voice.unlinked ? null : addressPage(voice, address, page);
  const full = `\`${checksumAddress(address)}\``;
  return url ? `[${full}](${url})` : full;
}

/** The transaction's page; null without an explorer. */
export const transactionUrl = (transfer: Transfer, settings: RenderSettings): string | null =>
  transactionPage(settings, transfer.txHash);

/** The transaction's hash without characters that could be markup. */
export const hash = ({ txHash }: Transfer): string => txHash.replace(/[^0-9a-z]/g, '');
