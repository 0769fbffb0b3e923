import type { APIEmbed, APIEmbedField } from 'discord.js';
import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { inUnits } from '../domain/amount.ts';
import type { Perspective } from '../domain/subscription.ts';
import { asName, inCode } from '../domain/text.ts';
import { partsOf } from '../domain/transaction-parts.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { writeNumber } from '../languages/number.ts';
import { type AlertPart, type Alerts, bodyOf, partWords, swapWords } from './body.ts';
import { MAX_TITLE } from './message-limits.ts';
import type { RenderContext } from './render-context.ts';
import { WARNING_COLOR, warningsOf } from './warnings.ts';
import {
  code,
  coin,
  counted,
  hash,
  linked,
  MAX_TOKEN_ID,
  named,
  number,
  totalMoved,
  transactionUrl,
  transferCount,
  VIEW_STYLES,
} from './wording.ts';

/** Maximum number of names in a footer. */
const MAX_WATCHED = 10;
const WATCHED = {
  incoming: 'alert.watchedIncoming',
  outgoing: 'alert.watchedOutgoing',
  self: 'alert.watchedSelf',
  token: 'alert.watchedToken',
} as const;

/** Renders all alerts of one transaction as one embed. */
export function transactionEmbed(alerts: Alerts, context: RenderContext): APIEmbed {
  const parts = partsOf(alerts);
  const url = transactionUrl(alerts[0].transfer, context);
  const { title, color } = heading(parts, context);
  // A token may claim 255 decimals, and every digit of its amounts is shown.
  const fits = title.length <= MAX_TITLE;
  const warnings = warningsOf(alerts, context);
  return {
    title: fits ? title : heading(parts, context, context.t('alert.amountBelow')).title,
    ...(url ? { url } : {}),
    color,
    description: [
      ...warnings,
      ...(warnings.length > 0 ? [''] : []),
      ...(fits || parts.length > 1 ? [] : amountsOf(parts[0]!, context)),
      ...bodyOf(parts, context),
    ].join('\n'),
    fields: details(alerts, parts, context),
    footer: { text: footer(alerts, context) },
    timestamp: new Date(alerts[0].createdAt).toISOString(),
  };
}

/** The amounts that do not fit into the title, unless the lines below show them. */
function amountsOf(part: AlertPart, context: RenderContext): string[] {
  if (part.kind !== 'swap') return [partWords(part, context)];
  const words = swapWords(part, context);
  return words === null ? [] : [`${words.gave} → ${words.got}`];
}

/** The alerts in the order of the parts; what a swap gave is before what it got. */
function inOrder(parts: AlertPart[]): Alert[] {
  return parts.flatMap((part) => (part.kind === 'swap' ? [...part.gave, ...part.got] : part.alerts));
}

/** The title and its color. `what` replaces amounts that are too long for a title. */
function heading(parts: AlertPart[], context: RenderContext, what?: string): { title: string; color: number } {
  const alerts = parts.flatMap((part) => part.alerts);
  const views = new Set(parts.map((part) => (part.kind === 'swap' ? 'swap' : part.view)));
  const { icon, color } = VIEW_STYLES[views.size === 1 ? [...views][0]! : 'several'];
  const title = `${icon} ${headline(parts, context, what)}`;
  const warnings = new Set(alerts.flatMap((alert) => alert.warnings.map(({ kind }) => kind)));
  if (warnings.has('look-alike'))
    return { title: `⚠️ ${context.t('alert.lookAlike', { title })}`, color: WARNING_COLOR };
  if (warnings.has('imitation')) return { title: `⚠️ ${context.t('alert.imitation', { title })}`, color: WARNING_COLOR };
  if (warnings.has('other-project')) return { title: `⚠️ ${title}`, color: WARNING_COLOR };
  return { title, color };
}

