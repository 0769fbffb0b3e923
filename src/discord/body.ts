import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import type { Part } from '../domain/transaction-parts.ts';
import { amountOf } from '../domain/transfer.ts';
import { LOOKS, labelOf, linked, named, number, shortId, type Voice, whatMoved, whatTheyMoved } from './line.ts';
import { isFake, remarksOf } from './warnings.ts';

/** Full addresses on one side of a sweep, and characters of its ids. */
const PARTIES_SHOWN = 5;
const IDS_LONGEST = 400;

/** What a message shows: at least one alert. */
export type Alerts = [Alert, ...Alert[]];
/** One thing that happened, with its alerts. */
export type AlertPart = Part<Alert>;

type Side = 'from' | 'to';

/** The lines below a title: who sent what to whom in one transaction, and remarks. */
export function bodyOf(parts: AlertPart[], voice: Voice): string[] {
  if (parts.length === 1) return onlyPart(parts[0]!, voice);
  const alerts = parts.flatMap((part) => part.alerts);
  const plain = parts.every(({ kind }) => kind !== 'swap');
  // What all transfers have in common is shown once, above them.
  const shared = (['from', 'to'] as const).filter((side) => plain && addressesOf(alerts, side).length === 1);
  const own = (['from', 'to'] as const).filter((side) => !shared.includes(side));
  return [
    ...shared.flatMap((side) => sideLines(side, alerts, voice)),
    ...parts.flatMap((part, index) => [
      ...(index > 0 || shared.length > 0 ? [''] : []),
      ...partLines(part, own, voice),
    ]),
  ];
}

function onlyPart(part: AlertPart, voice: Voice): string[] {
  const remarks = remarksOf(part.alerts, voice);
  switch (part.kind) {
    case 'swap':
      return [...swapLines(part, voice), ...remarks];
    case 'sweep':
      return [
        idsOf(part.alerts, voice),
        ...sideLines('from', part.alerts, voice),
        ...sideLines('to', part.alerts, voice),
        ...remarks,
      ];
    case 'line':
      return [
        ...(internalLines(part, voice) ?? [
          ...sideLines('from', part.alerts, voice),
          ...sideLines('to', part.alerts, voice),
        ]),
        ...remarks,
      ];
  }
}

/** A move between two watched wallets with names, as one line above both addresses; null for any other. */
function internalLines({ view, alerts: [alert] }: Extract<AlertPart, { kind: 'line' }>, voice: Voice): string[] | null {
  const { from, to } = alert.transfer;
  const [fromName, toName] = [from, to].map((address) => address && nameOf(address, [alert], voice));
  if (view !== 'internal' || !fromName || !toName) return null;
  return [
    `**${voice.t('alert.bothWatched', { from: fromName, to: toName })}**`,
    addressLine(from!, [alert], voice),
    addressLine(to!, [alert], voice),
  ];
}

/** One of several parts: what moved, the sides that only it has, and remarks. */
function partLines(part: AlertPart, own: Side[], voice: Voice): string[] {
  const remarks = remarksOf(part.alerts, voice);
  if (part.kind === 'swap') {
    const words = swapWords(part, voice);
    const title = words === null ? [] : [`${LOOKS.swap.icon} **${words.gave} → ${words.got}**`];
    return [...title, ...swapLines(part, voice), ...remarks];
  }
  return [
    `${LOOKS[part.view].icon} **${partWords(part, voice)}**`,
    ...(part.kind === 'sweep' ? [idsOf(part.alerts, voice)] : []),
    ...own.flatMap((side) => sideLines(side, part.alerts, voice)),
    ...remarks,
  ];
}

/** What a single transfer or a sweep moved. */
export function partWords(part: Exclude<AlertPart, { kind: 'swap' }>, voice: Voice): string {
  const [{ transfer, count }] = part.alerts as Alerts;
  if (part.kind === 'line') return `${whatMoved(transfer, voice)}${count > 1 ? ` ×${number(count, voice)}` : ''}`;
  return whatTheyMoved(part.alerts, voice)!;
}

/** What a swap gave and got; null when it is too long. */
export function swapWords(
  part: Extract<AlertPart, { kind: 'swap' }>,
  voice: Voice,
): { gave: string; got: string } | null {
  const gave = whatTheyMoved(part.gave, voice);
  const got = whatTheyMoved(part.got, voice);
  return gave === null || got === null ? null : { gave, got };
}

