import { type APIEmbed, type RESTPostAPIChannelMessageJSONBody, TimestampStyles, time } from 'discord.js';
import {
  type Alert,
  type DigestReason,
  isForgeable,
  isKnown,
  isSuspect,
  isWorthless,
  mentionsOf,
  transactionOf,
} from '../../domain/alert.ts';
import { MINUTE } from '../../domain/clock.ts';
import { leaves } from '../../domain/subscription.ts';
import { amountOf, byWorth, inDollars, isItem, isZero, sumOfWorth, worthOf } from '../../domain/transfer.ts';
import { writeWorth } from '../../languages/languages.ts';
import { MAX_DESCRIPTION } from '../command.ts';
import { cardMessage, MAX_HEADLINES } from './alert.ts';
import { compactLines, headlineAbove, titleOnly } from './compact.ts';
import { alertsCsv } from './csv.ts';
import { type Alerts, asShown, VIEW_STYLES } from './transaction.ts';
import { otherProjectsOf, WARNING_COLOR, warningsOf } from './warnings.ts';
import {
  assetKey,
  assetName,
  counted,
  duration,
  fitting,
  linked,
  MAX_SUM,
  number,
  onNetwork,
  type RenderContext,
  type RenderSettings,
  renderContext,
  transferCount,
  whatMoved,
  worthLine,
} from './wording.ts';

/** A digest of more transfers has a CSV file, unless it lists all. */
const MAX_LISTED = 10;
/** If the listed transactions need more messages than this, only as many as fit into one are listed. */
const MAX_MESSAGES = 3;
/** Characters for the totals below what is listed. */
const TOTALS_ROOM = 900;
/** Characters for the lines above what is listed, unless they warn of something. */
const INTRO_ROOM = 500;
const MAX_TOKENS = 12;
/** Of one token: one per direction, and as many for suspicious alerts. */
const MAX_TOTALS = 6;
const COLOR = 0x6e7681;

/** `used`: how many alerts the message counts, from the first one. */
export interface Digest {
  payload: RESTPostAPIChannelMessageJSONBody;
  csv: string | null;
  used: number;
}

type Direction = 'incoming' | 'outgoing' | 'internal';

type Total = ReturnType<typeof totalOf>;

/**
 * Renders as many alerts as fit into a message and its file, from the first one. Significant alerts are listed first,
 * then the other amounts of known assets; the rest is counted in totals. With `now` it mentions the subscriptions'
 * roles that are due then; null: it was posted before, shows the same alerts, and mentions nobody.
 */
export async function renderDigest(
  settings: RenderSettings,
  due: Alert[],
  reference: string,
  reason: DigestReason = 'backlog',
  now: number | null = null,
): Promise<Digest> {
  const wanted = now === null ? due : shareOf(due, reason, renderContext(due, settings));
  const areFew = (list: Alert[]) => transferCount(list.map(asShown)) <= MAX_LISTED;
  const file = areFew(wanted) ? null : await alertsCsv(wanted, settings.networks);
  const alerts = file ? wanted.slice(0, file.used) : wanted;
  const roles = now === null ? [] : mentionsOf(alerts, now).roles;
  const context = renderContext(alerts, settings);
  const { t } = context;
  const intro = introOf(alerts, reason, file !== null, context);
  const room = MAX_DESCRIPTION - intro.join('\n').length - 1;
  const all = areFew(alerts) ? listOf(alerts, room, context) : null;
  const embed: APIEmbed = {
    title: t('digest.title', counted(transferCount(alerts), context)),
    color: alerts.some(isSuspect) ? WARNING_COLOR : COLOR,
    description: [...intro, ...(all ?? summary(alerts, room, context))].join('\n'),
  };
  const matters =
    roles.length === 0
      ? []
      : rankedOf(alerts.filter((alert) => alert.isSignificant && isThere(alert))).slice(0, MAX_HEADLINES - 1);
  const headlines = [embed.title!, ...matters.map((together) => headlineAbove(together, context))];
  const payload = cardMessage([embed], headlines, roles, reference, context);
  return { payload, csv: file?.text ?? null, used: alerts.length };
}

