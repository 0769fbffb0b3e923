import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIEmbed,
  ButtonStyle,
  ComponentType,
  MessageFlags,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';
import { type AddressText, checksumAddress } from '../../domain/address.ts';
import { type Alert, isSuspect, isWorthless, mentionsOf, transactionOf, viewOf } from '../../domain/alert.ts';
import { MAX_OF_ONE_TRANSACTION } from '../../domain/batch.ts';
import type { AlertStyle } from '../../domain/subscription.ts';
import { MAX_CONTENT, MAX_DESCRIPTION, MAX_EMBEDS, MAX_FIELDS } from '../command.ts';
import { transactionEmbed } from './card.ts';
import { compactLines, headlineAbove, titleOnly } from './compact.ts';
import { type Alerts, asShown, VIEW_STYLES } from './transaction.ts';
import { remarksOf, warningsOf } from './warnings.ts';
import { code, fitting, hash, type RenderContext, type RenderSettings, renderContext } from './wording.ts';

type Message = RESTPostAPIChannelMessageJSONBody;

/** The longest that an amount and a token ID can be together. */
const MAX_RAW_AMOUNT = 200;
/** A push notification shows a few lines. */
export const MAX_HEADLINES = 3;

interface Room {
  characters: number;
  description: number;
  transactions: number;
}

/** A new message is not filled up: names and remarks that are added later need room, too. */
const ROOM: Record<AlertStyle, { max: Room; atFirst: Room }> = {
  full: {
    max: { characters: 6_000, description: MAX_DESCRIPTION, transactions: MAX_EMBEDS },
    atFirst: { characters: 5_200, description: 3_500, transactions: MAX_EMBEDS },
  },
  // The text of all components, mentions included.
  compact: {
    // A transfer that turns out not to be on the chain is shown apart from the rest of its transaction.
    max: { characters: 4_000, description: 4_000, transactions: 2 * MAX_EMBEDS },
    atFirst: { characters: 3_800, description: 3_800, transactions: MAX_EMBEDS },
  },
};

type Rendered = APIEmbed | string;

/**
 * Renders as many alerts (in order, at least one) as fit into a new message; `used` says how many. It mentions the
 * subscriptions' roles that are due at `now`.
 */
export function renderAlerts(
  settings: RenderSettings,
  alerts: Alert[],
  reference: string,
  now: number,
): { payload: Message; used: number } {
  const { style, alike } = alikeOf(alerts);
  let first = alike;
  let { roles } = mentionsOf(alike, now);
  if (roles.length > 0) {
    // A push notification shows a message's beginning, so a transaction that pings begins a message.
    const runs = runsOf(alike);
    const pinging = runs.findIndex((run) => mentionsOf(run.alerts, now).roles.length > 0);
    if (pinging > 0) [first, roles] = [runs.slice(0, pinging).flatMap((run) => run.alerts), []];
  }
  const context = renderContext(first, settings);
  const filled = fill(first, style, context, ROOM[style].atFirst, roles);
  const form = { style, roles: mentionsOf(first.slice(0, filled.used), now).roles };
  return { payload: messageOf(filled, form, reference, context), used: filled.used };
}

/**
 * Leaves room for names that are added later. `payload`: JSON of the body that the message was created with; Discord
 * lets no message change its form.
 */
export function countFitting(settings: RenderSettings, alerts: Alert[], payload: string): number {
  const { style, roles } = formOf(payload);
  const other = style === 'full' ? -1 : alerts.findIndex(isSuspicious);
  const fitting = other === -1 ? alerts : alerts.slice(0, other);
  if (fitting.length === 0) return 0;
  return fill(fitting, style, renderContext(fitting, settings), ROOM[style].atFirst, roles).used;
}

/**
 * Keeps all alerts of a message by dropping links to addresses, then by shortening labels and what the chain does not
 * have, and without balances and lesser remarks. `before`: JSON of the body that the message was created with.
 */
export function renderAgain(
  settings: RenderSettings,
  alerts: Alert[],
  reference: string,
  before: string,
): { payload: Message; used: number } {
  const { style, roles } = formOf(before);
  const context = renderContext(alerts, settings);
  const shorter = { ...context, unlinked: true };
  let filled = fill(alerts, style, context, ROOM[style].max, roles);
  for (const attempt of [shorter, { ...shorter, isShort: true }])
    if (filled.used < alerts.length) filled = fill(alerts, style, attempt, ROOM[style].max, roles);
  const payload = messageOf(filled, { style, roles }, reference, context);
  return { payload: { ...payload, allowed_mentions: { parse: [] } }, used: filled.used };
}

