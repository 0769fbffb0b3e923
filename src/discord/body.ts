import { type AddressText, ZERO_ADDRESS } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import type { Part } from '../domain/transaction-parts.ts';
import { amountOf } from '../domain/transfer.ts';
import type { RenderContext } from './render-context.ts';
import { isFake, remarksOf } from './warnings.ts';
import { labelOf, linked, named, number, shortId, totalMoved, VIEW_STYLES, whatMoved } from './wording.ts';

/** Maximum number of full addresses on one side of a sweep. */
const MAX_PARTIES = 5;
/** Maximum length of a sweep's IDs. */
const MAX_IDS = 400;

/** The alerts of a message, at least one. */
export type Alerts = [Alert, ...Alert[]];
/** One part of a transaction, such as a transfer or a swap, with its alerts. */
export type AlertPart = Part<Alert>;

/** A side of a transfer. */
export type Side = 'from' | 'to';

/** The lines below a title: who sent what to whom in one transaction, and remarks. */
export function bodyOf(parts: AlertPart[], context: RenderContext): string[] {
  if (parts.length === 1) return onlyPart(parts[0]!, context);
  const alerts = parts.flatMap((part) => part.alerts);
  const plain = parts.every(({ kind }) => kind !== 'swap');
  // Facts that all transfers share are shown once, above them.
  const shared = (['from', 'to'] as const).filter((side) => plain && addressesOf(alerts, side).length === 1);
  const own = (['from', 'to'] as const).filter((side) => !shared.includes(side));
  return [
    ...shared.flatMap((side) => sideLines(side, alerts, context)),
    ...parts.flatMap((part, index) => [
      ...(index > 0 || shared.length > 0 ? [''] : []),
      ...partLines(part, own, context),
    ]),
  ];
}

function onlyPart(part: AlertPart, context: RenderContext): string[] {
  const remarks = remarksOf(part.alerts, context);
  switch (part.kind) {
    case 'swap':
      return [...swapLines(part, context), ...remarks];
    case 'sweep':
      return [
        idsOf(part.alerts, context),
        ...sideLines('from', part.alerts, context),
        ...sideLines('to', part.alerts, context),
        ...remarks,
      ];
    case 'line':
      return [
        ...(internalLines(part, context) ?? [
          ...sideLines('from', part.alerts, context),
          ...sideLines('to', part.alerts, context),
        ]),
        ...remarks,
      ];
  }
}

/** A move between two watched wallets with names, as one line above both addresses; null for any other. */
function internalLines(
  { view, alerts: [alert] }: Extract<AlertPart, { kind: 'line' }>,
  context: RenderContext,
): string[] | null {
  const { from, to } = alert.transfer;
  const [fromName, toName] = [from, to].map((address) => address && nameOf(address, [alert], context));
  if (view !== 'internal' || !fromName || !toName) return null;
  return [
    `**${context.t('alert.bothWatched', { from: fromName, to: toName })}**`,
    addressLine(from!, [alert], context),
    addressLine(to!, [alert], context),
  ];
}

/** One of several parts: what moved, the sides that only it has, and remarks. */
function partLines(part: AlertPart, own: Side[], context: RenderContext): string[] {
  const remarks = remarksOf(part.alerts, context);
  if (part.kind === 'swap') {
    const words = swapWords(part, context);
    const title = words === null ? [] : [`${VIEW_STYLES.swap.icon} **${words.gave} → ${words.got}**`];
    return [...title, ...swapLines(part, context), ...remarks];
  }
  return [
    `${VIEW_STYLES[part.view].icon} **${partWords(part, context)}**`,
    ...(part.kind === 'sweep' ? [idsOf(part.alerts, context)] : []),
    ...own.flatMap((side) => sideLines(side, part.alerts, context)),
    ...remarks,
  ];
}

/** What a single transfer or a sweep moved. */
export function partWords(part: Exclude<AlertPart, { kind: 'swap' }>, context: RenderContext): string {
  const [{ transfer, count }] = part.alerts as Alerts;
  if (part.kind === 'line') return `${whatMoved(transfer, context)}${count > 1 ? ` ×${number(count, context)}` : ''}`;
  return totalMoved(part.alerts, context)!;
}

/** What a swap gave and got; null when it is too long. */
export function swapWords(
  part: Extract<AlertPart, { kind: 'swap' }>,
  context: RenderContext,
): { gave: string; got: string } | null {
  const gave = totalMoved(part.gave, context);
  const got = totalMoved(part.got, context);
  return gave === null || got === null ? null : { gave, got };
}

/** The wallet and its counterparties. With several legs, or without amounts in the title, leg by leg. */
function swapLines(part: Extract<AlertPart, { kind: 'swap' }>, context: RenderContext): string[] {
  const { wallet, gave, got, alerts } = part;
  const others = [...new Set([...addressesOf(gave, 'to'), ...addressesOf(got, 'from')])];
  const lines = partyLines('wallet', [wallet], alerts, context);
  if (others.length === 1 && alerts.length === 2 && swapWords(part, context) !== null)
    return [...lines, ...partyLines('with', others, alerts, context)];
  const leg = (alert: Alert, view: 'incoming' | 'outgoing', side: Side) => [
    `${VIEW_STYLES[view].icon} **${partWords({ kind: 'line', view, alerts: [alert] }, context)}**`,
    ...sideLines(side, [alert], context),
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

const sideLines = (side: Side, alerts: readonly Alert[], context: RenderContext): string[] =>
  partyLines(side, addressesOf(alerts, side), alerts, context);

/** The word for a side, then each of its addresses in full below its name. */
function partyLines(
  word: Side | 'wallet' | 'with',
  addresses: readonly (AddressText | null)[],
  alerts: readonly Alert[],
  context: RenderContext,
): string[] {
  const { t } = context;
  const rest = addresses.length - MAX_PARTIES;
  return [
    ...addresses.slice(0, MAX_PARTIES).flatMap((address, index) => {
      const title = index === 0 ? `**${t(`alert.${word}`)}**` : '';
      if (address === null) return [`${title} ${t('alert.unknown')}`.trim()];
      if (address === ZERO_ADDRESS) {
        const zero = word === 'from' ? 'alert.newlyMinted' : word === 'to' ? 'alert.burnt' : 'alert.zeroAddress';
        return [`${title} ${t(zero)}`.trim()];
      }
      const name = nameOf(address, alerts, context);
      const fake = isFake(address, alerts) ? '⚠️' : '';
      const head = [title, fake, name].filter(Boolean).join(' ');
      return [...(head === '' ? [] : [head]), addressLine(address, alerts, context)];
    }),
    ...(rest > 0 ? [t('alert.more', { number: number(rest, context) })] : []),
  ];
}

/** The full address as a line of small text; a look-alike's address is not linked. */
function addressLine(address: AddressText, alerts: readonly Alert[], context: RenderContext): string {
  return `-# ${linked(address, 'address', isFake(address, alerts) ? { ...context, unlinked: true } : context)}`;
}

function nameOf(address: AddressText, alerts: readonly Alert[], context: RenderContext): string {
  for (const alert of alerts) {
    const label = labelOf(address, alert);
    if (label !== null) return named(label, context);
  }
  return '';
}

/** The IDs of a sweep: runs as `#1–#20`, several pieces as `#7 ×3`, up to a length that people read. */
export function idsOf(alerts: readonly Alert[], context: RenderContext): string {
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
    const next = `${text === '' ? '' : ', '}${ends}${times > 1n ? ` ×${number(times, context)}` : ''}`;
    if (text.length + next.length > MAX_IDS) return `${text}, …`;
    text += next;
  }
  return text;
}
