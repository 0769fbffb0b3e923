import type { AddressText } from '../../domain/address.ts';
import { type Alert, isForgeable, isWorthless, type Part, partsOf, sumOf, type View } from '../../domain/alert.ts';
import { leaves } from '../../domain/subscription.ts';
import { amountOf, isItem, type Transfer } from '../../domain/transfer.ts';
import {
  assetName,
  counted,
  MAX_SUM,
  number,
  onNetwork,
  type RenderContext,
  shortId,
  transferCount,
  whatMoved,
} from './wording.ts';

export type Alerts = [Alert, ...Alert[]];
export type AlertPart = Part<Alert>;
export type Swap = Extract<AlertPart, { kind: 'swap' }>;
export type Line = Exclude<AlertPart, Swap>;
export type Side = 'from' | 'to';

export interface Shown {
  /** Significant and outgoing alerts first; without worthless ones, unless there are no others. */
  alerts: Alerts;
  parts: [AlertPart, ...AlertPart[]];
  worthless: readonly Alert[];
  context: RenderContext;
}

/** A transfer that the chain does not have counts as 0 in sums; its own line still shows the amount. */
export const asShown = (alert: Alert): Alert => (alert.count > 0 ? alert : { ...alert, count: 1 });

export function shownOf(all: Alerts, given: RenderContext): Shown {
  // Any contract can claim that something left, any number of times.
  const rank = (alert: Alert) =>
    Number(alert.isSignificant) * 4 +
    Number(!isForgeable(alert)) * 2 +
    Number(alert.matches.some(({ perspective }) => leaves(perspective)));
  const context = onNetwork(all, given);
  const worthy: Alert[] = [];
  const worthless: Alert[] = [];
  for (const alert of all) (isWorthless(alert) ? worthless : worthy).push(alert);
  worthy.sort((a, b) => rank(b) - rank(a));
  const [alerts, others] = (worthy.length > 0 ? [worthy, worthless] : [worthless, []]) as [Alerts, Alert[]];
  return { alerts, parts: partsOf(alerts) as Shown['parts'], worthless: others, context };
}

/** `several`: a transaction with different views. */
export const VIEW_STYLES: Record<View | 'swap' | 'several', { icon: string; color: number }> = {
  incoming: { icon: '📥', color: 0x2da44e },
  outgoing: { icon: '📤', color: 0xe5534b },
  internal: { icon: '🔁', color: 0x4184e4 },
  self: { icon: '↩️', color: 0x768390 },
  mint: { icon: '✨', color: 0x1b9aaa },
  burn: { icon: '🔥', color: 0xd4761d },
  token: { icon: '🪙', color: 0x986ee2 },
  swap: { icon: '🔄', color: 0xd6459b },
  several: { icon: '🧾', color: 0x8b949e },
};

const MAX_IDS = 400;

/** null when there is no sum or it is too long. */
export function totalMoved(alerts: readonly Alert[], context: RenderContext): string | null {
  const { transfer, count } = alerts[0]!;
  if (isItem(transfer)) {
    if (alerts.length === 1 && count === 1) return whatMoved(transfer, context);
    // Pieces of different collections have no sum, and neither do pieces and an amount.
    const isOfIt = (other: Transfer) => isItem(other) && other.token !== null && other.token === transfer.token;
    if (alerts.length > 1 && !alerts.every((alert) => isOfIt(alert.transfer))) return null;
    const pieces = alerts.reduce((sum, alert) => sum + amountOf(alert.transfer) * BigInt(alert.count), 0n);
    return `${number(pieces, context)} × ${assetName(transfer, context)}`;
  }
  const sum = sumOf(alerts);
  if (sum === null) return alerts.length === 1 && count === 1 ? whatMoved(transfer, context) : null;
  const summed = { ...transfer, ...sum };
  const { length } = whatMoved(summed, { ...context, linksTokens: false });
  return length > MAX_SUM ? null : whatMoved(summed, context);
}

export const partiesOn = (alerts: readonly Alert[], side: Side): (AddressText | null)[] => [
  ...new Set(alerts.map(({ transfer }) => transfer[side])),
];

export const countOf = (alerts: readonly Alert[], context: RenderContext): string =>
  context.t('alert.inOneTransaction', counted(transferCount(alerts), context));

export const inTransfers = (amount: string, alerts: readonly Alert[], context: RenderContext): string =>
  context.t('alert.inTransfers', { ...counted(transferCount(alerts), context), amount });

/** The sum of several transfers that go one way; null: there is none. */
export function sumWords({ alerts, parts, context }: Shown): string | null {
  if (parts.some((part) => part.kind !== 'line' || part.view !== (parts[0] as Line).view)) return null;
  const amount = totalMoved(alerts, context);
  return amount === null ? null : inTransfers(amount, alerts, context);
}

export const worthlessCount = (worthless: readonly Alert[], context: RenderContext): string =>
  `-# ${context.t('alert.moreUncataloged', counted(transferCount(worthless), context))}`;

export function partWords(part: Line, context: RenderContext): string {
  const [{ transfer, count }] = part.alerts as Alerts;
  if (part.kind === 'line') return `${whatMoved(transfer, context)}${count > 1 ? ` ×${number(count, context)}` : ''}`;
  return totalMoved(part.alerts, context)!;
}

export function swapWords(part: Swap, context: RenderContext): { gave: string; got: string } | null {
  const gave = totalMoved(part.gave, context);
  const got = totalMoved(part.got, context);
  return gave === null || got === null ? null : { gave, got };
}

/** The only counterparty of a swap whose title says everything else; undefined: its legs are shown. */
export function counterpartyOf(part: Swap, context: RenderContext): AddressText | null | undefined {
  const others = new Set([...partiesOn(part.gave, 'to'), ...partiesOn(part.got, 'from')]);
  return others.size === 1 && part.alerts.length === 2 && swapWords(part, context) !== null
    ? [...others][0]
    : undefined;
}

export function legsOf({ gave, got }: Swap): Line[] {
  const leg =
    (view: View) =>
    (alert: Alert): Line => ({ kind: 'line', view, alerts: [alert] });
  return [...gave.map(leg('outgoing')), ...got.map(leg('incoming'))];
}

/** Runs as `#1–#20`, several pieces as `#7 ×3`, up to a length that people read. */
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