function introOf(alerts: Alert[], reason: DigestReason, hasFile: boolean, context: RenderContext): string[] {
  const { t } = context;
  const suspects = alerts.filter((alert) => isSuspect(alert) && isThere(alert));
  const gone = alerts.filter((alert) => !isThere(alert)).length;
  // The alerts are sorted by when they were due, not by when they arrived.
  const arrivals = alerts.map(({ createdAt }) => createdAt).sort((a, b) => a - b);
  const [earliest, latest] = [arrivals[0]!, arrivals.at(-1)!];
  const [first, last] = [earliest, latest].map((at) => time(new Date(at), TimestampStyles.LongDateShortTime));
  return [
    Math.floor(earliest / MINUTE) === Math.floor(latest / MINUTE) ? first! : t('digest.period', { first, last }),
    ...worthLines(alerts, context),
    t(`digest.${reason}`),
    ...(hasFile ? [t('digest.file')] : []),
    ...(gone > 0 ? [t('digest.notOnChain', counted(gone, context))] : []),
    ...foundLines(alerts, context),
    ...(suspects.length > 0
      ? ['', t('digest.suspect', counted(transferCount(suspects), context)), ...warningsOf(suspects, context)]
      : []),
    ...otherProjectsOf(
      alerts.filter((alert) => !isSuspect(alert)),
      context,
    ),
    '',
  ];
}

/** How many alerts were found on the chain instead of being delivered, and the longest delay. */
function foundLines(alerts: readonly Alert[], context: RenderContext): string[] {
  const lateness = ({ warnings }: Alert) => warnings.find((warning) => warning.kind === 'found')?.ms ?? null;
  const found = alerts.filter((alert) => lateness(alert) !== null);
  const ms = found.reduce((most, alert) => Math.max(most, lateness(alert)!), 0);
  const words = { ...counted(transferCount(found), context), duration: duration(ms, context) };
  return found.length === 0 ? [] : [context.t('digest.found', words)];
}

/** The due alerts of the next message: fewer than all if the listed transactions need two or three. */
function shareOf(due: Alert[], reason: DigestReason, context: RenderContext): Alert[] {
  const intro = introOf(due, reason, true, context).join('\n').length + 1;
  const most = MAX_DESCRIPTION - (due.every(isListed) ? 0 : TOTALS_ROOM);
  const room = most - intro;
  const listed = transactionsOf(due).filter((together) => together.some(isListed));
  const significant = listed.filter((together) => together.some(({ isSignificant }) => isSignificant));
  for (const some of [listed, significant]) {
    const lines = some.values().map((together) => lineOf(together, context));
    // Not by their actual room: strangers can cause warnings.
    const texts = allFitting(lines, MAX_MESSAGES * (most - INTRO_ROOM));
    if (texts === null) continue;
    const beyond = some[fitting(texts, room).length];
    const end = beyond ? due.indexOf(beyond[0]) : 0;
    return end > 0 ? due.slice(0, end) : due;
  }
  return due;
}

/** null: they do not fit. Takes no more lines than needed: strangers can cause 20,000. */
function allFitting(lines: Iterable<string>, room: number): string[] | null {
  const shown: string[] = [];
  let remaining = room;
  for (const line of lines) {
    remaining -= line.length + 1;
    if (remaining < 0) return null;
    shown.push(line);
  }
  return shown;
}

const isThere = ({ count }: Alert): boolean => count > 0;

const transactionsOf = (alerts: Alert[]): Alerts[] =>
  [...Map.groupBy(alerts, (alert) => `${transactionOf(alert)} ${isThere(alert)}`).values()] as Alerts[];

/** Without a link to an address: a suspicious one must not invite a click. */
function lineOf(together: Alerts, context: RenderContext): string {
  const line = titleOnly(together.map(asShown) as Alerts, context);
  return `${together.some(isSuspect) ? '⚠️ ' : ''}${isThere(together[0]) ? line : `~~${line}~~`}`;
}

