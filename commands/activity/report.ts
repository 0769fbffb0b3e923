import { type APIButtonComponent, ButtonStyle, messageLink } from 'discord.js';
import type { Reply } from '../../src/discord/command.ts';
import { activityCsv } from '../../src/discord/render/csv.ts';
import { balanceRows, blocksLine, sumLine } from '../../src/discord/render/statement.ts';
import {
  addressPage,
  assetName,
  number,
  transactionPage,
  whatMoved,
  worthLine,
} from '../../src/discord/render/wording.ts';
import {
  type Activity,
  type ActivityQuery,
  type AssetTotal,
  type Direction,
  isNoise,
  type PostedIn,
  readMovements,
  summarize,
} from '../../src/domain/activity.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { countedAssets, type StatementOutcome } from '../../src/domain/balance.ts';
import { inTime, SECOND } from '../../src/domain/clock.ts';
import type { HiddenReason } from '../../src/domain/match.ts';
import { linkText } from '../../src/domain/text.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { inDollars, isItem, worthOf } from '../../src/domain/transfer.ts';
import { writeWorth } from '../../src/languages/languages.ts';
import { button, linkButton, rows } from '../shared/components.ts';
import { namesByAddress } from '../shared/names.ts';
import { eachNetwork, hasSeveral, titleOf } from '../shared/networks.ts';
import { embedReply, fullAddress, relativeTime } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { knownIn, renderingOn } from '../shared/tokens.ts';

const MAX_BALANCE_WAIT_MS = 20 * SECOND;
const MAX_BALANCE_ASSETS = 6;

/** The latest ones: somebody waits for the reply. */
const MAX_TRANSFERS = 100_000;

export const PERIODS = {
  '24h': { days: 1, name: 'last 24 hours' },
  '7d': { days: 7, name: 'last 7 days' },
  '30d': { days: 30, name: 'last 30 days' },
};
type PeriodName = keyof typeof PERIODS;

export interface ActivityRequest extends ActivityQuery {
  /** Safe for Discord. */
  name: string;
  period: PeriodName;
  /** null: every network. */
  network: number | null;
  timezone: string;
}

interface ActivityReport extends Activity {
  messages: Map<number, PostedIn>;
  /** How many transfers were summed up, if there were more; null: all of them. */
  cut: number | null;
}

interface NetworkBalances {
  network: number;
  outcome: StatementOutcome;
}

async function readActivity({ history, request, known }: ReportContext): Promise<ActivityReport> {
  const { guildId, address, channelIds, since, until, timezone } = request;
  const { movements, cut } = movementsFor(request, history);
  const listed = new Set(known.flatMap(({ network, token, cataloged }) => (cataloged ? `${network} ${token}` : [])));
  const isListed = (network: number, token: AddressText) => listed.has(`${network} ${token}`);
  const activity = await summarize(address, movements, { since, now: until, timezone }, isListed);
  const ids = activity.largest.map(({ transferId }) => transferId);
  const messages = await history.postedIn(guildId, ids, channelIds);
  return { ...activity, messages: new Map(messages.map((message) => [message.transferId, message])), cut: cut() };
}

/** `left`: how many of the oldest transfers do not fit. */
export async function readActivityFile(
  request: ActivityRequest,
  balances: readonly NetworkBalances[],
  context: Context,
): Promise<{ csv: string; omitted: number; cut: number | null }> {
  const { networks } = context.settings;
  const names = await namesByAddress(request.guildId, context);
  const { movements, cut } = movementsFor(request, context.history);
  const rows = balances.flatMap(({ network, outcome }) => {
    const name = networks.length > 1 ? (networks.find(({ id }) => id === network)?.name ?? `#${network}`) : null;
    return outcome.status === 'read' ? [balanceRows(outcome.statement, name)] : [];
  });
  const around = { above: rows.flatMap(({ above }) => above), below: rows.flatMap(({ below }) => below) };
  const file = await activityCsv(movements, request.address, names, networks, around);
  return { ...file, cut: cut() };
}

function movementsFor(request: ActivityRequest, history: Context['history']) {
  const read = (until: number, limit: number) => history.decidedTransfers({ ...request, until }, limit);
  return readMovements(read, request.until, MAX_TRANSFERS);
}

