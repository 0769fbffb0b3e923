import { type AddressText, checksumAddress, ZERO_ADDRESS } from '../../domain/address.ts';
import { type Alert, isKnown, isWorthless, type View, viewOf } from '../../domain/alert.ts';
import { seenFrom } from '../../domain/match.ts';
import { linkText } from '../../domain/text.ts';
import { isDifference, type Transfer } from '../../domain/transfer.ts';
import {
  type AlertPart,
  type Alerts,
  counterpartyOf,
  countOf,
  idsOf,
  inTransfers,
  type Line,
  legsOf,
  partiesOn,
  partWords,
  type Shown,
  type Side,
  shownOf,
  sumWords,
  swapWords,
  totalMoved,
  VIEW_STYLES,
  worthlessCount,
} from './transaction.ts';
import { chainRemarks, differingDigits, likeOf, remarksOf, warnedTitle } from './warnings.ts';
import {
  addressPage,
  andMore,
  assetKey,
  assetName,
  counted,
  fitting,
  hash,
  nameOf,
  number,
  onNetwork,
  type RenderContext,
  transactionPage,
  transferCount,
  worthOfAll,
} from './wording.ts';

/** More transfers of one transaction are summed up by asset. */
const MAX_LEGS = 10;
const MAX_PARTIES = 5;
const MAX_OWNERS = 3;
/** A token may claim 255 decimals. */
const MAX_HEADLINE = 250;
const MINUS = '−';
/** The sign of the amount, and where it went: these parties unless they are the owner, and a word. */
const WAYS = {
  incoming: { sign: '+', sides: ['from'], word: null },
  mint: { sign: '+', sides: ['to'], word: null },
  outgoing: { sign: MINUS, sides: ['to'], word: null },
  burn: { sign: MINUS, sides: ['from'], word: 'alert.burned' },
  internal: { sign: '', sides: [], word: 'alert.internalMove' },
  self: { sign: '', sides: [], word: 'alert.selfMove' },
  token: { sign: '', sides: ['from', 'to'], word: null },
} as const satisfies Record<View, { sign: string; sides: readonly Side[]; word: string | null }>;
const BETWEEN = ' · ';
/** Characters of the second line, without the link to the transaction. */
const MAX_FACTS = 2_000 - BETWEEN.length;
/** More sums never fit into them, and are not written: a stranger can cause thousands. */
const MAX_SUMS = 200;

type Way = { kind?: Line['kind']; view: View; alerts: readonly Alert[] };

/**
 * Two lines: the wallet, what and how much; then the counterparties and the transaction; a third one for remarks. The
 * transaction's hash and every address that is named are complete, as a link's target or as text.
 */
export function compactLines(all: Alerts, given: RenderContext): string[] {
  const shown = shownOf(all, { ...given, linksTokens: true });
  const { alerts, worthless, context } = shown;
  if (isWorthless(alerts[0])) return [worthlessLine(shown)];
  let facts: string[] = [];
  const isLinked = context.explorerUrl !== undefined && !context.unlinked;
  if (!isLinked || context.plainTitles) {
    // Where the title has no links, the watched addresses follow below.
    const own = new Set<AddressText>();
    for (const { matches } of alerts) for (const { address } of matches) own.add(address);
    for (const address of own)
      facts.push(isLinked ? partyName(address, alerts, context, true) : `\`${checksumAddress(address)}\``);
  }
  facts.push(...factsOf(shown));
  if (facts.join(BETWEEN).length > MAX_FACTS) {
    // A transaction fits into one message whatever its size.
    const fit = Math.max(1, fitting(facts, MAX_FACTS + BETWEEN.length, BETWEEN.length).length);
    facts = [...facts.slice(0, fit), ...andMore(facts.length - fit, context)];
  }
  facts.push(transactionFact(alerts[0], context));
  const lines = [context.plainTitles ? headlineOf(alerts, context) : titleOf(shown), `-# ${facts.join(BETWEEN)}`];
  if (worthless.length > 0) lines.push(worthlessCount(worthless, context));
  // The title shows the count.
  const remarks = remarksOf(alerts, context, { isCompact: true });
  if (remarks.length > 0) lines.push(`-# ${remarks.join(' ')}`);
  return lines;
}