function summary(alerts: Alert[], room: number, context: RenderContext): string[] {
  const { t } = context;
  const full = listedLines(alerts, room, context);
  const shown = full.alerts.size === alerts.length ? full : listedLines(alerts, room - TOTALS_ROOM, context);
  const rest = alerts.filter((alert) => !shown.alerts.has(alert) && isThere(alert));
  const dust = rest.filter(isWorthless);
  // What could not be checked may have left: its amount is summed up.
  const isUnlisted = ({ warnings }: Alert) => warnings.some(({ kind }) => kind === 'uncataloged');
  const forged = rest.filter((alert) => isForgeable(alert) && isUnlisted(alert) && !isSuspect(alert));
  const least = (key: 'digest.worthless' | 'digest.forged', some: Alert[]) => {
    const tokens = new Set(some.map(({ transfer }) => transfer.token)).size;
    const words = {
      ...counted(transferCount(some), context),
      tokens: t('digest.uncataloged', counted(tokens, context)),
    };
    return some.length === 0 ? [] : [t(key, words)];
  };
  const lines = [...least('digest.worthless', dust), ...least('digest.forged', forged)];
  const inLines = new Set([...dust, ...forged]);
  const summed = rest.filter((alert) => !inLines.has(alert));
  if (summed.some(isForgeable)) lines.unshift(t('digest.claimable'));
  const totals = [...Map.groupBy(summed, totalKey).values()]
    .map(totalOf)
    .sort(
      (a, b) =>
        Number(isKnown(b.example)) - Number(isKnown(a.example)) ||
        byWorth(a.worth, b.worth) ||
        b.transfers - a.transfers,
    );
  const listed = shown.lines.length > 0 && totals.length > 0 ? [...shown.lines, t('digest.rest')] : shown.lines;
  const used = [...listed, ...lines].join('\n').length;
  return [...listed, ...totalLines(totals, room - used - 2, context), ...lines];
}

/** Listed as long as there is room: significant, or an amount of an asset that nobody made up. */
const isListed = (alert: Alert): boolean =>
  alert.isSignificant || (isKnown(alert) && !isSuspect(alert) && !isZero(alert.transfer));

/**
 * Significant ones first, then what left, then by worth, network, asset and amount; last what the chain does not have.
 */
