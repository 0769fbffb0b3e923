import { checksumAddress } from '../../domain/address.ts';
import { type AssetSum, differenceOf, type GuildStatement, type Statement } from '../../domain/balance.ts';
import { csvLine } from '../../domain/csv.ts';
import { plainText } from '../../domain/text.ts';
import { catalogedAmong } from '../../domain/token.ts';
import { FEE_DIGITS, inUnits, rounded } from '../../domain/transfer.ts';
import { translationFor } from '../../languages/index.ts';
import { writeNumber } from '../../languages/languages.ts';
import { noticeBody } from './notice.ts';
import {
  assetName,
  COIN,
  fitting,
  linked,
  named,
  noticeContext,
  number,
  type RenderContext,
  type RenderSettings,
} from './wording.ts';

/** Significant digits; a file has them all. */
const DIGITS = 10;

const abs = (value: bigint): bigint => (value < 0n ? -value : value);
const decimalsOf = ({ asset, transfer }: AssetSum): number | null => (asset === 'native' ? 18 : transfer!.decimals);

/** Balances and movements are known and do not add up. */
const isOff = (sum: AssetSum): boolean => (differenceOf(sum) ?? 0n) !== 0n;

/** `10 → 12.5 HARBOR (+5 −2.4, fees 0.1)`, and whether that adds up. */
export function sumLine(sum: AssetSum, { others }: Pick<Statement, 'others'>, context: RenderContext): string {
  const { t, language } = context;
  const units = (value: bigint, digits = DIGITS) =>
    writeNumber(rounded(inUnits(abs(value).toString(), decimalsOf(sum)), digits), language);
  const balance = (value: bigint | null) => (value === null ? t('activity.balance.unknown') : units(value));
  const moved = [
    ...(sum.incoming > 0n ? [`+${units(sum.incoming)}`] : []),
    ...(sum.outgoing > 0n ? [`−${units(sum.outgoing)}`] : []),
    ...(sum.fees > 0n ? [t('activity.balance.fees', { amount: units(sum.fees, FEE_DIGITS) })] : []),
  ];
  const what = assetName(sum.transfer ?? COIN, context);
  const difference = differenceOf(sum);
  const words = [
    `${balance(sum.opening)} → **${balance(sum.closing)}** ${what}`,
    ...(moved.length > 0 ? [`(${moved.join(' ')})`] : []),
  ].join(' ');
  if (difference === null) return words;
  if (difference === 0n) return `${words} · ${t('activity.balance.adds')}`;
  const amount = `${units(difference)} ${what}`;
  const isLikelyFees = sum.asset === 'native' && difference < 0n && others !== null && others > 0;
  const count = isLikelyFees ? { count: others, number: number(others, context) } : null;
  const off = count
    ? t('activity.balance.otherFees', { amount, ...count })
    : t(difference > 0n ? 'activity.balance.moreIn' : 'activity.balance.moreOut', { amount });
  return `${words}\n-# ${off}`;
}

export const blocksLine = ({ range }: Statement, context: RenderContext): string =>
  `-# ${context.t('activity.balance.blocks', { after: number(range.after, context), upTo: number(range.upTo, context) })}`;

function sumCells(sum: AssetSum) {
  const units = (value: bigint | null) => {
    if (value === null) return null;
    return `${value < 0n ? '-' : ''}${inUnits(abs(value).toString(), decimalsOf(sum))}`;
  };
  const { opening, incoming, outgoing, fees, closing, asset, transfer } = sum;
  return {
    token: asset === 'native' ? null : checksumAddress(asset),
    symbol: plainText(transfer && (asset === 'native' ? transfer.tokenType : transfer.tokenSymbol)),
    opening: units(opening),
    incoming: units(incoming),
    outgoing: units(outgoing),
    fees: units(fees),
    closing: units(closing),
    difference: units(differenceOf(sum)),
  };
}