/** The wallet and its counterparties. With several legs, or without amounts in the title, leg by leg. */
function swapLines(part: Extract<AlertPart, { kind: 'swap' }>, voice: Voice): string[] {
  const { wallet, gave, got, alerts } = part;
  const others = [...new Set([...addressesOf(gave, 'to'), ...addressesOf(got, 'from')])];
  const lines = partyLines('wallet', [wallet], alerts, voice);
  if (others.length === 1 && alerts.length === 2 && swapWords(part, voice) !== null)
    return [...lines, ...partyLines('with', others, alerts, voice)];
  const leg = (alert: Alert, view: 'incoming' | 'outgoing', side: Side) => [
    `${LOOKS[view].icon} **${partWords({ kind: 'line', view, alerts: [alert] }, voice)}**`,
    ...sideLines(side, [alert], voice),
  ];
  return [
    ...lines,
    ...gave.flatMap((alert) => leg(alert, 'outgoing', 'to')),
    ...got.flatMap((alert) => leg(alert, 'incoming', 'from')),
  ];
}

const addressesOf = (alerts: readonly Alert[], side: Side): (AddressText | null)[] => [
  ...new Set(alerts.map(({ transfer }) => transfer[side])),
];

const sideLines = (side: Side, alerts: readonly Alert[], voice: Voice): string[] =>
  partyLines(side, addressesOf(alerts, side), alerts, voice);

/** A side's word, then each of its names above the full address. */
function partyLines(
  word: Side | 'wallet' | 'with',
  addresses: readonly (AddressText | null)[],
  alerts: readonly Alert[],
  voice: Voice,
): string[] {
  const { t } = voice;
  const rest = addresses.length - PARTIES_SHOWN;
  return [
    ...addresses.slice(0, PARTIES_SHOWN).flatMap((address, index) => {
      const title = index === 0 ? `**${t(`alert.${word}`)}**` : '';
      if (address === null) return [`${title} ${t('alert.unknown')}`.trim()];
      if (address === ZERO_ADDRESS) {
        const zero = word === 'from' ? 'alert.newlyMinted' : word === 'to' ? 'alert.burnt' : 'alert.zeroAddress';
        return [`${title} ${t(zero)}`.trim()];
      }
      const name = nameOf(address, alerts, voice);
      const fake = isFake(address, alerts) ? '⚠️' : '';
      const head = [title, fake, name].filter(Boolean).join(' ');
      return [...(head === '' ? [] : [head]), addressLine(address, alerts, voice)];
    }),
    ...(rest > 0 ? [t('alert.more', { number: number(rest, voice) })] : []),
  ];
}

/** The full address as a line of small text; a look-alike's address is not linked. */
function addressLine(address: AddressText, alerts: readonly Alert[], voice: Voice): string {
  return `-# ${linked(address, 'address', isFake(address, alerts) ? { ...voice, unlinked: true } : voice)}`;
}

function nameOf(address: AddressText, alerts: readonly Alert[], voice: Voice): string {
  for (const alert of alerts) {
    const label = labelOf(address, alert);
    if (label !== null) return named(label, voice);
  }
  return '';
}

/** Returns the ids of a sweep: runs as `#1–#20`, several pieces as `#7 ×3`, as many as people will read. */
export function idsOf(alerts: readonly Alert[], voice: Voice): string {
  const ids = alerts.map(({ transfer, count }) => ({
    id: BigInt(transfer.tokenId!),
    times: amountOf(transfer) * BigInt(count),
  }));
  ids.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const runs: { first: bigint; last: bigint; times: bigint }[] = [];
  for (const { id, times } of ids) {
    const run = runs.at(-1);
    if (run && times === 1n && run.times === 1n && id === run.last + 1n) run.last = id;
    else runs.push({ first: id, last: id, times });
  }
  let text = '';
  for (const { first, last, times } of runs) {
    const ends = [...new Set([first, last])]
      .map((id) => `#${shortId(id.toString())}`)
      .join(last - first > 1n ? '–' : ', ');
    const next = `${text === '' ? '' : ', '}${ends}${times > 1n ? ` ×${number(times, voice)}` : ''}`;
    if (text.length + next.length > IDS_LONGEST) return `${text}, …`;
    text += next;
  }
  return text;
}