function headline(parts: AlertPart[], context: RenderContext, what: string | undefined): string {
  const { t } = context;
  const [part] = parts as [AlertPart, ...AlertPart[]];
  const alerts = parts.flatMap((one) => one.alerts);
  const count = counted(transferCount(alerts), context);
  if (part.kind === 'swap') {
    const words = parts.length === 1 && what === undefined ? swapWords(part, context) : null;
    return words === null ? t('alert.inOneTransaction', count) : t('alert.swap', words);
  }
  if (parts.some((one) => one.kind === 'swap' || one.view !== part.view)) return t('alert.inOneTransaction', count);
  if (parts.length === 1) return t(`alert.${part.view}`, { what: what ?? partWords(part, context) });
  const lines = what === undefined && parts.every(({ kind }) => kind === 'line');
  const amount = lines ? totalMoved(alerts, context) : null;
  const together = amount === null ? t('alert.inOneTransaction', count) : t('alert.inTransfers', { ...count, amount });
  return t(`alert.${part.view}`, { what: together });
}

/** The details: tokens, long IDs, and the transaction with its block and fee. */
function details(alerts: Alerts, parts: AlertPart[], context: RenderContext): APIEmbedField[] {
  const { t } = context;
  const fields: APIEmbedField[] = [];
  for (const [token, list] of Map.groupBy(inOrder(parts), ({ transfer }) => transfer.token)) {
    if (token === null) continue;
    const { transfer, labels } = list[0]!;
    const write = context.cataloged.has(token) ? asName : inCode;
    const hidden = t('alert.hiddenName');
    const own = write(
      transfer.tokenName,
      write(transfer.tokenSymbol, t('alert.unnamed'), undefined, hidden),
      undefined,
      hidden,
    );
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
  const shown = transactionUrl(transfers[0]!, context) ? `${id.slice(0, 10)}…${id.slice(-8)}` : id;
  // If a transfer was seen in another block later, that block counts.
  const placed = alerts.findLast(({ reorganized }) => reorganized)?.transfer ?? transfers[0]!;
  const facts: string[] = [];
  if (placed.blockNumber !== null) facts.push(t('alert.block', { block: number(placed.blockNumber, context) }));
  const payer = transfers.find(({ gasFee }) => gasFee !== null);
  const native = transfers.find(({ kind }) => kind === 'native') ?? payer;
  if (payer) {
    const fee = writeNumber(inUnits(payer.gasFee!, 18), context.language);
    facts.push(t('alert.fee', { fee: `${fee} ${coin(native!, context)}` }));
  }
  return {
    name: t('alert.transactionField'),
    value: [`\`${shown}\``, facts.join(' · ')].filter(Boolean).join('\n'),
  };
}

/** The subscriptions that the alerts match, as a footer's plain text. */
function footer(alerts: Alerts, context: RenderContext): string {
  const { t } = context;
  // Grouped by address: several may have the same name, and a transfer between two of them is neither incoming nor
  // outgoing.
  const seen = new Map<AddressText, { name: string; perspectives: Set<Perspective> }>();
  for (const { matches, labels } of alerts) {
    for (const { address, label, perspective } of matches) {
      const short = checksumAddress(address);
      const name = code(label ?? labels[address], `${short.slice(0, 6)}…${short.slice(-4)}`, context).replaceAll(
        '`',
        '',
      );
      const perspectives = seen.get(address)?.perspectives ?? new Set();
      seen.set(address, { name, perspectives: perspectives.add(perspective) });
    }
  }
  const names = [...seen.values()].flatMap(({ name, perspectives }) => {
    const both = perspectives.has('incoming') && perspectives.has('outgoing');
    const alone = [...perspectives].filter((one) => !both || (one !== 'incoming' && one !== 'outgoing'));
    return [...(both ? [t('alert.watchedBoth', { name })] : []), ...alone.map((one) => t(WATCHED[one], { name }))];
  });
  const rest = names.length - MAX_WATCHED;
  const shown = { names: names.slice(0, MAX_WATCHED).join(t('reply.comma')) };
  return rest > 0 ? t('alert.watchingMore', { ...shown, number: number(rest, context) }) : t('alert.watching', shown);
}
