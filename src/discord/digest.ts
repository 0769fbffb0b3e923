import type { APIEmbed, RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import { checksumAddress } from '../domain/address.ts';
import { formatAmount } from '../domain/amount.ts';
import { csvLine } from '../domain/csv.ts';
import { inCode, plainText } from '../domain/text.ts';
import type { Transfer } from '../domain/transfer.ts';
import type { ClaimedAlert } from '../store/outbox.ts';
import type { RenderSettings } from './render.ts';

/** Above this many alerts the whole list comes as a CSV file with the digest. */
const CSV_FROM = 500;
const TOTALS_SHOWN = 15;
const LATEST_SHOWN = 8;
/** Characters of a sum that is still told. */
const LONGEST_SUM = 120;
/** Discord's limit for the text of one field. */
const FIELD_MOST = 1_024;

/** A digest as one message; `csv` is the attached file's text, if there is one. */
export interface Digest {
  payload: RESTPostAPIChannelMessageJSONBody;
  csv: string | null;
}

type Side = 'incoming' | 'outgoing' | 'moved';

interface Total {
  transfers: number;
  amount: bigint;
  decimals: number | null;
  name: string;
  side: Side;
}

/** Tells many alerts in one message: each is counted in a total, the latest are listed, none is left out of the count. */
export function renderDigest(alerts: ClaimedAlert[], reference: string, settings: RenderSettings): Digest {
  const transfers = alerts.reduce((sum, alert) => sum + alert.count, 0);
  const totals = [...totalsOf(alerts, settings).values()].sort((a, b) => b.transfers - a.transfers);
  const shown = totals.slice(0, TOTALS_SHOWN).map(totalLine);
  const rest = totals.slice(TOTALS_SHOWN).reduce((sum, total) => sum + total.transfers, 0);
  if (rest > 0) shown.push(`and ${formatAmount(String(rest), null)} transfers of other tokens`);
  const first = Math.floor(alerts[0]!.createdAt / 1_000);
  const last = Math.floor(alerts.at(-1)!.createdAt / 1_000);
  const csv = alerts.length > CSV_FROM ? csvOf(alerts) : null;
  const embed: APIEmbed = {
    title: `🗂️ Digest · ${formatAmount(String(transfers), null)} transfers`,
    color: 0x6e7681,
    description: [
      `From <t:${first}:f> to <t:${last}:t>. There were too many to tell one by one; all of them are counted here.`,
      ...(csv ? ['The attached file lists every single one.'] : []),
      '',
      ...shown,
    ].join('\n'),
    fields: [
      {
        name: 'The latest',
        value: latestLines(alerts, settings),
      },
    ],
    footer: { text: `ref ${reference}-1` },
  };
  return { payload: { embeds: [embed], allowed_mentions: { parse: [] } }, csv };
}

function totalsOf(alerts: ClaimedAlert[], settings: RenderSettings): Map<string, Total> {
  const totals = new Map<string, Total>();
  for (const { transfer, count, matches } of alerts) {
    const seen = new Set(matches.map((match) => match.perspective));
    const side: Side =
      seen.has('incoming') === seen.has('outgoing') ? 'moved' : seen.has('incoming') ? 'incoming' : 'outgoing';
    const key = `${side} ${transfer.kind} ${transfer.token}`;
    const total = totals.get(key) ?? {
      transfers: 0,
      amount: 0n,
      decimals: transfer.decimals,
      name: nameOf(transfer, settings),
      side,
    };
    total.transfers += count;
    if (transfer.tokenId === null) total.amount += BigInt(transfer.value ?? 0) * BigInt(count);
    totals.set(key, total);
  }
  return totals;
}

const ARROWS: Record<Side, string> = { incoming: '📥', outgoing: '📤', moved: '🔁' };

function totalLine({ transfers, amount, decimals, name, side }: Total): string {
  const exact = amount > 0n ? `${formatAmount(amount.toString(), decimals)} ` : '';
  // A token may claim 255 decimals; one of them must not crowd out the others.
  const sum = exact.length <= LONGEST_SUM ? exact : '';
  return `${ARROWS[side]} ${sum}${name} in ${formatAmount(String(transfers), null)} ${transfers === 1 ? 'transfer' : 'transfers'}`;
}

function nameOf(transfer: Transfer, { nativeSymbol }: RenderSettings): string {
  if (transfer.kind === 'native') return inCode(nativeSymbol ?? transfer.tokenType, 'native coin');
  return inCode(transfer.tokenSymbol ?? transfer.tokenName, 'unnamed token');
}

/** The latest alerts' lines, oldest first: as many as a field of a message holds. */
function latestLines(alerts: ClaimedAlert[], settings: RenderSettings): string {
  const lines = alerts.slice(-LATEST_SHOWN).map((alert) => latestLine(alert, settings));
  while (lines.join('\n').length > FIELD_MOST) lines.shift();
  return lines.join('\n');
}

function latestLine({ transfer, count }: ClaimedAlert, settings: RenderSettings): string {
  const { value, decimals, tokenId, txHash } = transfer;
  const what = tokenId === null && value !== null ? formatAmount(value, decimals) : '';
  const hash = txHash.replace(/[^0-9a-z]/g, '');
  const short = `\`${hash.slice(0, 10)}\``;
  const link =
    settings.explorerUrl && hash.length === 66 ? ` · [${short}](${settings.explorerUrl}/tx/${hash})` : ` · ${short}`;
  return `${what} ${nameOf(transfer, settings)}${count > 1 ? ` ×${count}` : ''}${link}`.trim().slice(0, 200);
}

function csvOf(alerts: ClaimedAlert[]): string {
  const head = 'received,transaction,block,kind,from,to,token,symbol,amount,token id,times';
  const rows = alerts.map(({ createdAt, transfer, count }) =>
    csvLine([
      new Date(createdAt).toISOString(),
      transfer.txHash,
      transfer.blockNumber,
      transfer.kind,
      transfer.from && checksumAddress(transfer.from),
      transfer.to && checksumAddress(transfer.to),
      transfer.token && checksumAddress(transfer.token),
      plainText(transfer.tokenSymbol),
      transfer.value === null ? null : formatAmount(transfer.value, transfer.decimals).replaceAll(',', ''),
      transfer.tokenId,
      count,
    ]),
  );
  return [head, ...rows].join('\r\n');
}
