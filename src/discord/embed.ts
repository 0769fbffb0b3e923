import type { APIEmbed, APIEmbedField } from 'discord.js';
import { type AddressText, checksumAddress, ZERO_ADDRESS } from '../domain/address.ts';
import { formatAmount } from '../domain/amount.ts';
import { isSuspect, type Part, partsOf } from '../domain/story.ts';
import type { Transfer } from '../domain/transfer.ts';
import type { ClaimedAlert } from '../store/outbox.ts';
import {
  code,
  coin,
  hash,
  LOOKS,
  labelOf,
  linked,
  number,
  shortId,
  transactionUrl,
  type Voice,
  whatMoved,
  whatTheyMoved,
} from './line.ts';
import { remarksOf, WARNING, warningsOf } from './marks.ts';

/** Discord's limit for an embed's title. */
const MAX_TITLE = 256;
/** Names in a footer. */
const WATCHED_SHOWN = 10;
/** Full addresses on one side of a sweep, and characters of its ids. */
const PARTIES_SHOWN = 5;
const IDS_LONGEST = 400;

type Alerts = [ClaimedAlert, ...ClaimedAlert[]];
type AlertPart = Part<ClaimedAlert>;

/** Tells all alerts of one transaction in one embed. */
export function transactionEmbed(alerts: Alerts, reference: string, voice: Voice): APIEmbed {
  const parts = partsOf(alerts);
  const url = transactionUrl(alerts[0].transfer, voice);
  const { title, color } = heading(parts, voice);
  const suspects = alerts.filter(isSuspect);
  // A token may claim 255 decimals, and every digit of its amounts is told.
  const fits = title.length <= MAX_TITLE;
  const body = parts.length === 1 ? onlyPart(parts[0]!, voice) : parts.flatMap((part) => partLines(part, voice));
  const only = alerts[0].transfer;
  return {
    title: fits ? title : heading(parts, voice, voice.t('alert.amountBelow')).title,
    ...(url ? { url } : {}),
    color: suspects.length > 0 ? WARNING : color,
    description: [
      ...warningsOf(alerts, voice),
      ...(fits || parts.length > 1 ? [] : [whatMoved(only, voice)]),
      ...body,
    ].join('\n'),
    fields: details(alerts, voice),
    footer: { text: footer(alerts, reference, voice) },
    timestamp: new Date(alerts[0].createdAt).toISOString(),
  };
}

/** The title that tells the whole; `what` stands for amounts that are too long for it. */
function heading(parts: AlertPart[], voice: Voice, what?: string): { title: string; color: number } {
  const { t } = voice;
  const alerts = parts.flatMap((part) => part.alerts);
  const total = alerts.reduce((sum, { count }) => sum + count, 0);
  const counted = { count: total, number: number(total) };
  const views = new Set(parts.map((part) => (part.kind === 'swap' ? 'swap' : part.view)));
  const [view] = views;
  const [part] = parts;
  const { icon, color } = LOOKS[views.size === 1 ? view! : 'several'];
  const marked = alerts.some(({ marks }) => marks.some(({ kind }) => kind === 'look-alike'))
    ? 'lookAlike'
    : alerts.some(isSuspect)
      ? 'imitation'
      : null;
  const titled = (text: string) => {
    const title = `${icon} ${text}`;
    return { title: marked ? `⚠️ ${t(`alert.${marked}`, { title })}` : title, color };
  };
  if (parts.length === 1 && part!.kind === 'swap') {
    const gave = whatTheyMoved(part!.gave, voice);
    const got = whatTheyMoved(part!.got, voice);
    const short = what === undefined && gave !== null && got !== null;
    return titled(short ? t('alert.swap', { gave, got }) : t('alert.inOneTransaction', counted));
  }
  if (views.size > 1 || view === 'swap') return titled(t('alert.inOneTransaction', counted));
  if (parts.length === 1) return titled(t(`alert.${view!}`, { what: what ?? partWords(part!, voice) }));
  const amount = what === undefined && parts.every(({ kind }) => kind === 'line') ? whatTheyMoved(alerts, voice) : null;
  const together =
    amount === null ? t('alert.inOneTransaction', counted) : t('alert.inTransfers', { ...counted, amount });
  return titled(t(`alert.${view!}`, { what: together }));
}

/** What a line or sweep moved. */
function partWords(part: AlertPart, voice: Voice): string {
  const [{ transfer, count }] = part.alerts as Alerts;
  if (part.kind === 'line') return `${whatMoved(transfer, voice)}${count > 1 ? ` ×${number(count)}` : ''}`;
  return whatTheyMoved(part.alerts, voice) ?? voice.t('alert.amountBelow');
}