function worthlessLine({ alerts, parts, context }: Shown): string {
  const [first] = alerts;
  const isUnchecked = first.warnings.some(({ kind }) => kind === 'unchecked');
  const [part] = parts;
  const more = transferCount(alerts) - transferCount(part.alerts);
  const facts = [
    titleOf(titledAlone(part, context)),
    context.t(isUnchecked ? 'alert.uncheckedToken' : 'alert.uncatalogedToken'),
    ...worthOfAll(part.alerts, context),
    ...(more > 0 ? [context.t('alert.moreUncataloged', counted(more, context))] : []),
    transactionFact(first, context),
    ...chainRemarks(first, context),
  ];
  return `-# ${facts.join(BETWEEN)}`;
}

/**
 * The title with a link to the transaction, but with no link to an address. Of several parts it names those that nobody
 * made up.
 */
export function titleOnly(all: Alerts, given: RenderContext): string {
  const shown = shownOf(all, { ...given, unlinked: true });
  const { parts, context } = shown;
  const known = parts.filter((part) => part.alerts.some(isKnown)).slice(0, MAX_LEGS);
  const titled =
    known.length === 0 || onlySum(shown) !== null ? [shown] : known.map((part) => titledAlone(part, context));
  const rest = transferCount(all) - transferCount(titled.flatMap(({ alerts }) => alerts));
  const titles = [titled.map(titleOf).join(' · '), ...andMore(rest, context)].join(' ');
  return `${titles} · ${transactionFact(all[0], context)}`;
}

const titledAlone = (part: AlertPart, context: RenderContext): Shown => ({
  alerts: part.alerts as Alerts,
  parts: [part],
  worthless: [],
  context,
});

/** Without links, for a push notification. Of several parts it names the first. */
function headlineOf(all: Alerts, given: RenderContext): string {
  const shown = shownOf(all, { ...given, linksTokens: false, plainNames: true });
  const { alerts, parts, context } = shown;
  const isOne = parts.length === 1 || onlySum(shown) !== null;
  const titled = isOne ? shown : titledAlone(parts[0], context);
  const more = isOne ? [] : andMore(parts.length - 1, context);
  const words = [`${titleOf(titled)}${ways(parts[0], titled.alerts, context)}`, ...more].join(' ');
  const { icon } = VIEW_STYLES.several;
  // A shortened amount would be wrong.
  const title =
    words.length > MAX_HEADLINE ? `${icon} ${namesOf(alerts, 'owner', context)} · ${countOf(alerts, context)}` : words;
  return warnedTitle(title, alerts, context);
}

/** Names the network where there are several: a push notification shows no embed. */
export function headlineAbove(alerts: Alerts, context: RenderContext): string {
  const { network } = onNetwork(alerts, context);
  return `${headlineOf(alerts, context)}${network === undefined ? '' : ` · ${network}`}`;
}

export function replyHeadline(
  transfers: readonly (Pick<Alert, 'transfer' | 'count'> & { watched: readonly AddressText[] })[],
  labels: ReadonlyMap<AddressText, string>,
  context: RenderContext,
): string {
  const isListed = ({ token }: Transfer) => token === null || context.cataloged.has(token);
  const alerts = transfers.map(({ transfer, count, watched }) => ({
    transfer,
    count,
    isCataloged: isListed(transfer),
    labels: Object.fromEntries(labels),
    warnings: [],
    isSignificant: isListed(transfer),
    matches: watched.flatMap((address) => {
      const perspective = seenFrom({ address }, transfer);
      return perspective === null ? [] : [{ address, perspective, label: null, isKnown: isListed(transfer) }];
    }),
  }));
  // The matches lack only what decides about sending.
  return headlineOf(alerts as unknown as Alerts, context);
}

