import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { addressPage } from '../domain/explorer.ts';
import { linkText } from '../domain/text.ts';
import { partsOf } from '../domain/transaction-parts.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { type AlertPart, type Alerts, idsOf, partWords, swapWords } from './body.ts';
import { hash, LOOKS, labelOf, named, number, transactionUrl, type Voice, whatMoved, whatTheyMoved } from './line.ts';
import { remarksOf } from './warnings.ts';

/** Up to this many transfers of one transaction are shown one by one; more are summed up by asset. */
const LEGS_SHOWN = 10;
/** Counterparties that a sum of transfers names. */
const PARTIES_SHOWN = 5;
const MINUS = '−';

type Side = 'from' | 'to';
type Line = Extract<AlertPart, { kind: 'line' | 'sweep' }>;

/**
 * Renders one transaction in two lines: the wallet, what and how much; then the counterparties and the transaction. A
 * third line contains remarks. Every address and the transaction's hash are complete, as a link's target or as text.
 */
export function compactLines(alerts: Alerts, spoken: Voice): string[] {
  const voice: Voice = { ...spoken, linksTokens: true };
  const parts = partsOf(alerts);
  const facts = [...factsOf(parts, alerts, voice), transactionFact(alerts[0], voice)];
  const remarks = remarksOf(alerts, voice, true);
  return [
    titleOf(parts, alerts, voice),
    `-# ${facts.join(' · ')}`,
    ...(remarks.length > 0 ? [`-# ${remarks.join(' ')}`] : []),
  ];
}

/** One transaction's first line with a link to it and no link to an address. */
export function titleOnly(alerts: Alerts, voice: Voice): string {
  const title = titleOf(partsOf(alerts), alerts, { ...voice, unlinked: true });
  return `${title} · ${transactionFact(alerts[0], voice)}`;
}

function titleOf(parts: AlertPart[], alerts: Alerts, voice: Voice): string {
  const [part] = parts as [AlertPart, ...AlertPart[]];
  if (parts.length > 1) return severalTitle(parts, alerts, voice);
  if (part.kind !== 'swap') return `${LOOKS[part.view].icon} ${lineTitle(part, voice)}`;
  const words = swapWords(part, voice);
  const moved = words === null ? countOf(alerts, voice) : `${signed(MINUS, words.gave)} → ${signed('+', words.got)}`;
  return `${LOOKS.swap.icon} ${partyName(part.wallet, alerts, voice, true)} ${moved}`;
}

function lineTitle(part: Line, voice: Voice): string {
  const { alerts } = part;
  const { from, to } = alerts[0]!.transfer;
  if (part.view === 'internal')
    return `${sideName(from, alerts, voice, true)} → ${sideName(to, alerts, voice, true)} ${partWords(part, voice)}`;
  return `${ownersOf(alerts, voice)} ${signedWords(part, voice)}`;
}

/** Several transfers of one transaction: their sum if they go one way and have one; otherwise how many there are. */
function severalTitle(parts: AlertPart[], alerts: Alerts, voice: Voice): string {
  const [part] = parts as [AlertPart, ...AlertPart[]];
  const owners = ownersOf(alerts, voice);
  const alike = part.kind === 'line' && parts.every((one) => one.kind === 'line' && one.view === part.view);
  const sum = alike && new Set(alerts.map(ownerOf)).size === 1 ? whatTheyMoved(alerts, voice) : null;
  if (part.kind !== 'line' || sum === null) return `${LOOKS.several.icon} ${owners} ${countOf(alerts, voice)}`;
  const count = transfersOf(alerts);
  const together = voice.t('alert.inTransfers', { count, number: number(count, voice), amount: sum });
  return `${LOOKS[part.view].icon} ${owners} ${signed(signOf(part), together)}`;
}

const transfersOf = (alerts: readonly Alert[]): number => alerts.reduce((sum, { count }) => sum + count, 0);

function countOf(alerts: readonly Alert[], voice: Voice): string {
  const count = transfersOf(alerts);
  return voice.t('alert.inOneTransaction', { count, number: number(count, voice) });
}

/** The watched address that an alert is about; of a move between two, the sender. */
function ownerOf({ matches, transfer: { from, to, token } }: Alert): AddressText | null {
  const by = (way: string) => matches.find(({ perspective }) => perspective === way)?.address;
  return by('self') ?? by('outgoing') ?? by('incoming') ?? by('token') ?? token ?? from ?? to;
}

