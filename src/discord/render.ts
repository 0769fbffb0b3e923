import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIEmbed,
  ButtonStyle,
  ComponentType,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';
import { type AddressText, checksumAddress } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { mentionsOf } from '../domain/mention.ts';
import { viewOf } from '../domain/story.ts';
import type { Alerts } from './body.ts';
import { transactionEmbed } from './embed.ts';
import { code, hash, LOOKS, type RenderSettings, type Voice, voiceOf } from './line.ts';
import { remarksOf, warningsOf } from './warnings.ts';

/** Discord's limits for one message. */
const MAX_EMBEDS = 10;
const MAX_FIELDS = 25;
const MAX_CONTENT = 2_000;
/** Characters of a plain line's amount and token id: all that both can have. */
const LONGEST_RAW = 200;
/** Alerts that one message tells at the most, however short. */
const MAX_ALERTS = 100;

/** How much text goes into one message, and into the description of each of its embeds. */
interface Room {
  characters: number;
  description: number;
}

/** What Discord takes. */
const MOST: Room = { characters: 6_000, description: 4_096 };
/** What a new message fills of it: the names and remarks that it gets later need room too. */
const AT_FIRST: Room = { characters: 5_200, description: 3_500 };

/**
 * Renders as many alerts (in order, at least one) as fit into one message, those of one transaction in one embed;
 * `reference` goes into every footer and the button. At `now` it mentions the subscriptions' roles that are due and
 * nobody else; null: an existing message is told anew, which mentions nobody, and goes without links to addresses rather
 * than without one of its alerts.
 */
export function renderAlerts(
  alerts: Alert[],
  reference: string,
  settings: RenderSettings,
  now: number | null = null,
): { payload: RESTPostAPIChannelMessageJSONBody; used: number } {
  const voice = voiceOf(alerts[0]!, settings);
  let filled = fill(alerts, reference, voice, now === null ? MOST : AT_FIRST);
  if (now === null && filled.used < alerts.length) filled = fill(alerts, reference, { ...voice, unlinked: true }, MOST);
  const { embeds, used } = filled;
  return { payload: messageOf(embeds, alerts.slice(0, used), reference, voice, now), used };
}

/**
 * The message that tells these alerts in these embeds, with the button that explains it. At `now` it mentions the
 * subscriptions' roles that are due and nobody else; null: nobody.
 */
export function messageOf(
  embeds: APIEmbed[],
  alerts: Alert[],
  reference: string,
  voice: Voice,
  now: number | null,
): RESTPostAPIChannelMessageJSONBody {
  const roles = now === null ? [] : mentionsOf(alerts, now).roles;
  return {
    embeds,
    components: [whyButton(reference, voice)],
    allowed_mentions: { parse: [], ...(roles.length > 0 && { roles }) },
    ...(roles.length > 0 && { content: roles.map((role) => `<@&${role}>`).join(' ') }),
  };
}

/**
 * Puts what comes one after the other of one transaction into that transaction's embed, alert by alert where not all of
 * it fits, until the next one would not fit the room or one of Discord's limits.
 */
function fill(alerts: Alert[], reference: string, voice: Voice, room: Room): { embeds: APIEmbed[]; used: number } {
  const told = new Map<string, { alerts: Alerts; embed: APIEmbed; place: number }>();
  let characters = 0;
  let used = 0;

  function add(more: Alerts): boolean {
    const { txHash } = more[0].transfer;
    const before = told.get(txHash);
    const place = before?.place ?? told.size + 1;
    const together: Alerts = before ? [...before.alerts, ...more] : more;
    const embed = transactionEmbed(together, `${reference}-${place}`, voice);
    const sum = characters + lengthOf(embed) - (before ? lengthOf(before.embed) : 0);
    const fits =
      place <= MAX_EMBEDS &&
      sum <= room.characters &&
      embed.description!.length <= room.description &&
      embed.fields!.length <= MAX_FIELDS;
    // A single alert goes out in any case.
    if (!fits && (used > 0 || more.length > 1)) return false;
    told.set(txHash, { alerts: together, embed, place });
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
  return { embeds: [...told.values()].map(({ embed }) => embed), used };
}

/** Alerts of one transaction that stand side by side. */
function runsOf(alerts: Alert[]): Alerts[] {
  const runs: Alerts[] = [];
  for (const alert of alerts) {
    const run = runs.at(-1);
    if (run && run[0].transfer.txHash === alert.transfer.txHash) run.push(alert);
    else runs.push([alert]);
  }
  return runs;
}

/** One alert as plain text, for the rare line that Discord refuses as an embed. */
export function renderPlain(alert: Alert, reference: string): RESTPostAPIChannelMessageJSONBody {
  const { transfer } = alert;
  const voice = voiceOf(alert, { explorerUrl: undefined, nativeSymbol: undefined });
  const { t } = voice;
  const view = viewOf(alert);
  const address = (value: AddressText | null) => (value ? `\`${checksumAddress(value)}\`` : t('alert.unknown'));
  const { value, tokenId } = transfer;
  // A token id is no amount, and an amount that is cut is another one.
  const raw = [value, tokenId === null ? null : `#${tokenId}`].filter((one) => one !== null).join(' × ');
  const amount = code(raw, t('alert.plainUnknownAmount'), voice, LONGEST_RAW);
  const lines = [
    ...warningsOf([alert], voice),
    `${LOOKS[view].icon} ${t(`alert.${view}`, { what: t('alert.plainAmount', { amount }) })}`,
    `**${t('alert.from')}** ${address(transfer.from)}`,
    `**${t('alert.to')}** ${address(transfer.to)}`,
    `**${t('alert.tokenField')}** ${transfer.token ? address(transfer.token) : t('alert.nativeCoin')}`,
    `**${t('alert.transactionField')}** \`${hash(transfer).slice(0, 100)}\``,
    ...remarksOf([alert], voice),
    `-# ${t('alert.reference', { reference: `${reference}-1` })}`,
  ];
  while (lines.join('\n').length > MAX_CONTENT) lines.splice(-2, 1);
  return {
    content: lines.join('\n'),
    components: [whyButton(reference, voice)],
    allowed_mentions: { parse: [] },
  };
}

/** The row with the button that explains the message; `reference` is the whole message's. */
function whyButton(reference: string, { t }: Voice): APIActionRowComponent<APIButtonComponentWithCustomId> {
  const style = ButtonStyle.Secondary as const;
  const custom_id = `why:show:${reference}`;
  return {
    type: ComponentType.ActionRow,
    components: [{ type: ComponentType.Button, style, label: t('alert.why').slice(0, 80), custom_id }],
  };
}

function lengthOf(embed: APIEmbed): number {
  const fields = embed.fields ?? [];
  const texts = [embed.title, embed.description, embed.footer?.text, ...fields.flatMap((f) => [f.name, f.value])];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
