import { type APIEmbed, type RESTPostAPIChannelMessageJSONBody, TimestampStyles, time } from 'discord.js';
import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { MINUTE } from '../domain/clock.ts';
import type { DigestReason } from '../domain/hold.ts';
import { isSuspect } from '../domain/transaction-parts.ts';
import { amountOf, isItem } from '../domain/transfer.ts';
import type { Alerts } from './body.ts';
import { compactLines, titleOnly } from './compact.ts';
import { alertsCsv } from './csv.ts';
import { MAX_DESCRIPTION, MAX_FIELD } from './message-limits.ts';
import { messageOf } from './render.ts';
import { type RenderContext, type RenderSettings, renderContext } from './render-context.ts';
import { otherProjectsOf, WARNING_COLOR, warningsOf } from './warnings.ts';
import {
  assetName,
  counted,
  hash,
  labelOf,
  linked,
  MAX_SUM,
  named,
  number,
  transactionUrl,
  transferCount,
  VIEW_STYLES,
  whatMoved,
} from './wording.ts';

/** Up to this many transfers are listed one by one. */
const MAX_LISTED = 10;
/** Above this many alerts, a CSV file with all of them is attached. */
const CSV_ABOVE = 500;
const MAX_TOKENS = 12;
/** Maximum number of totals of one token: one per direction, and as many for suspicious alerts. */
const MAX_TOTALS = 6;
const MAX_LARGEST = 6;
const COLOR = 0x6e7681;

/** A digest as one message. `csv`: the attached file's text, if there is one. `used`: how many alerts it counts. */
export interface Digest {
  payload: RESTPostAPIChannelMessageJSONBody;
  csv: string | null;
  used: number;
}

type Direction = 'incoming' | 'outgoing' | 'internal';

/** The sum of one asset's transfers in one direction. */
interface Total {
  transfers: number;
  amount: bigint;
  direction: Direction;
  /** The alert of its largest transfer. */
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
  const file = due.length > CSV_ABOVE ? await alertsCsv(due) : null;
  const alerts = file ? due.slice(0, file.used) : due;
  const context = renderContext(alerts, settings);
  const { t } = context;
  const transfers = transferCount(alerts);
  const totals = [...totalsOf(alerts).values()].sort((a, b) => b.transfers - a.transfers);
  const suspects = alerts.filter(isSuspect);
  // The alerts are sorted by when they were due, not by when they arrived.
  const { earliest, latest } = periodOf(alerts);
  const [first, last] = [earliest, latest].map((at) => time(new Date(at), TimestampStyles.LongDateShortTime));
  const intro = [
    Math.floor(earliest / MINUTE) === Math.floor(latest / MINUTE) ? first! : t('digest.period', { first, last }),
    t(`digest.${reason}`),
    ...(file ? [t('digest.file')] : []),
    ...(suspects.length > 0 ? warning(suspects, context) : []),
    ...otherProjectsOf(
      alerts.filter((alert) => !isSuspect(alert)),
      context,
    ),
    '',
  ];
  const listed = transfers > MAX_LISTED ? null : listOf(alerts, MAX_DESCRIPTION - intro.join('\n').length - 1, context);
  const largest = listed === null ? largestOf(totals, context) : '';
  const embed: APIEmbed = {
    title: t('digest.title', counted(transfers, context)),
    color: suspects.length > 0 ? WARNING_COLOR : COLOR,
    description: [...intro, ...(listed ?? totalLines(totals, MAX_DESCRIPTION - intro.join('\n').length, context))].join(
      '\n',
    ),
    ...(largest === '' ? {} : { fields: [{ name: t('digest.largest'), value: largest }] }),
  };
  return { payload: messageOf([embed], alerts, reference, context, now), csv: file?.text ?? null, used: alerts.length };
}

/** A few alerts one by one, grouped by transaction; null if they do not fit. */
function listOf(alerts: Alert[], room: number, context: RenderContext): string[] | null {
  const lines = [...Map.groupBy(alerts, ({ transfer }) => transfer.txHash).values()].flatMap((list) => {
    const together = list as Alerts;
    if (!together.some(isSuspect)) return compactLines(together, context);
    // No link to an address: a suspicious one must not invite a click.
    return [`⚠️ ${titleOnly(together, context)}`];
  });
  return lines.join('\n').length > room ? null : lines;
}