/** The body of an embed whose title tells the amount already: who, and what is not sure. */
function onlyPart(part: AlertPart, voice: Voice): string[] {
  const { t } = voice;
  const [first] = part.alerts as Alerts;
  switch (part.kind) {
    case 'swap':
      return [party('wallet', [part.wallet], part.alerts, voice), ...legs(part, voice), ...remarks(part.alerts, voice)];
    case 'sweep':
      return [...parties(part.alerts, voice), idsOf(part.alerts), ...remarks(part.alerts, voice)];
    case 'line': {
      const { from, to } = first.transfer;
      const names = [from, to].map((address) => address && labelOf(address, first));
      const [fromName, toName] = names.map((name) => name && code(name, '', voice));
      const both = part.view === 'internal' && fromName && toName;
      const told = both
        ? [
            `**${t('alert.bothWatched', { from: fromName, to: toName })}**`,
            linked(from!, 'address', voice),
            `→ ${linked(to!, 'address', voice)}`,
          ]
        : parties([first], voice);
      return [...told, ...remarksOf(first, voice)];
    }
  }
}

/** A part among others: its amount, who gave it to whom, and what is not sure. */
function partLines(part: AlertPart, voice: Voice): string[] {
  if (part.kind === 'swap') {
    return [
      `**${LOOKS.swap.icon} ${voice.t('alert.wallet')}** ${full(part.wallet, part.alerts, voice)}`,
      ...legs(part, voice),
      ...remarks(part.alerts, voice),
    ];
  }
  return [
    `${LOOKS[part.view].icon} **${partWords(part, voice)}**`,
    ...(part.kind === 'sweep' ? [idsOf(part.alerts)] : []),
    several(part.alerts, ({ from }) => from, voice),
    `→ ${several(part.alerts, ({ to }) => to, voice)}`,
    ...remarks(part.alerts, voice),
  ];
}

/** What the wallet gave to whom, and got from whom. */
function legs({ gave, got }: Extract<AlertPart, { kind: 'swap' }>, voice: Voice): string[] {
  const leg = (alert: ClaimedAlert, icon: string, arrow: string, other: AddressText | null) => [
    `${icon} **${partWords({ kind: 'line', view: 'token', alerts: [alert] }, voice)}**`,
    `${arrow} ${full(other, [alert], voice)}`,
  ];
  return [
    ...gave.flatMap((alert) => leg(alert, LOOKS.outgoing.icon, '→', alert.transfer.to)),
    ...got.flatMap((alert) => leg(alert, LOOKS.incoming.icon, '←', alert.transfer.from)),
  ];
}

const remarks = (alerts: ClaimedAlert[], voice: Voice): string[] => [
  ...new Set(alerts.flatMap((alert) => remarksOf(alert, voice))),
];

function parties(alerts: ClaimedAlert[], voice: Voice): string[] {
  const sides = (side: (transfer: Transfer) => AddressText | null) => [
    ...new Set(alerts.map(({ transfer }) => side(transfer))),
  ];
  return [
    party(
      'from',
      sides(({ from }) => from),
      alerts,
      voice,
    ),
    party(
      'to',
      sides(({ to }) => to),
      alerts,
      voice,
    ),
  ];
}

/** One side of a transfer: its word, its name, its full address. */
function party(
  word: 'from' | 'to' | 'wallet',
  addresses: (AddressText | null)[],
  alerts: ClaimedAlert[],
  voice: Voice,
): string {
  const { t } = voice;
  const title = `**${t(`alert.${word}`)}**`;
  const [address] = addresses;
  if (addresses.length > 1) return `${title}\n${list(addresses, alerts, voice)}`;
  if (!address) return `${title} ${t('alert.unknown')}`;
  if (address === ZERO_ADDRESS) return `${title} ${t(word === 'from' ? 'alert.newlyMinted' : 'alert.burnt')}`;
  const name = nameOf(address, alerts, voice);
  return `${title}${name ? ` ${name}` : ''}\n${linked(address, 'address', voice)}`;
}

function several(alerts: ClaimedAlert[], side: (transfer: Transfer) => AddressText | null, voice: Voice): string {
  return list([...new Set(alerts.map(({ transfer }) => side(transfer)))], alerts, voice);
}

function list(addresses: (AddressText | null)[], alerts: ClaimedAlert[], voice: Voice): string {
  const shown = addresses.slice(0, PARTIES_SHOWN).map((address) => full(address, alerts, voice));
  const rest = addresses.length - shown.length;
  return [...shown, ...(rest > 0 ? [voice.t('alert.more', { number: number(rest) })] : [])].join('\n');
}

/** A full address with its name before it. */
function full(address: AddressText | null, alerts: ClaimedAlert[], voice: Voice): string {
  if (address === null) return voice.t('alert.unknown');
  if (address === ZERO_ADDRESS) return voice.t('alert.zeroAddress');
  const name = nameOf(address, alerts, voice);
  return `${name ? `${name} ` : ''}${linked(address, 'address', voice)}`;
}