export const readBalances = (
  { guildId, address, network: only, since, until }: ActivityRequest,
  context: Context,
): Promise<NetworkBalances[]> =>
  context.guildQueue.run(guildId, 'read', async () => {
    const found: NetworkBalances[] = [];
    for (const { chain, network, balances, statement } of eachNetwork(context, only)) {
      if (chain === null) continue;
      const { scope, wallets } = await balances.wallets(guildId, network.id);
      const wallet = wallets.find((wallet) => wallet.address === address);
      if (!wallet) continue;
      const wants = countedAssets(await knownIn(guildId, context, network.id));
      const period = { since: Math.max(since, wallet.since), until };
      const request = { network: network.id, scope, address, ...period, max: MAX_BALANCE_ASSETS, wants };
      const outcome = (await inTime(statement(request), MAX_BALANCE_WAIT_MS, context)) ?? { status: 'away' as const };
      found.push({ network: network.id, outcome });
    }
    return found;
  });

interface ReportContext extends Context {
  request: ActivityRequest;
  known: readonly KnownToken[];
}

const NAMES = Object.keys(PERIODS) as PeriodName[];
const ICONS: Record<Direction, string> = { incoming: '📥', outgoing: '📤', other: '🔁' };
const DIRECTIONS: readonly Direction[] = ['incoming', 'outgoing', 'other'];

export const periodOf = (name: string | null | undefined): PeriodName =>
  NAMES.find((period) => period === name) ?? '7d';

export async function report(balances: readonly NetworkBalances[], context: ReportContext): Promise<Reply> {
  const { t, settings, request } = context;
  const found = await readActivity(context);
  const moving = found.incoming + found.outgoing + found.other > 0;
  const png = moving ? await drawn(found, context) : null;
  const counts = DIRECTIONS.filter(
    (direction) => found[direction] > 0 || (direction !== 'other' && found.other === 0),
  ).map((direction) => t(`activity.${direction}`, { count: found[direction] }));
  const silent = found.hidden.length > 0 ? t('activity.nothing') : t('activity.nothingAtAll');
  const period = t(`activity.period.${request.period}`);
  const title = t('activity.title', { name: request.name, period });
  const picture = `activity-${request.period}.png`;
  const lines = [
    fullAddress(request.address, settings),
    ...(moving ? counts : [silent]),
    ...worthLine(
      DIRECTIONS.map((direction) => [ICONS[direction], found.worth[direction]]),
      found.unpriced,
      context,
    ),
    found.cut === null ? null : t('subscription.dryRun.cut', { count: found.cut }),
    moving && png === null ? t('activity.noPicture') : null,
    ...section(t('activity.totals'), totalsOf(found, context)),
    ...section(t('activity.balances'), await balanceLines(balances, context)),
    ...section(t('activity.largest'), largestOf(found, context)),
    ...section(t('activity.hidden'), hiddenOf(found, context)),
  ];
  const reply = embedReply('info', title, lines, {
    footer: { text: t(request.period === '24h' ? 'activity.hours' : 'activity.days', { timezone: request.timezone }) },
    ...(png && { image: { url: `attachment://${picture}` } }),
    components: rows(buttons(context)),
  });
  return { ...reply, ...(png && { files: [{ name: picture, data: png }] }) };
}

/** null if it cannot be drawn: the text contains everything. */
async function drawn({ buckets }: Activity, { chart }: ReportContext): Promise<Buffer | null> {
  const bars = {
    labels: buckets.map(({ label }) => label),
    up: buckets.map(({ incoming }) => incoming),
    down: buckets.map(({ outgoing }) => outgoing),
    other: buckets.map(({ other }) => other),
  };
  try {
    return await chart(bars);
  } catch {
    return null;
  }
}

