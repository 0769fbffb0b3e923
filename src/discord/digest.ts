import { type APIEmbed, type RESTPostAPIChannelMessageJSONBody, TimestampStyles, time } from 'discord.js';
import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { MINUTE } from '../domain/clock.ts';
import type { DigestReason } from '../domain/schedule.ts';
import { isSuspect } from '../domain/transaction-parts.ts';
import { amountOf, isItem } from '../domain/transfer.ts';
import type { Alerts } from './body.ts';
import { compactLines, titleOnly } from './compact.ts';
import { csvOf } from './csv.ts';
import {
  assetName,
  hash,
  LONGEST_SUM,
  LOOKS,
  labelOf,
  linked,
  named,
  number,
  type RenderSettings,
  transactionUrl,
  type Voice,
  voiceOf,
  whatMoved,
} from './line.ts';
import { messageOf } from './render.ts';
import { otherProjectsOf, WARNING, warningsOf } from './warnings.ts';

/** Up to this many transfers are listed one by one. */
const LISTED_MOST = 10;
/** Above this many alerts, a CSV file with all of them is attached. */
const CSV_FROM = 500;
const TOKENS_SHOWN = 12;
/** The totals of one token: in, out, moved, and how many are suspicious. */
const SIDES_SHOWN = 6;
const LARGEST_SHOWN = 6;
/** Discord's limits for the text of an embed's field and description. */
const FIELD_MOST = 1_024;
const DESCRIPTION_MOST = 4_096;

/** A digest as one message. `csv`: the attached file's text, if there is one. `used`: how many alerts it covers. */
export interface Digest {
  payload: RESTPostAPIChannelMessageJSONBody;
  csv: string | null;
  used: number;
}

type Side = 'incoming' | 'outgoing' | 'internal';

interface Total {
  transfers: number;
  amount: bigint;
  side: Side;
  /** Where it had the largest single transfer. */
  largest: Alert;
  suspect: boolean;
}

/**
 * Renders many alerts as one message, as many as fit into its file, from the first one. Each is counted in a total, and
 * the largest are listed. With `now` it mentions the subscriptions' roles that are due then; null: nobody.
 */
export async function renderDigest(
  due: Alert[],
  reference: string,
  settings: RenderSettings,
  reason: DigestReason = 'backlog',
  now: number | null = null,
): Promise<Digest> {
  const file = due.length > CSV_FROM ? await csvOf(due) : null;
  const alerts = file ? due.slice(0, file.used) : due;
  const voice = voiceOf(alerts, settings);
  const { t } = voice;
  const transfers = alerts.reduce((sum, alert) => sum + alert.count, 0);
  const totals = [...totalsOf(alerts).values()].sort((a, b) => b.transfers - a.transfers);
  const suspects = alerts.filter(isSuspect);
  // Sorted by when they were due, so that alerts of an earlier end of quiet hours come first.
  const { least, most } = timesOf(alerts);
  const [first, last] = [least, most].map((at) => time(new Date(at), TimestampStyles.LongDateShortTime));
  const intro = [
    Math.floor(least / MINUTE) === Math.floor(most / MINUTE) ? first! : t('digest.period', { first, last }),
    t(`digest.${reason}`),
    ...(file ? [t('digest.file')] : []),
    ...(suspects.length > 0 ? warning(suspects, voice) : []),
    ...otherProjectsOf(
      alerts.filter((alert) => !isSuspect(alert)),
      voice,
    ),
    '',
  ];
  const listed = transfers > LISTED_MOST ? null : listOf(alerts, DESCRIPTION_MOST - intro.join('\n').length - 1, voice);
  const largest = listed === null ? largestOf(totals, voice) : '';
  const embed: APIEmbed = {
    title: t('digest.title', { count: transfers, number: number(transfers, voice) }),
    color: suspects.length > 0 ? WARNING : 0x6e7681,
    description: [...intro, ...(listed ?? totalLines(totals, DESCRIPTION_MOST - intro.join('\n').length, voice))].join(
      '\n',
    ),
    ...(largest === '' ? {} : { fields: [{ name: t('digest.largest'), value: largest }] }),
  };
  return { payload: messageOf([embed], alerts, reference, voice, now), csv: file?.text ?? null, used: alerts.length };
}

/** A few alerts one by one, grouped by transaction; null if they do not fit. */
function listOf(alerts: Alert[], room: number, voice: Voice): string[] | null {
  const lines = [...Map.groupBy(alerts, ({ transfer }) => transfer.txHash).values()].flatMap((list) => {
    const [first, ...others] = list as Alerts;
    if (!list.some(isSuspect)) return compactLines([first, ...others], voice);
    // No link to an address: a suspicious one must not invite a click.
    return [`⚠️ ${titleOnly([first, ...others], voice)}`];
  });
  return lines.join('\n').length > room ? null : lines;
}