function nameOf(address: AddressText, alerts: ClaimedAlert[], voice: Voice): string {
  for (const alert of alerts) {
    const label = labelOf(address, alert);
    if (label !== null) return code(label, '', voice);
  }
  return '';
}

/** The ids of a sweep: runs as `#1–#20`, several pieces as `#7 ×3`, as many as are read. */
function idsOf(alerts: ClaimedAlert[]): string {
  const ids = alerts.map(({ transfer, count }) => ({
    id: BigInt(transfer.tokenId!),
    times: BigInt(transfer.kind === 'erc1155' ? (transfer.value ?? 1) : 1) * BigInt(count),
  }));
  ids.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const runs: { first: bigint; last: bigint; times: bigint }[] = [];
  for (const { id, times } of ids) {
    const run = runs.at(-1);
    if (run && times === 1n && run.times === 1n && id === run.last + 1n) run.last = id;
    else runs.push({ first: id, last: id, times });
  }
  let text = '';
  for (const [index, { first, last, times }] of runs.entries()) {
    const ends = [...new Set([first, last])]
      .map((id) => `#${shortId(id.toString())}`)
      .join(last - first > 1n ? '–' : ', ');
    const next = `${index > 0 ? ', ' : ''}${ends}${times > 1n ? ` ×${formatAmount(times.toString(), null)}` : ''}`;
    if (text.length + next.length > IDS_LONGEST) return `${text}, …`;
    text += next;
  }
  return text;
}

/** Tokens, long ids, and the transaction: its block and fee are named once. */
function details(alerts: Alerts, voice: Voice): APIEmbedField[] {
  const { t } = voice;
  const fields: APIEmbedField[] = [];
  for (const [token, list] of Map.groupBy(alerts, ({ transfer }) => transfer.token)) {
    if (token === null) continue;
    const { transfer, labels } = list[0]!;
    const own = code(transfer.tokenName, code(transfer.tokenSymbol, t('alert.unnamed'), voice), voice);
    const name = labels[token] ? `${code(labels[token], '', voice)} · ${own}` : own;
    fields.push({ name: t('alert.tokenField'), value: `${name}\n${linked(token, 'token', voice)}` });
  }
  if (alerts.length === 1) {
    const { tokenId, tokenIdExact } = alerts[0].transfer;
    if (tokenId !== null && tokenIdExact && tokenId.length > 24)
      fields.push({ name: t('alert.tokenIdField'), value: `\`${tokenId}\`` });
  }
  return [...fields, transactionField(alerts, voice)];
}

function transactionField(alerts: Alerts, voice: Voice): APIEmbedField {
  const { t } = voice;
  const transfers = alerts.map(({ transfer }) => transfer);
  // The title links to it; the full hash is written out only where there is no link.
  const id = hash(transfers[0]!);
  const shown = transactionUrl(transfers[0]!, voice) ? `${id.slice(0, 10)}…${id.slice(-8)}` : id;
  // What was seen in another block later is the one that counts.
  const placed = alerts.findLast(({ reorganised }) => reorganised)?.transfer ?? transfers[0]!;
  const facts: string[] = [];
  if (placed.blockNumber !== null) facts.push(t('alert.block', { block: number(placed.blockNumber) }));
  const payer = transfers.find(({ gasFee }) => gasFee !== null);
  const native = transfers.find(({ kind }) => kind === 'native') ?? payer;
  if (payer) facts.push(t('alert.fee', { fee: `${formatAmount(payer.gasFee!, 18)} ${coin(native!, voice)}` }));
  return {
    name: t('alert.transactionField'),
    value: [`\`${shown}\``, facts.join(' · ')].filter(Boolean).join('\n'),
  };
}

/** Every subscription that the lines are told for, in a footer's plain text. */
function footer(alerts: Alerts, reference: string, voice: Voice): string {
  const { t } = voice;
  const keys = {
    incoming: 'alert.watchedIncoming',
    outgoing: 'alert.watchedOutgoing',
    self: 'alert.watchedSelf',
    token: 'alert.watchedToken',
  } as const;
  const names = alerts.flatMap(({ matches, labels }) =>
    matches.map(({ address, label, perspective }) => {
      const short = checksumAddress(address);
      const name = code(label ?? labels[address], `${short.slice(0, 6)}…${short.slice(-4)}`, voice).replaceAll('`', '');
      return t(keys[perspective], { name });
    }),
  );
  const distinct = [...new Set(names)];
  const rest = distinct.length - WATCHED_SHOWN;
  const shown = { names: distinct.slice(0, WATCHED_SHOWN).join(', '), reference };
  return rest > 0 ? t('alert.watchingMore', { ...shown, number: number(rest) }) : t('alert.watching', shown);
}
