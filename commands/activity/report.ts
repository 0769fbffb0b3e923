import { type APIButtonComponent, ButtonStyle, messageLink } from 'discord.js';
import type { Reply } from '../../src/discord/command.ts';
import { type Activity, type AssetTotal, type Direction, isNoise } from '../../src/domain/activity.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { addressPage, transactionPage } from '../../src/domain/explorer.ts';
import type { HiddenReason } from '../../src/domain/match.ts';
import { linkText } from '../../src/domain/text.ts';
import { isItem } from '../../src/domain/transfer.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { writeNumber } from '../../src/languages/number.ts';
import { button, linkButton, rows } from '../shared/components.ts';
import { embedReply, fullAddress, relativeTime } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import type { ActivityReport } from './read.ts';

interface Needs extends ContextWith<'settings' | 'moved' | 'assetName' | 'chart'> {
  /** Tokens whose names may be trusted. */
  cataloged: ReadonlySet<AddressText>;
}

/** How far back. */
export type PeriodName = '24h' | '7d' | '30d';

/** What is shown. */
export interface Shown {
  address: AddressText;
  /** Safe for Discord. */
  name: string;
  period: PeriodName;
  timezone: string;
}

const NAMES: readonly PeriodName[] = ['24h', '7d', '30d'];
const ICONS: Record<Direction, string> = { incoming: '📥', outgoing: '📤', other: '🔁' };
const DIRECTIONS: readonly Direction[] = ['incoming', 'outgoing', 'other'];

/** The chosen period; a week by default. */
export const periodOf = (name: string | null | undefined): PeriodName => NAMES.find((one) => one === name) ?? '7d';

/** The reply: the chart, and all that matters as text too. */
export async function report(found: ActivityReport, shown: Shown, guildId: string, context: Needs): Promise<Reply> {
  const { t, settings } = context;
  const moving = found.incoming + found.outgoing + found.other > 0;
  const png = moving ? await drawn(found, context) : null;
  const counts = DIRECTIONS.filter(
    (direction) => found[direction] > 0 || (direction !== 'other' && found.other === 0),
  ).map((direction) => t(`activity.${direction}`, { count: found[direction] }));
  const silent = found.hidden.length > 0 ? t('activity.nothing') : t('activity.nothingAtAll');
  const period = t(`activity.period.${shown.period}`);
  const title = t('activity.title', { name: shown.name, period });
  const picture = `activity-${shown.period}.png`;
  const lines = [
    fullAddress(shown.address, settings),
    ...(moving ? counts : [silent]),
    found.cut === null ? null : t('subscription.dryRun.cut', { count: found.cut }),
    moving && png === null ? t('activity.noPicture') : null,
    ...section(t('activity.totals'), totalsOf(found, context)),
    ...section(t('activity.largest'), largestOf(found, guildId, context)),
    ...section(t('activity.hidden'), hiddenOf(found, context)),
  ];
  const reply = embedReply('info', title, lines, {
    footer: { text: t(shown.period === '24h' ? 'activity.hours' : 'activity.days', { timezone: shown.timezone }) },
    ...(png && { image: { url: `attachment://${picture}` } }),
    components: rows(buttons(shown, context)),
  });
  return { ...reply, ...(png && { files: [{ name: picture, data: png }] }) };
}

/** null if it cannot be drawn: the text contains everything. */
async function drawn({ buckets }: Activity, { chart, language }: Needs): Promise<Buffer | null> {
  const bars = {
    labels: buckets.map(({ label }) => label),
    up: buckets.map(({ incoming }) => incoming),
    down: buckets.map(({ outgoing }) => outgoing),
    other: buckets.map(({ other }) => other),
    language,
  };
  try {
    return await chart(bars);
  } catch {
    return null;
  }
}

/** Not a field of the embed, which is too short for links. */
const section = (heading: string, lines: string[]): string[] =>
  lines.length > 0 ? ['', `**${heading}**`, ...lines] : [];

function totalsOf({ totals, assets }: Activity, context: Needs): string[] {
  const { t } = context;
  const left = assets - totals.length;
  const lines = totals.flatMap((total) =>
    DIRECTIONS.filter((direction) => total[direction].transfers > 0).map((direction) => {
      const count = total[direction].transfers;
      return `${iconOf(direction, total)} ${t('activity.total', { what: sumOf(total, direction, context), count })}`;
    }),
  );
  const imitates = totals.some(({ imitation }) => imitation);
  return [
    ...lines,
    ...(left > 0 ? [t('activity.moreTokens', { count: left })] : []),
    ...(imitates ? [t('activity.imitation')] : []),
  ];
}

/** A token that only copies a known symbol must not look like the real one. */
const iconOf = (direction: Direction, { imitation }: { imitation: boolean }): string =>
  `${imitation ? '⚠️ ' : ''}${ICONS[direction]}`;

function sumOf({ transfer, ...sums }: AssetTotal, direction: Direction, context: Needs): string {
  const { t, language, cataloged } = context;
  const { value } = sums[direction];
  // The amount is unknown, which is not zero.
  if (transfer.value === null && value === '0') return context.assetName(transfer, language, cataloged);
  if (!isItem(transfer)) return context.moved({ ...transfer, value }, language, cataloged);
  return t('activity.pieces', {
    amount: writeNumber(value, language),
    what: context.assetName(transfer, language, cataloged),
  });
}

function largestOf({ largest, messages }: ActivityReport, guildId: string, context: Needs): string[] {
  const { t, language, moved, settings, cataloged } = context;
  return largest.map(({ transferId, transfer, direction, at, imitation }) => {
    const message = messages.get(transferId);
    const what = moved(transfer, language, cataloged);
    const url = transactionPage(settings, transfer.txHash);
    const linked = url ? `[${linkText(what)}](${url})` : what;
    const link = message
      ? [`[${t('activity.message')}](${messageLink(message.channelId, message.messageId, guildId)})`]
      : [];
    return [`${iconOf(direction, { imitation })} ${linked}`, relativeTime(at), ...link].join(' · ');
  });
}

function hiddenOf({ hidden }: Activity, { t }: Needs): string[] {
  const lines = hidden.map(({ reason, transfers }) => {
    // A later version may have stored a reason that this one does not know.
    const word = t(`activity.reason.${reason as HiddenReason}`, { defaultValue: reason });
    return `${t('activity.hiddenReason', { count: transfers, reason: word })}${isNoise(reason) ? ' \\*' : ''}`;
  });
  return hidden.some(({ reason }) => isNoise(reason)) ? [...lines, t('activity.noise')] : lines;
}

function buttons({ address, period }: Shown, { t, settings }: Needs): APIButtonComponent[] {
  const text = checksumAddress(address);
  const periods = NAMES.map((name) => {
    const style = name === period ? ButtonStyle.Primary : ButtonStyle.Secondary;
    return button(t(`activity.button.${name}`), `activity:show:${name}:${text}`, style, name === period);
  });
  const csv = button(t('activity.csv'), `activity:csv:${period}:${text}`);
  const page = addressPage(settings, address);
  const explorer = page ? [linkButton(t('activity.explorer'), page)] : [];
  return [...periods, csv, ...explorer];
}