/**
 * When the first and the last alert arrived. Not `Math.min(...)`: there may be more than a call accepts as arguments.
 */
function timesOf(alerts: readonly Alert[]): { least: number; most: number } {
  const [{ createdAt }] = alerts as [Alert];
  return alerts.reduce(
    ({ least, most }, alert) => ({ least: Math.min(least, alert.createdAt), most: Math.max(most, alert.createdAt) }),
    { least: createdAt, most: createdAt },
  );
}

function warning(suspects: Alert[], voice: Voice): string[] {
  const count = suspects.reduce((sum, alert) => sum + alert.count, 0);
  return ['', voice.t('digest.suspect', { count, number: number(count, voice) }), ...warningsOf(suspects, voice)];
}

function totalsOf(alerts: Alert[]): Map<string, Total> {
  const totals = new Map<string, Total>();
  for (const alert of alerts) {
    const { transfer, count } = alert;
    const side = sideOf(alert);
    const suspect = isSuspect(alert);
    // Tokens without a known contract are distinguished by name. Transfers without an amount are in no sum.
    const token = transfer.token ?? JSON.stringify([transfer.tokenName, transfer.tokenSymbol]);
    const isSummed = isItem(transfer) || transfer.value !== null;
    const key = `${side} ${transfer.kind} ${token} ${transfer.decimals} ${suspect} ${isSummed}`;
    const total = totals.get(key) ?? { transfers: 0, amount: 0n, side, largest: alert, suspect };
    total.transfers += count;
    total.amount += amountOf(transfer) * BigInt(count);
    if (amountOf(transfer) > amountOf(total.largest.transfer)) total.largest = alert;
    totals.set(key, total);
  }
  return totals;
}

function sideOf(alert: Alert): Side {
  const seen = new Set(alert.matches.map((match) => match.perspective));
  if (seen.has('incoming') === seen.has('outgoing')) return 'internal';
  return seen.has('incoming') ? 'incoming' : 'outgoing';
}

/**
 * The totals with the most transfers, as many as fit. Those of one token are grouped above its address. The last line
 * counts the others.
 */
function totalLines(totals: Total[], room: number, voice: Voice): string[] {
  const lines: string[] = [];
  let listed = 0;
  for (const [token, all] of [...Map.groupBy(totals, tokenOf)].slice(0, TOKENS_SHOWN)) {
    const shown = all.slice(0, SIDES_SHOWN);
    const block = shown.map((total) => totalLine(total, voice));
    if (token !== null) block.push(`-# ${linked(token, 'token', voice)}`);
    // Leaves 100 characters for the last line.
    if ([...lines, ...block].join('\n').length > room - 100) break;
    lines.push(...block);
    listed += transfersOf(shown);
  }
  const count = transfersOf(totals) - listed;
  return count > 0 ? [...lines, voice.t('digest.others', { count, number: number(count, voice) })] : lines;
}

const tokenOf = ({ largest }: Total): AddressText | null => largest.transfer.token;
const transfersOf = (totals: Total[]): number => totals.reduce((sum, { transfers }) => sum + transfers, 0);

function totalLine({ transfers, amount, side, largest, suspect }: Total, voice: Voice): string {
  const { transfer } = largest;
  const name = assetName(transfer, voice);
  const exact = isItem(transfer)
    ? `${number(amount, voice)} × ${name}`
    : amount > 0n
      ? whatMoved({ ...transfer, value: amount.toString() }, voice)
      : name;
  const counted = { count: transfers, number: number(transfers, voice) };
  const what = exact.length <= LONGEST_SUM ? exact : name;
  return `${suspect ? '⚠️ ' : ''}${LOOKS[side].icon} ${voice.t('digest.total', { ...counted, what })}`;
}

/** The largest transfer of each of the first totals, as many as fit into a field. */
function largestOf(totals: Total[], voice: Voice): string {
  const lines = totals
    .filter(({ amount, suspect, largest }) => amount > 0n && !suspect && !isItem(largest.transfer))
    .slice(0, LARGEST_SHOWN)
    .map((total) => largestLine(total, voice));
  while (lines.join('\n').length > FIELD_MOST) lines.pop();
  return lines.join('\n');
}

function largestLine({ largest, side }: Total, voice: Voice): string {
  const { transfer, createdAt } = largest;
  const short = `\`${hash(transfer).slice(0, 10)}\``;
  const url = transactionUrl(transfer, voice);
  const names = [transfer.from, transfer.to].flatMap((address) => {
    const label = address && labelOf(address, largest);
    return label ? [named(label, voice)] : [];
  });
  return [
    `${LOOKS[side].icon} ${whatMoved(transfer, voice)}`,
    ...(names.length > 0 ? [names.join(' → ')] : []),
    time(new Date(createdAt), TimestampStyles.ShortTime),
    url ? `[${short}](${url})` : short,
  ].join(' · ');
}