export function balanceRows({ range, sums }: Statement, network: string | null): { above: string[]; below: string[] } {
  const row = (kind: string, block: number, sum: AssetSum, amount: string | null) => {
    const { token, symbol } = sumCells(sum);
    const place = [null, null, block, kind, sum.asset === 'native' ? 'native' : 'erc20', null, null, null, null];
    return csvLine([...place, token, symbol, amount, null, null, null, ...(network === null ? [] : [network])]);
  };
  return {
    above: sums.map((sum) => row('opening balance', range.after, sum, sumCells(sum).opening)),
    below: sums.flatMap((sum) => {
      const { fees, closing, difference } = sumCells(sum);
      return [
        ...(sum.fees > 0n ? [row('fees', range.upTo, sum, fees)] : []),
        row('closing balance', range.upTo, sum, closing),
        ...(isOff(sum) ? [row('does not add up', range.upTo, sum, difference)] : []),
      ];
    }),
  };
}

const MAX_CHARACTERS = 3_500;
const CSV_HEAD = 'address,name,token,symbol,opening,in,out,fees,closing,does not add up,from block,to block';

export function renderStatement(
  settings: RenderSettings,
  { plan, since, until, wallets, known, language }: GuildStatement,
  reference: string,
): object {
  const { t, language: chosen } = translationFor(language);
  const moved = wallets.filter(({ statement }) =>
    statement.sums.some(({ opening, closing, transfers }) => transfers > 0 || opening !== 0n || closing !== 0n),
  );
  const texts = moved.map(({ address, label, statement }) => {
    const context = noticeContext(language, settings, statement.network, catalogedAmong(known, statement.network));
    const name = label === null ? '' : `**${named(label, context)}** `;
    const network = settings.networks?.get(statement.network)?.title;
    const head = `${name}${linked(address, 'address', context)}${network === undefined ? '' : ` · ${network}`}`;
    return [head, ...statement.sums.map((sum) => sumLine(sum, statement, context))].join('\n');
  });
  const shown = fitting(texts, MAX_CHARACTERS, 2);
  const sums = wallets.flatMap(({ statement }) => statement.sums);
  const off = sums.filter(isOff).length;
  const unknown = sums.filter((sum) => differenceOf(sum) === null).length;
  const omitted = texts.length - shown.length;
  const dates = new Intl.DateTimeFormat(chosen, { timeZone: plan.timezone ?? 'UTC', dateStyle: 'medium' });
  const title = t(`notice.statement.${plan.period}`, { dates: dates.formatRange(since, until - 1) });
  const lines = [
    ...(off > 0 ? [t('notice.statement.off', { count: off })] : []),
    ...(unknown > 0 ? [t('notice.statement.unknown', { count: unknown })] : []),
    ...(off + unknown === 0 ? [t('notice.statement.adds')] : []),
    '',
    shown.join('\n\n'),
    ...(omitted > 0 ? ['', t('notice.statement.more', { count: omitted })] : []),
  ];
  return noticeBody(title, lines.join('\n'), reference);
}

export function statementCsv(settings: RenderSettings, { wallets }: GuildStatement): string {
  const rows = wallets.flatMap(({ address, label, statement: { range, sums, network } }) =>
    sums.map((sum) => {
      const { token, symbol, opening, incoming, outgoing, fees, closing, difference } = sumCells(sum);
      const amounts = [opening, incoming, outgoing, fees, closing, difference, range.after, range.upTo];
      const place = settings.networks ? [settings.networks.get(network)?.title ?? `#${network}`] : [];
      const { nativeSymbol } = settings.networks?.get(network) ?? settings;
      const name = (token === null && nativeSymbol) || symbol;
      return csvLine([checksumAddress(address), label, token, name, ...amounts, ...place]);
    }),
  );
  const head = settings.networks ? `${CSV_HEAD},network` : CSV_HEAD;
  return [head, ...rows].join('\r\n');
}
