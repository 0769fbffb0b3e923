import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { addressPage } from '../domain/explorer.ts';
import { linkText } from '../domain/text.ts';
import { partsOf, type View } from '../domain/transaction-parts.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { type AlertPart, type Alerts, idsOf, partWords, type Side, swapWords } from './body.ts';
import type { RenderContext } from './render-context.ts';
import { remarksOf } from './warnings.ts';
import {
  assetName,
  counted,
  hash,
  labelOf,
  named,
  number,
  totalMoved,
  transactionUrl,
  transferCount,
  VIEW_STYLES,
} from './wording.ts';

/** Up to this many transfers of one transaction are shown one by one; more are summed up by asset. */
const MAX_LEGS = 10;
/** Maximum number of counterparties that a sum of transfers names. */
const MAX_PARTIES = 5;
/** Maximum number of watched addresses in a title. */
const MAX_OWNERS = 3;
const MINUS = '−';

type Line = Extract<AlertPart, { kind: 'line' | 'sweep' }>;

/**
 * Renders one transaction in two lines: the wallet, what and how much; then the counterparties and the transaction. A
 * third line contains remarks. The transaction's hash and every address that is named are complete, as a link's target
 * or as text. Of many transfers the first addresses are named and the others counted.
 */
export function compactLines(alerts: Alerts, given: RenderContext): string[] {
  const context: RenderContext = { ...given, linksTokens: true };
  const parts = partsOf(alerts);
  const facts = [...factsOf(parts, alerts, context), transactionFact(alerts[0], context)];
  const remarks = remarksOf(alerts, context, true);
  return [
    titleOf(parts, alerts, context),
    `-# ${facts.join(' · ')}`,
    ...(remarks.length > 0 ? [`-# ${remarks.join(' ')}`] : []),
  ];
}

/** Renders one transaction as its title with a link to the transaction, but with no link to an address. */
export function titleOnly(alerts: Alerts, context: RenderContext): string {
  const title = titleOf(partsOf(alerts), alerts, { ...context, unlinked: true });
  return `${title} · ${transactionFact(alerts[0], context)}`;
}

function titleOf(parts: AlertPart[], alerts: Alerts, context: RenderContext): string {
  const [part] = parts as [AlertPart, ...AlertPart[]];
  if (parts.length > 1) return severalTitle(parts, alerts, context);
  if (part.kind !== 'swap') return `${VIEW_STYLES[part.view].icon} ${lineTitle(part, context)}`;
  const words = swapWords(part, context);
  const moved =
    words === null ? `· ${countOf(alerts, context)}` : `${signed(MINUS, words.gave)} → ${signed('+', words.got)}`;
  return `${VIEW_STYLES.swap.icon} ${partyName(part.wallet, alerts, context, true)} ${moved}`;
}

function lineTitle(part: Line, context: RenderContext): string {
  const { alerts } = part;
  const { from, to } = alerts[0]!.transfer;
  if (part.view === 'internal')
    return `${sideName(from, alerts, context, true)} → ${sideName(to, alerts, context, true)} ${partWords(part, context)}`;
  return `${ownersOf(alerts, context)} ${signedWords(part, context)}`;
}

/** Several transfers of one transaction: their sum if they have one, otherwise how many there are. */
function severalTitle(parts: AlertPart[], alerts: Alerts, context: RenderContext): string {
  const owners = ownersOf(alerts, context);
  const sum = onlySum(parts, alerts, context);
  return sum === null
    ? `${VIEW_STYLES.several.icon} ${owners} · ${countOf(alerts, context)}`
    : `${VIEW_STYLES[sum.view].icon} ${owners} ${sum.words}`;
}

/** The sum of one watched address's transfers that go one way, as the title shows it; null: there is none. */
function onlySum(parts: AlertPart[], alerts: Alerts, context: RenderContext): { view: View; words: string } | null {
  const [part] = parts as [AlertPart, ...AlertPart[]];
  if (part.kind !== 'line' || parts.some((one) => one.kind !== 'line' || one.view !== part.view)) return null;
  const amount = new Set(alerts.map(ownerOf)).size === 1 ? totalMoved(alerts, context) : null;
  return amount === null
    ? null
    : { view: part.view, words: signed(signOf(part), inTransfers(amount, alerts, context)) };
}

const inTransfers = (amount: string, alerts: readonly Alert[], context: RenderContext): string =>
  context.t('alert.inTransfers', { ...counted(transferCount(alerts), context), amount });