/** Not a field of the embed, which is too short for links. */
const section = (heading: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? ['', `**${heading}**`, ...lines] : [];

function totalsOf({ totals, assets }: Activity, context: ReportContext): string[] {
  const { t } = context;
  const omitted = assets - totals.length;
  const lines = totals.flatMap((total) =>
    DIRECTIONS.filter((direction) => total[direction].transfers > 0).map((direction) => {
      const count = total[direction].transfers;
      const line = `${iconOf(direction, total)} ${t('activity.total', { what: sumOf(total, direction, context), count })}`;
      const { worth } = total[direction];
      const known = worth ? ` · ${writeWorth(inDollars(worth), context.language)}` : '';
      return `${line}${known}${networkIn(total.network, context)}`;
    }),
  );
  const imitates = totals.some(({ imitation }) => imitation);
  return [
    ...lines,
    ...(omitted > 0 ? [t('activity.moreTokens', { count: omitted })] : []),
    ...(imitates ? [t('activity.imitation')] : []),
  ];
}

/** A token that only copies a known symbol must not look like the real one. */
const iconOf = (direction: Direction, { imitation }: { imitation: boolean }): string =>
  `${imitation ? '⚠️ ' : ''}${ICONS[direction]}`;

const networkIn = (id: number, { request, settings }: ReportContext): string =>
  request.network === null && hasSeveral(settings) ? ` · ${titleOf(id, settings)}` : '';

function sumOf({ network, transfer, ...sums }: AssetTotal, direction: Direction, context: ReportContext): string {
  const rendering = renderingOn(context, network, context.known);
  const { value } = sums[direction];
  // The amount is unknown, which is not zero.
  if (transfer.value === null && value === 0n) return assetName(transfer, rendering);
  if (!isItem(transfer)) return whatMoved({ ...transfer, value: value.toString() }, rendering);
  return context.t('activity.pieces', { amount: number(value, rendering), what: assetName(transfer, rendering) });
}

function largestOf({ largest, messages }: ActivityReport, context: ReportContext): string[] {
  const { t, language, request } = context;
  return largest.map(({ network, transferId, transfer, count, direction, at, imitation }) => {
    const worth = worthOf(transfer, count);
    const message = messages.get(transferId);
    const rendering = renderingOn(context, network, context.known);
    const what = whatMoved(transfer, rendering);
    const url = transactionPage(rendering, transfer.txHash);
    const linked = url ? `[${linkText(what)}](${url})` : what;
    const link = message
      ? [`[${t('activity.message')}](${messageLink(message.channelId, message.messageId, request.guildId)})`]
      : [];
    return [
      `${iconOf(direction, { imitation })} ${linked}${networkIn(network, context)}`,
      ...(worth ? [writeWorth(inDollars(worth), language)] : []),
      relativeTime(at),
      ...link,
    ].join(' · ');
  });
}

/** The coin has the operator's name here, unlike in `context.known`. */
async function balanceLines(all: readonly NetworkBalances[], context: ReportContext): Promise<string[]> {
  const { t, settings, request } = context;
  const known = await knownIn(request.guildId, context);
  return all.flatMap(({ network, outcome }) => {
    const rendering = renderingOn(context, network, known);
    const title = hasSeveral(settings) ? [`*${titleOf(network, settings)}*`] : [];
    if (outcome.status !== 'read') return [...title, `-# ${t(`activity.balance.${outcome.status}Yet`)}`];
    const { statement } = outcome;
    return [
      ...title,
      ...statement.sums.map((sum) => sumLine(sum, statement, rendering)),
      blocksLine(statement, rendering),
    ];
  });
}

function hiddenOf({ hidden }: Activity, { t }: ReportContext): string[] {
  const lines = hidden.map(({ reason, transfers }) => {
    // A later version may have stored a reason that this one does not know.
    const word = t(`activity.reason.${reason as HiddenReason}`, { defaultValue: reason });
    return `${t('activity.hiddenReason', { count: transfers, reason: word })}${isNoise(reason) ? ' \\*' : ''}`;
  });
  return hidden.some(({ reason }) => isNoise(reason)) ? [...lines, t('activity.noise')] : lines;
}

function buttons({ t, settings, request: { address, period, network } }: ReportContext): APIButtonComponent[] {
  const text = `${checksumAddress(address)}${network === null ? '' : `:${network}`}`;
  const periods = NAMES.map((name) => {
    const style = name === period ? ButtonStyle.Primary : ButtonStyle.Secondary;
    return button(t(`activity.button.${name}`), `activity:show:${name}:${text}`, style, name === period);
  });
  const csv = button(t('activity.csv'), `activity:csv:${period}:${text}`);
  const page = addressPage(settings, address);
  const explorer = page ? [linkButton(t('activity.explorer'), page)] : [];
  return [...periods, csv, ...explorer];
}
