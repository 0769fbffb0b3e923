import {
  type APIButtonComponentWithCustomId,
  type APIEmbed,
  ButtonStyle,
  ComponentType,
  MessageFlags,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';
import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { mentionsOf } from '../domain/mention.ts';
import type { AlertStyle } from '../domain/subscription.ts';
import { isSuspect, viewOf } from '../domain/transaction-parts.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import type { Alerts } from './body.ts';
import { compactLines } from './compact.ts';
import { transactionEmbed } from './embed.ts';
import { MAX_CONTENT, MAX_DESCRIPTION, MAX_EMBEDS, MAX_FIELDS } from './message-limits.ts';
import { type RenderContext, type RenderSettings, renderContext } from './render-context.ts';
import { remarksOf, warningsOf } from './warnings.ts';
import { code, hash, VIEW_STYLES } from './wording.ts';

/** Maximum length of a plain alert's amount and token ID: the longest that both can be. */
const MAX_RAW_AMOUNT = 200;
/** Maximum number of alerts in one message, however short. */
const MAX_ALERTS = 500;

/** How many characters fit into one message, and into each embed's description. */
interface Room {
  characters: number;
  description: number;
}

/** The room of each form of message. A new one is not filled up: names and remarks that are added later need room, too. */
const ROOM: Record<AlertStyle, { max: Room; atFirst: Room }> = {
  full: {
    max: { characters: 6_000, description: MAX_DESCRIPTION },
    atFirst: { characters: 5_200, description: 3_500 },
  },
  // The text of all components, mentions included.
  compact: {
    max: { characters: 4_000, description: 4_000 },
    atFirst: { characters: 3_800, description: 3_800 },
  },
};

/** One rendered transaction: an embed, or some lines of text. */
type Rendered = APIEmbed | string;

/**
 * Renders as many alerts (in order, at least one) as fit into one message, those of one transaction together; `used`
 * says how many. The button's ID contains `reference`.
 *
 * With `now` it is a new message, which mentions the subscriptions' roles that are due then. With null an existing
 * message is rendered again: it mentions nobody, and keeps all of its alerts by dropping links to addresses, then by
 * shortening long labels. `frozen` is the JSON of the body that the message was created with, because Discord lets no
 * message change its form.
 */
export function renderAlerts(
  alerts: Alert[],
  reference: string,
  settings: RenderSettings,
  now: number | null = null,
  frozen: string | null = null,
): { payload: RESTPostAPIChannelMessageJSONBody; used: number } {
  const before = frozen === null ? null : (JSON.parse(frozen) as RESTPostAPIChannelMessageJSONBody);
  const style = before ? styleOfMessage(before) : styleOf(alerts[0]!);
  // An alert of another style begins a new message.
  const suits = (alert: Alert): boolean =>
    before ? style === 'full' || now === null || !isSuspicious(alert) : styleOf(alert) === style;
  const other = alerts.findIndex((alert) => !suits(alert));
  const alike = other === -1 ? alerts : alerts.slice(0, other);
  const context = renderContext(alike, settings);
  const { max, atFirst } = ROOM[style];
  const shownRoles = before?.allowed_mentions?.roles ?? [];
  // In a message with embeds, mentions are in the content, which has a limit of its own.
  const reserved =
    style === 'full' ? 0 : 1 + mentionOf(now === null ? shownRoles : mentionsOf(alike, now).roles).length;
  let filled = fill(alike, style, context, now === null ? max : atFirst, reserved);
  for (const hasShortNames of [false, true]) {
    if (now !== null || filled.used === alike.length) break;
    filled = fill(alike, style, { ...context, unlinked: true, hasShortNames }, max, reserved);
  }
  const shown = alike.slice(0, filled.used);
  const { used } = filled;
  if (style === 'full')
    return { payload: messageOf(filled.rendered as APIEmbed[], shown, reference, context, now), used };
  const texts = filled.rendered as string[];
  return { payload: compactMessage(texts, shown, reference, context, now, shownRoles), used };
}

/**
 * Whether it warns of a trap, of a token that the catalog does not list, or of another project. Such an alert is shown
 * as a card, with the warnings and every address in full.
 */
const isSuspicious = (alert: Alert): boolean =>
  isSuspect(alert) || alert.warnings.some(({ kind }) => kind === 'uncataloged' || kind === 'other-project');

const styleOf = (alert: Alert): AlertStyle => (isSuspicious(alert) ? 'full' : alert.style);

const styleOfMessage = ({ flags }: Pick<RESTPostAPIChannelMessageJSONBody, 'flags'>): AlertStyle =>
  (Number(flags ?? 0) & MessageFlags.IsComponentsV2) === 0 ? 'full' : 'compact';

/**
 * The message with these embeds and the button that explains it. With `now` it mentions the subscriptions' roles that
 * are due then; null: nobody.
 */
export function messageOf(
  embeds: APIEmbed[],
  alerts: Alert[],
  reference: string,
  context: RenderContext,
  now: number | null,
): RESTPostAPIChannelMessageJSONBody {
  const roles = now === null ? [] : mentionsOf(alerts, now).roles;
  return {
    embeds,
    components: [{ type: ComponentType.ActionRow, components: [detailsButton(reference, context)] }],
    allowed_mentions: { parse: [], ...(roles.length > 0 && { roles }) },
    ...(roles.length > 0 && { content: mentionOf(roles) }),
  };
}

const mentionOf = (roles: readonly string[]): string => roles.map((role) => `<@&${role}>`).join(' ');

/**
 * The message of compact alerts, with the button next to the first one. `shownRoles`: the roles that the existing
 * message shows, which are not mentioned again.
 */
function compactMessage(
  texts: string[],
  alerts: Alert[],
  reference: string,
  context: RenderContext,
  now: number | null,
  shownRoles: readonly string[],
): RESTPostAPIChannelMessageJSONBody {
  const roles = now === null ? [] : mentionsOf(alerts, now).roles;
  const shown = mentionOf(now === null ? shownRoles : roles);
  const [first = '', ...others] = texts;
  const display = (content: string) => ({ type: ComponentType.TextDisplay as const, content });
  return {
    flags: MessageFlags.IsComponentsV2,
    components: [
      {
        type: ComponentType.Section,
        components: [display(shown === '' ? first : first.replace('\n', ` ${shown}\n`))],
        accessory: detailsButton(reference, context),
      },
      ...others.map(display),
    ],
    allowed_mentions: { parse: [], ...(roles.length > 0 && { roles }) },
  };
}

/**
 * Groups consecutive alerts by transaction until the next alert would exceed the room or one of Discord's limits.
 * `reserved`: characters of the room that something else takes.
 */
function fill(
  alerts: Alert[],
  style: AlertStyle,
  context: RenderContext,
  room: Room,
  reserved: number,
): { rendered: Rendered[]; used: number } {
  const byTransaction = new Map<string, { alerts: Alerts; rendered: Rendered }>();
  let characters = reserved;
  let used = 0;

  function add(more: Alerts): boolean {
    const { txHash } = more[0].transfer;
    const before = byTransaction.get(txHash);
    const together: Alerts = before ? [...before.alerts, ...more] : more;
    const rendered =
      style === 'full' ? transactionEmbed(together, context) : compactLines(together, context).join('\n');
    const sum = characters + lengthOf(rendered) - (before ? lengthOf(before.rendered) : 0);
    const fits =
      (before !== undefined || byTransaction.size < MAX_EMBEDS) &&
      sum <= room.characters &&
      (typeof rendered === 'string' ||
        (rendered.description!.length <= room.description && rendered.fields!.length <= MAX_FIELDS));
    // A single alert is always sent.
    if (!fits && (used > 0 || more.length > 1)) return false;
    byTransaction.set(txHash, { alerts: together, rendered });
    characters = sum;
    used += more.length;
    return true;
  }

  for (const run of runsOf(alerts.slice(0, MAX_ALERTS))) {
    if (!add(run)) {
      if (run.length > 1) run.every((alert) => add([alert]));
      break;
    }
  }
  return { rendered: [...byTransaction.values()].map(({ rendered }) => rendered), used };
}

/** Groups consecutive alerts of one transaction. */
function runsOf(alerts: Alert[]): Alerts[] {
  const runs: Alerts[] = [];
  for (const alert of alerts) {
    const run = runs.at(-1);
    if (run && run[0].transfer.txHash === alert.transfer.txHash) run.push(alert);
    else runs.push([alert]);
  }
  return runs;
}

/** One alert as plain text, for the rare one that Discord refuses as an embed. */
export function renderPlain(alert: Alert, reference: string): RESTPostAPIChannelMessageJSONBody {
  const { transfer } = alert;
  const context = renderContext([alert], { explorerUrl: undefined, nativeSymbol: undefined });
  const { t } = context;
  const view = viewOf(alert);
  const address = (value: AddressText | null) => (value ? `\`${checksumAddress(value)}\`` : t('alert.unknown'));
  const { value, tokenId } = transfer;
  // A token ID is not an amount, and a shortened amount would be wrong.
  const raw = [value, tokenId === null ? null : `#${tokenId}`].filter((one) => one !== null).join(' × ');
  const amount = code(raw, t('alert.plainUnknownAmount'), context, MAX_RAW_AMOUNT);
  const lines = [
    ...warningsOf([alert], context),
    `${VIEW_STYLES[view].icon} ${t(`alert.${view}`, { what: t('alert.plainAmount', { amount }) })}`,
    `**${t('alert.from')}** ${address(transfer.from)}`,
    `**${t('alert.to')}** ${address(transfer.to)}`,
    `**${t('alert.tokenField')}** ${transfer.token ? address(transfer.token) : t('alert.nativeCoin')}`,
    `**${t('alert.transactionField')}** \`${hash(transfer).slice(0, 100)}\``,
    ...remarksOf([alert], context),
  ];
  while (lines.join('\n').length > MAX_CONTENT) lines.pop();
  return {
    content: lines.join('\n'),
    components: [{ type: ComponentType.ActionRow, components: [detailsButton(reference, context)] }],
    allowed_mentions: { parse: [] },
  };
}

/**
 * The button that explains the message. Its ID contains the message's reference, by which the bot finds out whether a
 * message was sent.
 */
function detailsButton(reference: string, { t }: RenderContext): APIButtonComponentWithCustomId {
  const custom_id = `why:show:${reference}`;
  return { type: ComponentType.Button, style: ButtonStyle.Secondary, label: t('alert.why').slice(0, 80), custom_id };
}

function lengthOf(embed: Rendered): number {
  if (typeof embed === 'string') return embed.length;
  const fields = embed.fields ?? [];
  const texts = [embed.title, embed.description, embed.footer?.text, ...fields.flatMap((f) => [f.name, f.value])];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