/** How many transfers of one transaction these are, in words. */
const countOf = (alerts: readonly Alert[], context: RenderContext): string =>
  context.t('alert.inOneTransaction', counted(transferCount(alerts), context));

/** The watched address that an alert is about; of a move between two, the sender. */
function ownerOf({ matches, transfer: { from, to, token } }: Alert): AddressText | null {
  const by = (way: string) => matches.find(({ perspective }) => perspective === way)?.address;
  return by('self') ?? by('outgoing') ?? by('incoming') ?? by('token') ?? token ?? from ?? to;
}

function ownersOf(alerts: readonly Alert[], context: RenderContext): string {
  const owners = [...new Set(alerts.map(ownerOf))];
  return firstOf(owners, MAX_OWNERS, (owner) => sideName(owner, alerts, context, true), context);
}

/** `+26 HUSD`; a name gets a blank after the sign. */
const signed = (sign: string, words: string): string =>
  `${sign}${sign !== '' && !/^\d/.test(words) ? ' ' : ''}${words}`;

function signOf({ view, alerts }: Line): string {
  const isToken = alerts[0]!.matches.every(({ perspective }) => perspective === 'token');
  switch (view) {
    case 'incoming':
    case 'mint':
      return isToken ? '' : '+';
    case 'outgoing':
    case 'burn':
      return isToken ? '' : MINUS;
    case 'internal':
    case 'self':
    case 'token':
      return '';
  }
}

/** What a part moved, with its sign. */
const signedWords = (part: Line, context: RenderContext): string => signed(signOf(part), partWords(part, context));

function factsOf(parts: AlertPart[], alerts: Alerts, context: RenderContext): string[] {
  const own = ownFacts(alerts, context);
  const [part] = parts as [AlertPart, ...AlertPart[]];
  if (parts.length > MAX_LEGS) return [...own, ...sums(parts, alerts, context)];
  if (parts.length > 1) return [...own, ...parts.flatMap((one) => legs(one, context))];
  if (part.kind !== 'swap') return [...own, ...lineFacts(part, context)];
  const others = new Set([
    ...part.gave.map(({ transfer }) => transfer.to),
    ...part.got.map(({ transfer }) => transfer.from),
  ]);
  if (others.size > 1 || part.alerts.length > 2 || swapWords(part, context) === null)
    return [...own, ...(part.alerts.length > MAX_LEGS ? sums(parts, alerts, context) : legs(part, context))];
  const [other] = others;
  if (other === ZERO_ADDRESS) return [...own, context.t('alert.withZero')];
  return [...own, context.t('alert.withParty', { party: sideName(other!, alerts, context) })];
}

/** Without an explorer there is no link, so the watched addresses are shown as text. */
function ownFacts(alerts: readonly Alert[], context: RenderContext): string[] {
  if (isLinked(context)) return [];
  const owners = new Set(alerts.flatMap(({ matches }) => matches.map(({ address }) => address)));
  return [...owners].map((owner) => `\`${checksumAddress(owner)}\``);
}

const isLinked = (context: RenderContext): boolean => context.explorerUrl !== undefined && context.unlinked !== true;

/** The counterparties, seen from the watched side; for a sweep also its IDs. */
function lineFacts(part: Line, context: RenderContext): string[] {
  const ids = part.kind === 'sweep' ? [idsOf(part.alerts, context)] : [];
  return [...ids, ...wayFacts(part, context)];
}

function wayFacts(
  { alerts, view }: Pick<Line, 'view'> & { alerts: readonly Alert[] },
  context: RenderContext,
): string[] {
  const { t } = context;
  // Some languages inflect the zero address after a preposition.
  const party = (side: Side) =>
    alerts.every(({ transfer }) => transfer[side] === ZERO_ADDRESS)
      ? t(side === 'from' ? 'alert.fromZero' : 'alert.toZero')
      : t(`alert.${side}Party`, { party: partiesOf(alerts, side, context) });
  const isOwn = (side: Side) => alerts.every((alert) => ownerOf(alert) === alert.transfer[side]);
  switch (view) {
    case 'incoming':
      return [party('from')];
    case 'outgoing':
      return [party('to')];
    case 'internal':
      return [t('alert.internalMove')];
    case 'self':
      return [t('alert.selfMove')];
    case 'mint':
      return [t('alert.minted'), ...(isOwn('to') ? [] : [party('to')])];
    case 'burn':
      return [...(isOwn('from') ? [] : [party('from')]), t('alert.burned')];
    case 'token':
      return [`${party('from')} ${party('to')}`];
  }
}

