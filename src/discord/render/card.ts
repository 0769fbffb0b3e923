import type { APIEmbed, APIEmbedField } from 'discord.js';
import { type AddressText, shortAddress, ZERO_ADDRESS } from '../../domain/address.ts';
import type { Alert } from '../../domain/alert.ts';
import type { Perspective } from '../../domain/subscription.ts';
import { asName, inCode } from '../../domain/text.ts';
import { MAX_TITLE } from '../command.ts';
import { compactLines } from './compact.ts';
import {
  type AlertPart,
  type Alerts,
  counterpartyOf,
  countOf,
  idsOf,
  legsOf,
  partiesOn,
  partWords,
  type Shown,
  type Side,
  type Swap,
  shownOf,
  sumWords,
  swapWords,
  VIEW_STYLES,
  worthlessCount,
} from './transaction.ts';
import { likeOf, remarksOf, WARNING_COLOR, warnedTitle, warningsOf } from './warnings.ts';
import {
  andMore,
  code,
  feeText,
  hash,
  linked,
  MAX_TOKEN_ID,
  named,
  nameOf,
  number,
  type RenderContext,
  transactionPage,
  worthOfAll,
} from './wording.ts';

const MAX_PARTIES = 5;
const MAX_WATCHED = 10;
const SIDES = ['from', 'to'] as const;
/** A transaction with more parts shows sums, so that it fits into one message. */
const MAX_PARTS = 25;

export function transactionEmbed(all: Alerts, given: RenderContext): APIEmbed {
  const shown = shownOf(all, given);
  const { alerts, parts, worthless, context } = shown;
  const isLong = parts.length > MAX_PARTS;
  const url = transactionPage(context, alerts[0].transfer.txHash);
  const { title, color } = heading(shown);
  // A token may claim 255 decimals, and every digit of its amounts is shown.
  const fits = title.length <= MAX_TITLE;
  const warnings = warningsOf(alerts, context);
  return {
    title: fits ? title : heading(shown, context.t('alert.amountBelow')).title,
    ...(url ? { url } : {}),
    color,
    description: [
      ...warnings,
      ...(warnings.length > 0 ? [''] : []),
      ...(fits || parts.length > 1 ? [] : amountsOf(parts[0], context)),
      ...(isLong ? compactLines(alerts, context).slice(1) : bodyOf(shown)),
      ...(worthless.length > 0 ? [worthlessCount(worthless, context)] : []),
    ].join('\n'),
    fields: isLong ? [transactionField(alerts, context)] : details(shown),
    ...(context.network !== undefined && { author: { name: context.network } }),
    footer: { text: footer(alerts, context) },
    timestamp: new Date(alerts[0].createdAt).toISOString(),
  };
}

const viewOfPart = (part: AlertPart) => (part.kind === 'swap' ? 'swap' : part.view);

/** Empty for a swap whose amounts are too long: its legs show them. */
function amountsOf(part: AlertPart, context: RenderContext): string[] {
  if (part.kind !== 'swap') return [partWords(part, context)];
  const words = swapWords(part, context);
  return words === null ? [] : [`${words.gave} → ${words.got}`];
}

function bodyOf({ alerts, parts, context }: Shown): string[] {
  const remarks = ({ alerts }: AlertPart) => remarksOf(alerts, context).map((line) => `-# ${line}`);
  if (parts.length === 1) {
    const [part] = parts;
    return [
      ...worthOfAll(part.kind === 'swap' ? part.gave : part.alerts, context),
      ...(betweenWatched(part, context) ?? contentOf(part, SIDES, context)),
      ...remarks(part),
    ];
  }
  const plain = parts.every(({ kind }) => kind !== 'swap');
  // Facts that all transfers share are shown once, above them.
  const shared = SIDES.filter((side) => plain && partiesOn(alerts, side).length === 1);
  const own = SIDES.filter((side) => !shared.includes(side));
  return [
    ...shared.flatMap((side) => sideLines(side, alerts, context)),
    ...parts.flatMap((part, index) => [
      ...(index > 0 || shared.length > 0 ? [''] : []),
      ...partTitle(part, context),
      ...contentOf(part, own, context),
      ...remarks(part),
    ]),
  ];
}