interface Form {
  style: AlertStyle;
  roles: readonly string[];
}

function formOf(payload: string): Form {
  const { flags, embeds, allowed_mentions } = JSON.parse(payload) as Message;
  if ((Number(flags ?? 0) & MessageFlags.IsComponentsV2) !== 0) return { style: 'compact', roles: [] };
  // Each card has a title; compact alerts that ping have none.
  const isFull = embeds?.some(({ title }) => title !== undefined) ?? false;
  return { style: isFull ? 'full' : 'compact', roles: allowed_mentions?.roles ?? [] };
}

/** Such an alert is a card, with the warnings and every address in full. The same warning within an hour is not. */
const isSuspicious = ({ warnings }: Alert): boolean =>
  warnings.some(
    (warning) =>
      warning.kind === 'other-project' ||
      ((warning.kind === 'look-alike' || warning.kind === 'imitation') && !warning.isRepeat),
  );

/** The alerts of one style that come first: one of another style begins a new message. */
function alikeOf(alerts: Alert[]): { style: AlertStyle; alike: Alert[] } {
  // Unknown and worthless tokens take the style of the rest of their transaction.
  const worthy = new Map<string, AlertStyle>();
  const lesser = new Set<Alert>();
  for (const alert of alerts) {
    if (isSuspect(alert) || isWorthless(alert)) lesser.add(alert);
    else worthy.set(transactionOf(alert), alert.style);
  }
  let first: AlertStyle | undefined;
  for (const [index, alert] of alerts.entries()) {
    const own = lesser.has(alert) ? (worthy.get(transactionOf(alert)) ?? 'compact') : alert.style;
    const style = isSuspicious(alert) ? 'full' : own;
    first ??= style;
    if (style !== first) return { style: first, alike: alerts.slice(0, index) };
  }
  return { style: first!, alike: alerts };
}

const mentionOf = (roles: readonly string[]): string => roles.map((role) => `<@&${role}>`).join(' ');

function messageOf(
  { rendered, headlines }: Filled,
  { style, roles }: Form,
  reference: string,
  context: RenderContext,
): Message {
  const card = (embeds: APIEmbed[]) => cardMessage(embeds, headlines, roles, reference, context);
  if (style === 'full') return card(rendered as APIEmbed[]);
  const texts = rendered as string[];
  if (roles.length > 0) {
    // The text is content, because a push notification of Components V2 has none.
    const text = texts.join('\n');
    const content = text.replace(/\n|$/, (end) => ` ${mentionOf(roles)}${end}`);
    if (content.length > MAX_CONTENT) return { ...card([{ description: text }]), flags: 0 as number };
    // Links to the explorer get no previews.
    return { ...card([]), content, flags: MessageFlags.SuppressEmbeds };
  }
  const [first, ...others] = texts.map((content) => ({ type: ComponentType.TextDisplay as const, content }));
  return {
    flags: MessageFlags.IsComponentsV2,
    components: [
      { type: ComponentType.Section, components: [first!], accessory: detailsButton(reference, context) },
      ...others,
    ],
    allowed_mentions: { parse: [] },
  };
}

export function cardMessage(
  embeds: APIEmbed[],
  headlines: readonly string[],
  roles: readonly string[],
  reference: string,
  context: RenderContext,
): Message {
  return {
    embeds,
    components: [buttonRow(reference, context)],
    allowed_mentions: { parse: [], ...(roles.length > 0 && { roles: [...roles] }) },
    ...(roles.length > 0 && { content: `${headlines.slice(0, MAX_HEADLINES).join('\n')} ${mentionOf(roles)}` }),
  };
}

interface Filled {
  rendered: Rendered[];
  headlines: string[];
  used: number;
}