/** One of several parts: what moved, and the counterparties. */
function legs(part: AlertPart, context: RenderContext): string[] {
  if (part.kind === 'swap') {
    const leg = (view: 'outgoing' | 'incoming') => (alert: Alert) =>
      legs({ kind: 'line', view, alerts: [alert] }, context);
    return [...part.gave.flatMap(leg('outgoing')), ...part.got.flatMap(leg('incoming'))];
  }
  const [first, ...rest] = lineFacts(part, context);
  const names =
    part.view === 'internal'
      ? `${partiesOf(part.alerts, 'from', context)} → ${partiesOf(part.alerts, 'to', context)} `
      : '';
  return [`${names}**${signedWords(part, context)}** ${[first, ...rest].join(' ')}`];
}

/**
 * What many transfers of one transaction moved: a sum for each direction and asset, and the counterparties. Without a
 * sum, the asset's name and the count.
 */
function sums(parts: AlertPart[], alerts: Alerts, context: RenderContext): string[] {
  const lines = alerts.map((alert) => ({ alert, part: partsOf([alert])[0] as Line }));
  const groups = Map.groupBy(lines, ({ alert: { transfer }, part: { view } }) => {
    // Tokens without a known contract are distinguished by name.
    const token = transfer.token ?? JSON.stringify([transfer.tokenName, transfer.tokenSymbol]);
    return [view, transfer.kind, token, transfer.decimals].join(' ');
  });
  const isInTitle = onlySum(parts, alerts, context) !== null;
  return [...groups.values()].flatMap((group) => {
    const [{ part, alert }] = group as [(typeof group)[0]];
    const together = group.map((one) => one.alert) as Alerts;
    const facts = wayFacts({ view: part.view, alerts: together }, context);
    if (isInTitle) return facts;
    const amount = totalMoved(together, context) ?? assetName(alert.transfer, context);
    return [`**${signed(signOf(part), inTransfers(amount, together, context))}** ${facts.join(' ')}`];
  });
}

/** The names on one side of some transfers, the first few. */
function partiesOf(alerts: readonly Alert[], side: Side, context: RenderContext): string {
  const parties = [...new Set(alerts.map(({ transfer }) => transfer[side]))];
  return firstOf(parties, MAX_PARTIES, (party) => sideName(party, alerts, context), context);
}

/** The names of the first few addresses, and how many more there are. */
function firstOf(
  addresses: readonly (AddressText | null)[],
  max: number,
  nameOf: (address: AddressText | null) => string,
  context: RenderContext,
): string {
  const names = addresses.slice(0, max).map(nameOf);
  const rest = addresses.length - names.length;
  if (rest > 0) names.push(context.t('alert.more', { number: number(rest, context) }));
  return names.join(context.t('reply.comma'));
}

function sideName(address: AddressText | null, alerts: readonly Alert[], context: RenderContext, own = false): string {
  if (address === null) return context.t('alert.unknown');
  if (address === ZERO_ADDRESS) return context.t('alert.zeroAddress');
  return partyName(address, alerts, context, own);
}

/** The label or the shortened address, with a link to the address; without an explorer the full address. */
function partyName(address: AddressText, alerts: readonly Alert[], context: RenderContext, own = false): string {
  const full = checksumAddress(address);
  const label = alerts.map((alert) => labelOf(address, alert)).find((name) => name !== null) ?? null;
  const isLink = isLinked(context);
  const ends = `${full.slice(0, 6)}…${full.slice(-4)}`;
  const name = label === null ? ends : named(label, context);
  const shown = own || label !== null ? `**${name}**` : name;
  if (isLink) return `[${linkText(shown)}](${addressPage(context, address, pageOf(address, alerts))})`;
  // The title shows the shortened address; the full one follows below.
  if (own) return shown;
  return label === null ? `\`${full}\`` : `${shown} \`${full}\``;
}

const pageOf = (address: AddressText, alerts: readonly Alert[]): 'token' | 'address' =>
  alerts.some(({ transfer }) => transfer.token === address) ? 'token' : 'address';

function transactionFact({ transfer }: Alert, context: RenderContext): string {
  const url = transactionUrl(transfer, context);
  const word = context.t('alert.transaction');
  return url ? `[${word}](${url})` : `${word} \`${hash(transfer)}\``;
}
