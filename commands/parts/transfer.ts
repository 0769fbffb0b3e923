import { formatAmount } from '../../src/domain/amount.ts';
import { inCode } from '../../src/domain/text.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import type { Translate } from '../../src/languages/index.ts';

/** What moved, in a few words: "1,234.5 `USDC`", "`Lanterns` #42". */
export function moved(transfer: Transfer, t: Translate): string {
  const { value, decimals, tokenId, tokenIdExact, kind } = transfer;
  const what = assetName(transfer, t);
  if (tokenId !== null) {
    const id =
      !tokenIdExact || tokenId.length > 24 ? inCode(`${tokenId.slice(0, 8)}…${tokenId.slice(-8)}`, '') : tokenId;
    if (value === null || value === '1' || kind === 'erc721') return t('transfer.item', { what, id });
    return t('transfer.items', { amount: formatAmount(value, null), what, id });
  }
  if (value === null) return t('transfer.unknownAmount', { what });
  const amount = formatAmount(value, decimals);
  return decimals === null ? t('transfer.rawAmount', { amount, what }) : t('transfer.amount', { amount, what });
}

/** The token's or the native coin's name, safe for Discord. */
export function assetName(transfer: Transfer, t: Translate): string {
  const { kind, tokenType, tokenName, tokenSymbol } = transfer;
  if (kind === 'native') return inCode(tokenType, t('transfer.nativeCoin'));
  return inCode(tokenSymbol ?? tokenName, t('transfer.unnamedToken'));
}