function ways(part: AlertPart, alerts: readonly Alert[], context: RenderContext): string {
  if (part.kind === 'swap') return '';
  switch (part.view) {
    case 'outgoing':
      return ` → ${namesOf(alerts, 'to', context)}`;
    case 'incoming':
      return ` ← ${namesOf(alerts, 'from', context)}`;
    case 'token':
      return ` · ${namesOf(alerts, 'from', context)} → ${namesOf(alerts, 'to', context)}`;
    case 'internal':
    case 'self':
    case 'mint':
    case 'burn':
      return '';
  }
}

function titleOf(shown: Shown): string {
  const { alerts, parts, context } = shown;
  const [part] = parts;
  if (parts.length > 1) {
    const sum = onlySum(shown);
    const words = sum === null ? `· ${countOf(alerts, context)}` : sum.words;
    return `${VIEW_STYLES[sum?.view ?? 'several'].icon} ${namesOf(alerts, 'owner', context)} ${words}`;
  }
  if (part.kind === 'swap') {
    const words = swapWords(part, context);
    const wallet = `${VIEW_STYLES.swap.icon} ${partyName(part.wallet, alerts, context, true)}`;
    if (words === null) return `${wallet} · ${countOf(alerts, context)}`;
    const gave = signed({ view: 'outgoing', alerts: part.gave }, words.gave);
    return `${wallet} ${gave} → ${signed({ view: 'incoming', alerts: part.got }, words.got)}`;
  }
  const { icon } = VIEW_STYLES[part.view];
  const words = partWords(part, context);
  if (part.view !== 'internal') return `${icon} ${namesOf(alerts, 'owner', context)} ${signed(part, words)}`;
  const { from, to } = alerts[0].transfer;
  return `${icon} ${partyName(from, alerts, context, true)} → ${partyName(to, alerts, context, true)} ${words}`;
}

/** null unless all transfers go one way, of one watched address and one asset. */
function onlySum(shown: Shown): { view: View; words: string } | null {
  const words = new Set(shown.alerts.map((alert) => ownerOf(alert).owner)).size === 1 ? sumWords(shown) : null;
  const part = shown.parts[0] as Line;
  return words === null ? null : { view: part.view, words: signed(part, words) };
}

/** Of a move between two watched addresses, the sender; the watched token if neither side is watched. */
function ownerOf({ matches, transfer: { from, to, token } }: Alert): { owner: AddressText | null; isToken: boolean } {
  for (const way of ['self', 'outgoing', 'incoming'])
    for (const { address, perspective } of matches) if (perspective === way) return { owner: address, isToken: false };
  return { owner: matches[0]?.address ?? token ?? from ?? to, isToken: true };
}

/** `+26 HUSD`; a name gets a blank after the sign. Moves of a watched token have no sign. */
function signed({ view, alerts }: Way, words: string): string {
  const sign = ownerOf(alerts[0]!).isToken ? '' : WAYS[view].sign;
  return `${sign}${sign !== '' && !/^\d/.test(words) ? ' ' : ''}${words}`;
}

function factsOf(shown: Shown): string[] {
  const { alerts, parts, context } = shown;
  const [part] = parts;
  if (parts.length > MAX_LEGS) return sums(shown);
  if (parts.length > 1) return parts.flatMap((leg) => legs(leg, context));
  if (part.kind !== 'swap') return wayFacts(part, context);
  const other = counterpartyOf(part, context);
  if (other === undefined) return part.alerts.length > MAX_LEGS ? sums(shown) : legs(part, context);
  const worth = worthOfAll(part.gave, context);
  if (other === ZERO_ADDRESS) return [...worth, context.t('alert.withZero')];
  return [...worth, context.t('alert.withParty', { party: partyName(other, alerts, context) })];
}

/** The worth, the NFTs of a sweep, and the parties other than the owner. */
function wayFacts({ kind, view, alerts }: Way, context: RenderContext): string[] {
  const { t } = context;
  const { sides, word } = WAYS[view];
  const facts = worthOfAll(alerts, context);
  if (kind === 'sweep') facts.push(idsOf(alerts, context));
  if (view === 'mint') facts.push(t('alert.minted'));
  const parties: string[] = [];
  for (const side of sides) {
    if (alerts.every((alert) => ownerOf(alert).owner === alert.transfer[side])) continue;
    // Some languages inflect the zero address after a preposition.
    const isZero = alerts[0]!.transfer[side] === ZERO_ADDRESS && partiesOn(alerts, side).length === 1;
    const zero = side === 'from' ? 'alert.fromZero' : 'alert.toZero';
    parties.push(isZero ? t(zero) : t(`alert.${side}Party`, { party: namesOf(alerts, side, context) }));
  }
  if (parties.length > 0) facts.push(parties.join(' '));
  if (word !== null) facts.push(t(word));
  return facts;
}