function ownersOf(alerts: readonly Alert[], voice: Voice): string {
  const owners = [...new Set(alerts.map(ownerOf))];
  const names = owners.slice(0, 3).map((owner) => sideName(owner, alerts, voice, true));
  const rest = owners.length - names.length;
  return [...names, ...(rest > 0 ? [voice.t('alert.more', { number: number(rest, voice) })] : [])].join(
    voice.t('reply.comma'),
  );
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
const signedWords = (part: Line, voice: Voice): string => signed(signOf(part), partWords(part, voice));

function factsOf(parts: AlertPart[], alerts: Alerts, voice: Voice): string[] {
  const own = ownFacts(alerts, voice);
  const [part] = parts as [AlertPart, ...AlertPart[]];
  if (parts.length > LEGS_SHOWN) return [...own, ...sums(alerts, voice)];
  if (parts.length > 1) return [...own, ...parts.flatMap((one) => legs(one, voice))];
  if (part.kind !== 'swap') return [...own, ...lineFacts(part, voice)];
  const others = new Set([
    ...part.gave.map(({ transfer }) => transfer.to),
    ...part.got.map(({ transfer }) => transfer.from),
  ]);
  if (others.size > 1 || part.alerts.length > 2 || swapWords(part, voice) === null)
    return [...own, ...(part.alerts.length > LEGS_SHOWN ? sums(alerts, voice) : legs(part, voice))];
  const [other] = others;
  if (other === ZERO_ADDRESS) return [...own, voice.t('alert.withZero')];
  return [...own, voice.t('alert.withParty', { party: sideName(other!, alerts, voice) })];
}

/** Without an explorer there is no link, so the watched addresses are shown as text. */
function ownFacts(alerts: readonly Alert[], voice: Voice): string[] {
  if (isLinked(voice)) return [];
  const owners = new Set(alerts.flatMap(({ matches }) => matches.map(({ address }) => address)));
  return [...owners].map((owner) => `\`${checksumAddress(owner)}\``);
}

const isLinked = (voice: Voice): boolean => voice.explorerUrl !== undefined && voice.unlinked !== true;

/** The counterparties, seen from the watched side; for a sweep also its ids. */
function lineFacts(part: Line, voice: Voice): string[] {
  const ids = part.kind === 'sweep' ? [idsOf(part.alerts, voice)] : [];
  return [...ids, ...wayFacts(part, voice)];
}

function wayFacts({ alerts, view }: Pick<Line, 'view'> & { alerts: readonly Alert[] }, voice: Voice): string[] {
  const { t } = voice;
  // Some languages inflect the zero address after a preposition.
  const party = (side: Side) =>
    alerts.every(({ transfer }) => transfer[side] === ZERO_ADDRESS)
      ? t(side === 'from' ? 'alert.fromZero' : 'alert.toZero')
      : t(`alert.${side}Party`, { party: partiesOf(alerts, side, voice) });
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
function legs(part: AlertPart, voice: Voice): string[] {
  if (part.kind === 'swap') {
    const leg = (view: 'outgoing' | 'incoming') => (alert: Alert) =>
      legs({ kind: 'line', view, alerts: [alert] }, voice);
    return [...part.gave.flatMap(leg('outgoing')), ...part.got.flatMap(leg('incoming'))];
  }
  const [first, ...rest] = lineFacts(part, voice);
  const names =
    part.view === 'internal'
      ? `${partiesOf(part.alerts, 'from', voice)} → ${partiesOf(part.alerts, 'to', voice)} `
      : '';
  return [`${names}**${signedWords(part, voice)}** ${[first, ...rest].join(' ')}`];
}

/** What many transfers of one transaction moved: a sum for each direction and asset, and the counterparties. */
function sums(alerts: Alerts, voice: Voice): string[] {
  const lines = alerts.map((alert) => ({ alert, part: partsOf([alert])[0] as Line }));
  const groups = Map.groupBy(lines, ({ alert: { transfer }, part: { view } }) =>
    [view, transfer.kind, transfer.token, transfer.decimals].join(' '),
  );
  return [...groups.values()].flatMap((group) => {
    const [{ part, alert }] = group as [(typeof group)[0]];
    const together = group.map((one) => one.alert) as Alerts;
    const count = transfersOf(together);
    const moved = whatTheyMoved(together, voice) ?? whatMoved(alert.transfer, voice);
    const words = voice.t('alert.inTransfers', { count, number: number(count, voice), amount: moved });
    const facts = wayFacts({ view: part.view, alerts: together }, voice);
    // The title already shows a single sum.
    return groups.size === 1 ? facts : [`**${signed(signOf(part), words)}** ${facts.join(' ')}`];
  });
}

/** One side of some transfers: its names, the first few. */
function partiesOf(alerts: readonly Alert[], side: Side, voice: Voice): string {
  const parties = [...new Set(alerts.map(({ transfer }) => transfer[side]))];
  const rest = parties.length - PARTIES_SHOWN;
  const names = parties.slice(0, PARTIES_SHOWN).map((party) => sideName(party, alerts, voice));
  return [...names, ...(rest > 0 ? [voice.t('alert.more', { number: number(rest, voice) })] : [])].join(
    voice.t('reply.comma'),
  );
}

function sideName(address: AddressText | null, alerts: readonly Alert[], voice: Voice, own = false): string {
  if (address === null) return voice.t('alert.unknown');
  if (address === ZERO_ADDRESS) return voice.t('alert.zeroAddress');
  return partyName(address, alerts, voice, own);
}

/** The label or the shortened address, with a link to the address; without an explorer the full address. */
function partyName(address: AddressText, alerts: readonly Alert[], voice: Voice, own = false): string {
  const full = checksumAddress(address);
  const label = alerts.map((alert) => labelOf(address, alert)).find((name) => name !== null) ?? null;
  const isLink = isLinked(voice);
  const ends = `${full.slice(0, 6)}…${full.slice(-4)}`;
  const name = label === null ? ends : named(label, voice);
  const shown = own || label !== null ? `**${name}**` : name;
  if (isLink) return `[${linkText(shown)}](${addressPage(voice, address, pageOf(address, alerts))})`;
  // The title shows the shortened address; the full one follows below.
  if (own) return shown;
  return label === null ? `\`${full}\`` : `${shown} \`${full}\``;
}

const pageOf = (address: AddressText, alerts: readonly Alert[]): 'token' | 'address' =>
  alerts.some(({ transfer }) => transfer.token === address) ? 'token' : 'address';

function transactionFact({ transfer }: Alert, voice: Voice): string {
  const url = transactionUrl(transfer, voice);
  const word = voice.t('alert.transaction');
  return url ? `[${word}](${url})` : `${word} \`${hash(transfer)}\``;
}