/** When the first and the last alert arrived. */
function periodOf(alerts: readonly Alert[]): { earliest: number; latest: number } {
  const [{ createdAt }] = alerts as [Alert];
  // Not `Math.min(...)`: there may be more alerts than a call accepts arguments.
  return alerts.reduce(
    ({ earliest, latest }, alert) => ({
      earliest: Math.min(earliest, alert.createdAt),
      latest: Math.max(latest, alert.createdAt),
    }),
    { earliest: createdAt, latest: createdAt },
  );
}

function warning(suspects: Alert[], context: RenderContext): string[] {
  const suspect = context.t('digest.suspect', counted(transferCount(suspects), context));
  return ['', suspect, ...warningsOf(suspects, context)];
}

function totalsOf(alerts: Alert[]): Map<string, Total> {
  const totals = new Map<string, Total>();
  for (const alert of alerts) {
    const { transfer, count } = alert;
    const direction = directionOf(alert);
    const suspect = isSuspect(alert);
    // Tokens without a known contract are distinguished by name. Transfers without an amount are in no sum.
    const token = transfer.token ?? JSON.stringify([transfer.tokenName, transfer.tokenSymbol]);
    const isSummed = isItem(transfer) || transfer.value !== null;
    const key = `${direction} ${transfer.kind} ${token} ${transfer.decimals} ${suspect} ${isSummed}`;
    const total = totals.get(key) ?? { transfers: 0, amount: 0n, direction, largest: alert, suspect };
    total.transfers += count;
    total.amount += amountOf(transfer) * BigInt(count);
    if (amountOf(transfer) > amountOf(total.largest.transfer)) total.largest = alert;
    totals.set(key, total);
  }
  return totals;
}

function directionOf(alert: Alert): Direction {
  const seen = new Set(alert.matches.map((match) => match.perspective));
  if (seen.has('incoming') === seen.has('outgoing')) return 'internal';
  return seen.has('incoming') ? 'incoming' : 'outgoing';
}

/**
 * The totals with the most transfers, as many as fit. Those of one token are grouped above its address. The last line
 * counts the others.
 */
function totalLines(totals: Total[], room: number, context: RenderContext): string[] {
  const lines: string[] = [];
  let listed = 0;
  for (const [token, all] of [...Map.groupBy(totals, tokenOf)].slice(0, MAX_TOKENS)) {
    const shown = all.slice(0, MAX_TOTALS);
    const block = shown.map((total) => totalLine(total, context));
    if (token !== null) block.push(`-# ${linked(token, 'token', context)}`);
    // Leaves 100 characters for the last line.
    if ([...lines, ...block].join('\n').length > room - 100) break;
    lines.push(...block);
    listed += transfersOf(shown);
  }
  const count = transfersOf(totals) - listed;
  return count > 0 ? [...lines, context.t('digest.others', counted(count, context))] : lines;
}

const tokenOf = ({ largest }: Total): AddressText | null => largest.transfer.token;
const transfersOf = (totals: Total[]): number => totals.reduce((sum, { transfers }) => sum + transfers, 0);

function totalLine({ transfers, amount, direction, largest, suspect }: Total, context: RenderContext): string {
  const { transfer } = largest;
  const name = assetName(transfer, context);
  const exact = isItem(transfer)
    ? `${number(amount, context)} × ${name}`
    : amount > 0n
      ? whatMoved({ ...transfer, value: amount.toString() }, context)
      : name;
  const what = exact.length <= MAX_SUM ? exact : name;
  return `${suspect ? '⚠️ ' : ''}${VIEW_STYLES[direction].icon} ${context.t('digest.total', { ...counted(transfers, context), what })}`;
}

/** The largest transfer of each of the first totals, as many as fit into a field. */
function largestOf(totals: Total[], context: RenderContext): string {
  const lines = totals
    .filter(({ amount, suspect, largest }) => amount > 0n && !suspect && !isItem(largest.transfer))
    .slice(0, MAX_LARGEST)
    .map((total) => largestLine(total, context));
  while (lines.join('\n').length > MAX_FIELD) lines.pop();
  return lines.join('\n');
}

function largestLine({ largest, direction }: Total, context: RenderContext): string {
  const { transfer, createdAt } = largest;
  const short = `\`${hash(transfer).slice(0, 10)}\``;
  const url = transactionUrl(transfer, context);
  const names = [transfer.from, transfer.to].flatMap((address) => {
    const label = address && labelOf(address, largest);
    return label ? [named(label, context)] : [];
  });
  return [
    `${VIEW_STYLES[direction].icon} ${whatMoved(transfer, context)}`,
    ...(names.length > 0 ? [names.join(' → ')] : []),
    time(new Date(createdAt), TimestampStyles.ShortTime),
    url ? `[${short}](${url})` : short,
  ].join(' · ');
}