/** One line above both addresses; null for anything but a move between two watched wallets with names. */
function betweenWatched(part: AlertPart, context: RenderContext): string[] | null {
  if (part.kind !== 'line' || part.view !== 'internal') return null;
  const { from, to } = part.alerts[0].transfer;
  const [fromName, toName] = [from, to].map((address) => address && nameOf(address, part.alerts, context));
  if (!fromName || !toName) return null;
  return [
    `**${context.t('alert.bothWatched', { from: fromName, to: toName })}**`,
    addressLine(from!, part.alerts, context),
    addressLine(to!, part.alerts, context),
  ];
}

function partTitle(part: AlertPart, context: RenderContext): string[] {
  const { icon } = VIEW_STYLES[viewOfPart(part)];
  const worth = part.kind === 'swap' ? [] : worthOfAll(part.alerts, context);
  return amountsOf(part, context).map((words) => [`${icon} **${words}**`, ...worth].join(' '));
}

function contentOf(part: AlertPart, sides: readonly Side[], context: RenderContext): string[] {
  if (part.kind === 'swap') return swapLines(part, context);
  return [
    ...(part.kind === 'sweep' ? [idsOf(part.alerts, context)] : []),
    ...sides.flatMap((side) => sideLines(side, part.alerts, context)),
  ];
}

function swapLines(part: Swap, context: RenderContext): string[] {
  const lines = partyLines('wallet', [part.wallet], part.alerts, context);
  const other = counterpartyOf(part, context);
  if (other !== undefined) return [...lines, ...partyLines('with', [other], part.alerts, context)];
  return [
    ...lines,
    ...legsOf(part).flatMap((leg) => [
      ...partTitle(leg, context),
      ...sideLines(leg.view === 'outgoing' ? 'to' : 'from', leg.alerts, context),
    ]),
  ];
}

const sideLines = (side: Side, alerts: readonly Alert[], context: RenderContext): string[] =>
  partyLines(side, partiesOn(alerts, side), alerts, context);

function partyLines(
  word: Side | 'wallet' | 'with',
  addresses: readonly (AddressText | null)[],
  alerts: readonly Alert[],
  context: RenderContext,
): string[] {
  const { t } = context;
  return [
    ...addresses.slice(0, MAX_PARTIES).flatMap((address, index) => {
      const title = index === 0 ? `**${t(`alert.${word}`)}**` : '';
      if (address === null) return [`${title} ${t('alert.unknown')}`.trim()];
      if (address === ZERO_ADDRESS) {
        const zero = word === 'from' ? 'alert.newlyMinted' : word === 'to' ? 'alert.burnt' : 'alert.zeroAddress';
        return [`${title} ${t(zero)}`.trim()];
      }
      const fake = likeOf(address, alerts) ? '⚠️' : '';
      const head = [title, fake, nameOf(address, alerts, context)].filter(Boolean).join(' ');
      return [...(head === '' ? [] : [head]), addressLine(address, alerts, context)];
    }),
    ...andMore(addresses.length - MAX_PARTIES, context),
  ];
}

function addressLine(address: AddressText, alerts: readonly Alert[], context: RenderContext): string {
  return `-# ${linked(address, 'address', likeOf(address, alerts) ? { ...context, unlinked: true } : context)}`;
}

/** `what` replaces amounts that are too long for a title. */
function heading(shown: Shown, what?: string): { title: string; color: number } {
  const { alerts, parts, context } = shown;
  const views = new Set(parts.map(viewOfPart));
  const { icon, color } = VIEW_STYLES[views.size === 1 ? [...views][0]! : 'several'];
  const title = `${icon} ${headline(shown, what)}`;
  const warned = warnedTitle(title, alerts, context);
  return { title: warned, color: warned === title ? color : WARNING_COLOR };
}