/** Groups alerts by transaction until the next one would exceed the room, less `roles`, or a limit of Discord. */
function fill(
  alerts: Alert[],
  style: AlertStyle,
  context: RenderContext,
  room: Room,
  roles: readonly string[],
): Filled {
  const plain = { ...context, plainTitles: roles.length > 0 };
  const byTransaction = new Map<string, { alerts: Alerts; rendered: Rendered; length: number }>();
  // In a message with embeds, mentions are in the content, which has a limit of its own.
  let characters = style === 'full' ? 0 : 1 + mentionOf(roles).length;
  const isWhole = style === 'full' && context.isShort === true;
  let used = 0;
  let waiting = runsOf(alerts.slice(0, MAX_OF_ONE_TRANSACTION).map(asShown), isWhole);
  while (waiting.length > 0) {
    const { transaction, alerts: more } = waiting.shift()!;
    const before = byTransaction.get(transaction);
    const all: Alerts = before ? [...before.alerts, ...more] : more;
    const isGone = context.isShort && all.every(({ transfer }) => transfer.settled === 0);
    let rendered: Rendered;
    if (style === 'full') {
      const card = transactionEmbed(all, plain);
      rendered = isGone ? { ...card, description: plain.t('alert.notOnChain'), fields: [] } : card;
    } else if (isGone) rendered = `~~${titleOnly(all, plain)}~~ · ${plain.t('alert.notOnChainShort')}`;
    else rendered = compactLines(all, plain).join('\n');
    const length = typeof rendered === 'string' ? rendered.length : lengthOf(rendered);
    const sum = characters + length - (before?.length ?? 0);
    const fits =
      (before !== undefined || byTransaction.size < room.transactions) &&
      sum <= room.characters &&
      (typeof rendered === 'string' ||
        (rendered.description!.length <= room.description && rendered.fields!.length <= MAX_FIELDS));
    // A single alert is always sent.
    if (fits || (used === 0 && more.length === 1)) {
      byTransaction.set(transaction, { alerts: all, rendered, length });
      characters = sum;
      used += more.length;
    } else if (more.length > 1) waiting = more.map((alert) => ({ transaction, alerts: [alert] }));
    else break;
  }
  const filled: Filled = { rendered: [], headlines: [], used };
  for (const transaction of byTransaction.values()) {
    filled.rendered.push(transaction.rendered);
    if (roles.length > 0) filled.headlines.push(headlineAbove(transaction.alerts, context));
  }
  return filled;
}

interface Run {
  /** Equal for alerts that are shown together. */
  transaction: string;
  alerts: Alerts;
}

/** Transfers that the chain does not have are shown apart, unless `isWhole` is set. */
function runsOf(alerts: readonly Alert[], isWhole = false): Run[] {
  const runs: Run[] = [];
  for (const alert of alerts) {
    const isGone = alert.transfer.settled === 0;
    const transaction = isWhole ? transactionOf(alert) : `${transactionOf(alert)} ${isGone}`;
    const run = runs.at(-1);
    if (run?.transaction === transaction) run.alerts.push(alert);
    else runs.push({ transaction, alerts: [alert] });
  }
  return runs;
}

/** For the rare alert that Discord refuses as an embed. */
export function renderPlain(alert: Alert, reference: string): Message {
  const { transfer } = alert;
  const context = renderContext([alert], { explorerUrl: undefined, nativeSymbol: undefined });
  const { t } = context;
  const view = viewOf(alert);
  const address = (value: AddressText | null) => (value ? `\`${checksumAddress(value)}\`` : t('alert.unknown'));
  const { value, tokenId } = transfer;
  // A token ID is not an amount, and a shortened amount would be wrong.
  const raw = [value, tokenId === null ? null : `#${tokenId}`].filter((text) => text !== null).join(' × ');
  const amount = code(raw, t('alert.plainUnknownAmount'), context, MAX_RAW_AMOUNT);
  const lines = [
    ...warningsOf([alert], context),
    `${VIEW_STYLES[view].icon} ${t(`alert.${view}`, { what: t('alert.plainAmount', { amount }) })}`,
    `**${t('alert.from')}** ${address(transfer.from)}`,
    `**${t('alert.to')}** ${address(transfer.to)}`,
    `**${t('alert.tokenField')}** ${transfer.token ? address(transfer.token) : t('alert.nativeCoin')}`,
    `**${t('alert.transactionField')}** \`${hash(transfer).slice(0, 100)}\``,
    ...remarksOf([alert], context).map((line) => `-# ${line}`),
  ];
  return {
    content: fitting(lines, MAX_CONTENT + 1).join('\n'),
    components: [buttonRow(reference, context)],
    allowed_mentions: { parse: [] },
  };
}

/** By the button's ID the bot finds out whether a message was sent. */
function detailsButton(reference: string, { t }: RenderContext): APIButtonComponentWithCustomId {
  const custom_id = `why:show:${reference}`;
  return { type: ComponentType.Button, style: ButtonStyle.Secondary, label: t('alert.why').slice(0, 80), custom_id };
}

const buttonRow = (
  reference: string,
  context: RenderContext,
): APIActionRowComponent<APIButtonComponentWithCustomId> => ({
  type: ComponentType.ActionRow,
  components: [detailsButton(reference, context)],
});

function lengthOf({ author, title, description, footer, fields = [] }: APIEmbed): number {
  const texts = [author?.name, title, description, footer?.text, ...fields.flatMap(({ name, value }) => [name, value])];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