function legs(part: AlertPart, context: RenderContext): string[] {
  if (part.kind === 'swap') return legsOf(part).flatMap((leg) => legs(leg, context));
  const names =
    part.view === 'internal'
      ? `${namesOf(part.alerts, 'from', context)} → ${namesOf(part.alerts, 'to', context)} `
      : '';
  return [`${names}**${signed(part, partWords(part, context))}** ${wayFacts(part, context).join(' ')}`];
}

/** A sum for each direction and asset. Without a sum, the asset's name and the count. */
function sums(shown: Shown): string[] {
  const { alerts, context } = shown;
  const groups = Map.groupBy(alerts, (alert) => `${viewOf(alert)} ${assetKey(alert.transfer)}`);
  const isInTitle = onlySum(shown) !== null;
  return [...groups.values()].flatMap((group, index) => {
    if (index >= MAX_SUMS) return '';
    const [first] = group as Alerts;
    const way: Way = { view: viewOf(first), alerts: group };
    const facts = wayFacts(way, context);
    if (isInTitle) return facts;
    const amount = totalMoved(group, context) ?? assetName(first.transfer, context);
    return [`**${signed(way, inTransfers(amount, group, context))}** ${facts.join(' ')}`];
  });
}

/** `owner`: of the watched addresses. */
function namesOf(alerts: readonly Alert[], whose: Side | 'owner', context: RenderContext): string {
  const isOwn = whose === 'owner';
  const max = isOwn ? MAX_OWNERS : MAX_PARTIES;
  const addresses = new Set<AddressText | null>();
  for (const alert of alerts) addresses.add(isOwn ? ownerOf(alert).owner : alert.transfer[whose]);
  const names: string[] = [];
  for (const address of [...addresses].slice(0, max)) names.push(partyName(address, alerts, context, isOwn));
  if (addresses.size > max) names.push(...andMore(addresses.size - max, context));
  return names.join(context.t('reply.comma'));
}

/** The label or the shortened address; without an explorer also the full address. `own`: it is a watched one. */
function partyName(address: AddressText | null, alerts: readonly Alert[], context: RenderContext, own = false): string {
  if (address === null) return context.t('alert.unknown');
  if (address === ZERO_ADDRESS) return context.t('alert.zeroAddress');
  const full = checksumAddress(address);
  const label = nameOf(address, alerts, context);
  const like = label === null ? likeOf(address, alerts) : null;
  const ends = like
    ? `${full.slice(0, 6)}${differingDigits(address, like).fake.slice(1, -1)}${full.slice(-4)}`
    : `${full.slice(0, 8)}…${full.slice(-6)}`;
  const name = label ?? ends;
  if (context.plainNames) return name;
  // No link: it must not invite a click.
  if (like) return `\`${ends}\``;
  const shown = own || label !== null ? `**${name}**` : name;
  const isToken = alerts.some(({ transfer }) => transfer.token === address);
  const url = addressPage(context, address, isToken ? 'token' : 'address');
  if (url !== null) return `[${linkText(shown)}](${url})`;
  // The title shows the shortened address; the full one follows below.
  if (own) return shown;
  return label === null ? `\`${full}\`` : `${shown} \`${full}\``;
}

function transactionFact({ transfer }: Alert, context: RenderContext): string {
  const url = transactionPage(context, transfer.txHash);
  const word = isDifference(transfer)
    ? context.t('alert.block', { block: number(transfer.blockNumber ?? 0, context) })
    : context.t('alert.transaction');
  const place = context.network === undefined ? '' : `${context.network} · `;
  return place + (url ? `[${word}](${url})` : `${word} \`${hash(transfer)}\``);
}