function rankedOf(alerts: Alert[]): Alerts[] {
  // Anybody can move much of a watched token between wallets of their own.
  const isLeaving = ({ matches }: Alert) => matches.some(({ perspective }) => leaves(perspective));
  const rank = (main: Alert) => (isThere(main) ? 0 : 4) + (main.isSignificant ? 0 : 2) + (isLeaving(main) ? 0 : 1);
  return transactionsOf(alerts)
    .flatMap((together) => {
      const main = together.find(({ isSignificant }) => isSignificant) ?? together.find(isListed);
      return main ? [{ together, main, rank: rank(main) }] : [];
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        byWorth(worthOf(a.main.transfer), worthOf(b.main.transfer)) ||
        a.main.network - b.main.network ||
        (a.main.transfer.token ?? '').localeCompare(b.main.transfer.token ?? '') ||
        Number(amountOf(b.main.transfer) - amountOf(a.main.transfer)),
    )
    .map(({ together }) => together);
}

const detailsOf = (transactions: readonly Alerts[], context: RenderContext): Iterable<string> =>
  transactions
    .values()
    .flatMap((together) =>
      together.some(isSuspect) || !isThere(together[0]) ? [lineOf(together, context)] : compactLines(together, context),
    );

function listedLines(
  alerts: Alert[],
  room: number,
  context: RenderContext,
): { lines: string[]; alerts: ReadonlySet<Alert> } {
  const ranked = rankedOf(alerts);
  const detailed = allFitting(detailsOf(ranked, context), room + 1);
  if (detailed !== null) return { lines: detailed, alerts: new Set(ranked.flat()) };
  const short = ranked.values().map((together) => lineOf(together, context));
  const lines = fitting(short, room);
  return { lines, alerts: new Set(ranked.slice(0, lines.length).flat()) };
}

function listOf(alerts: Alert[], room: number, context: RenderContext): string[] | null {
  const ranked = rankedOf(alerts);
  const listed = new Set(ranked.flat());
  const rest = transactionsOf(alerts.filter((alert) => !listed.has(alert)));
  return allFitting(detailsOf([...ranked, ...rest], context), room + 1);
}

function worthLines(alerts: readonly Alert[], context: RenderContext): string[] {
  const sums = new Map<Direction, bigint>();
  let unpriced = 0;
  for (const alert of alerts) {
    const worth = isSuspect(alert) ? null : worthOf(alert.transfer, alert.count);
    const direction = directionOf(alert);
    if (worth) sums.set(direction, (sums.get(direction) ?? 0n) + worth);
    else if (alert.transfer.price === null && isListed(alert) && !isItem(alert.transfer)) unpriced += alert.count;
  }
  const icons = [...sums].map(([direction, sum]) => [VIEW_STYLES[direction].icon, sum] as const);
  return worthLine(icons, unpriced, context);
}

/** Transfers without an amount are in no sum. */
function totalKey(alert: Alert): string {
  const { network, transfer } = alert;
  const isSummed = isItem(transfer) || transfer.value !== null;
  return `${network} ${directionOf(alert)} ${assetKey(transfer)} ${isSuspect(alert)} ${isSummed}`;
}

function totalOf(alerts: Alert[]) {
  const [example] = alerts as Alerts;
  return {
    example,
    direction: directionOf(example),
    isTrap: isSuspect(example),
    transfers: transferCount(alerts),
    amount: alerts.reduce((sum, { transfer, count }) => sum + amountOf(transfer) * BigInt(count), 0n),
    worth: sumOfWorth(alerts),
  };
}

function directionOf(alert: Alert): Direction {
  const seen = new Set(alert.matches.map((match) => match.perspective));
  if (seen.has('incoming') === seen.has('outgoing')) return 'internal';
  return seen.has('incoming') ? 'incoming' : 'outgoing';
}

/** As many totals as fit; the last line counts the others. */
function totalLines(totals: Total[], room: number, context: RenderContext): string[] {
  const lines: string[] = [];
  let listed = 0;
  let heading: string | undefined;
  for (const all of byNetworkAndToken(totals).slice(0, MAX_TOKENS)) {
    const shown = all.slice(0, MAX_TOTALS);
    const { example } = all[0]!;
    const own = onNetwork([example], context);
    const block = shown.map((total) => totalLine(total, onNetwork([total.example], context)));
    const { token } = example.transfer;
    if (token !== null) block.push(`-# ${linked(token, 'token', own)}`);
    if (own.network !== undefined && own.network !== heading) block.unshift(`**${own.network}**`);
    heading = own.network;
    // Leaves 100 characters for the last line.
    if ([...lines, ...block].join('\n').length > room - 100) break;
    lines.push(...block);
    listed += transfersOf(shown);
  }
  const count = transfersOf(totals) - listed;
  return count > 0 ? [...lines, context.t('digest.others', counted(count, context))] : lines;
}

const byNetworkAndToken = (totals: Total[]): Total[][] =>
  [...Map.groupBy(totals, ({ example }) => example.network).values()].flatMap((ofNetwork) => [
    ...Map.groupBy(ofNetwork, ({ example }) => example.transfer.token).values(),
  ]);
const transfersOf = (totals: Total[]): number => totals.reduce((sum, { transfers }) => sum + transfers, 0);

function totalLine({ transfers, amount, worth, direction, example, isTrap }: Total, context: RenderContext): string {
  const { transfer } = example;
  const name = assetName(transfer, context);
  const exact = isItem(transfer)
    ? `${number(amount, context)} × ${name}`
    : amount > 0n
      ? whatMoved({ ...transfer, value: amount.toString() }, context)
      : name;
  const what = exact.length <= MAX_SUM ? exact : name;
  return `${isTrap ? '⚠️ ' : ''}${VIEW_STYLES[direction].icon} ${context.t('digest.total', { ...counted(transfers, context), what })}${worth ? ` · ${writeWorth(inDollars(worth), context.language)}` : ''}`;
}