function headline(shown: Shown, what: string | undefined): string {
  const { alerts, parts, context } = shown;
  const { t } = context;
  const [part] = parts;
  if (part.kind === 'swap') {
    const words = parts.length === 1 && what === undefined ? swapWords(part, context) : null;
    return words === null ? countOf(alerts, context) : t('alert.swap', words);
  }
  if (parts.some((other) => other.kind === 'swap' || other.view !== part.view)) return countOf(alerts, context);
  if (parts.length === 1) return t(`alert.${part.view}`, { what: what ?? partWords(part, context) });
  const sum = what === undefined ? sumWords(shown) : null;
  return t(`alert.${part.view}`, { what: sum ?? countOf(alerts, context) });
}

function details({ alerts, parts, context }: Shown): APIEmbedField[] {
  const { t } = context;
  const fields: APIEmbedField[] = [];
  const inOrder = parts.flatMap((part) => part.alerts);
  for (const [token, list] of Map.groupBy(inOrder, ({ transfer }) => transfer.token)) {
    if (token === null) continue;
    const { transfer, labels } = list[0]!;
    const write = context.cataloged.has(token) ? asName : inCode;
    const written = (name: string | null, fallback: string) => write(name, fallback, undefined, t('alert.hiddenName'));
    const own = written(transfer.tokenName, written(transfer.tokenSymbol, t('alert.unnamed')));
    const name = labels[token] ? `${named(labels[token], context)} · ${own}` : own;
    fields.push({ name: t('alert.tokenField'), value: `${name}\n-# ${linked(token, 'token', context)}` });
  }
  if (alerts.length === 1) {
    const { tokenId, tokenIdExact } = alerts[0].transfer;
    if (tokenId !== null && tokenIdExact && tokenId.length > MAX_TOKEN_ID)
      fields.push({ name: t('alert.tokenIdField'), value: `\`${tokenId}\`` });
  }
  return [...fields, transactionField(alerts, context)];
}

function transactionField(alerts: Alerts, context: RenderContext): APIEmbedField {
  const { t } = context;
  const transfers = alerts.map(({ transfer }) => transfer);
  // The title links to it; the full hash is written out only where there is no link.
  const id = hash(transfers[0]!);
  const shown = transactionPage(context, transfers[0]!.txHash) ? `${id.slice(0, 10)}…${id.slice(-8)}` : id;
  // If a transfer was seen in another block later, that block counts.
  const placed = alerts.findLast(({ reorganized }) => reorganized)?.transfer ?? transfers[0]!;
  const facts: string[] = [];
  if (placed.blockNumber !== null) facts.push(t('alert.block', { block: number(placed.blockNumber, context) }));
  const payer = transfers.find(({ gasFee }) => gasFee !== null);
  const native = transfers.find(({ kind }) => kind === 'native') ?? payer;
  if (payer) facts.push(feeText(payer.gasFee!, native!, context));
  return {
    name: t('alert.transactionField'),
    value: [`\`${shown}\``, facts.join(' · ')].filter(Boolean).join('\n'),
  };
}

function footer(alerts: Alerts, context: RenderContext): string {
  const { t } = context;
  // Grouped by address: several subscriptions may have the same name, and a transfer between two of them is neither
  // incoming nor outgoing.
  const seen = new Map<AddressText, { name: string; perspectives: Set<Perspective> }>();
  for (const { matches, labels } of alerts) {
    for (const { address, label, perspective } of matches) {
      const name = code(label ?? labels[address], shortAddress(address), context).replaceAll('`', '');
      const perspectives = seen.get(address)?.perspectives ?? new Set();
      seen.set(address, { name, perspectives: perspectives.add(perspective) });
    }
  }
  const names = [...seen.values()].flatMap(({ name, perspectives }) => {
    const both = perspectives.has('incoming') && perspectives.has('outgoing');
    const others = [...perspectives].filter(
      (perspective) => !both || (perspective !== 'incoming' && perspective !== 'outgoing'),
    );
    return [
      ...(both ? [t('alert.watchedBoth', { name })] : []),
      ...others.map((perspective) => t(`alert.watched.${perspective}`, { name })),
    ];
  });
  const shown = [...names.slice(0, MAX_WATCHED), ...andMore(names.length - MAX_WATCHED, context)];
  return t('alert.watching', { names: shown.join(t('reply.comma')) });
}
