import { type APIEmbedField, version as discordVersion } from 'discord.js';
import type { Command } from '../src/discord/command.ts';
import type { GuildOverview } from '../src/domain/overview.ts';
import type { GuildHold, SendingPause } from '../src/domain/sending-pause.ts';
import type { Silence } from '../src/domain/silence.ts';
import { isMuted, type Subscription } from '../src/domain/subscription.ts';
import { inCode } from '../src/domain/text.ts';
import type { Translate } from '../src/languages/index.ts';
import type { ProjectAccess } from '../src/upstream/projects.ts';
import { define } from './shared/define.ts';
import { boldName } from './shared/naming.ts';
import { pauseLines } from './shared/pauses.ts';
import { quotaLine, refusedFor, usageLine } from './shared/receiver.ts';
import { embedReply, firstOf, fullAddress, relativeTime, thirdPartyText } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { hiddenFrom } from './shared/visibility.ts';

type Needs = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'silence'
  | 'metrics'
  | 'projects'
  | 'settings'
  | 'now'
  | 'lastRefused'
  | 'sendingHold'
  | 'sendingPauses'
  | 'receiverQuota'
>;

/** Maximum characters of a field (Discord allows 1,024) without the last line, which counts the omitted entries. */
const MAX_FIELD_TEXT = 950;
/** Maximum number of silent addresses in the list. */
const MAX_SILENCES = 5;

/** `/status`: whether the bot works for this guild, and what waits. */
export const status = {
  data: define('status', 'Show the last event, waiting alerts and blocked channels'),
  access: 'manage',
  async execute(interaction, context) {
    const { guildId } = interaction;
    const { t, metrics, silence, now } = context;
    const [overview, subscriptions, silences, access] = await Promise.all([
      metrics.guild(guildId),
      context.subscriptions.list(guildId),
      silence.current(guildId, now()),
      context.projects.of(guildId),
    ]);
    const pauses = context.sendingPauses(guildId);
    const dead = overview.lastDeadLetter ? [overview.lastDeadLetter] : [];
    const places = [...silences, ...overview.blocked, ...pauses, ...dead];
    const channels = places.flatMap(({ channelId }) => channelId ?? []);
    const hidden = await hiddenFrom(interaction, channels, context);
    const isSeen = ({ channelId }: { channelId: string | null }) => channelId === null || !hidden.has(channelId);
    const own = access.own ? access.scope : null;
    const blocked = blockedLines(overview.blocked.filter(isSeen), context.sendingHold(guildId), context);
    const errors = [
      ...dead.filter(isSeen).map((last) => deadLetterLine(last, context)),
      refusedLine(access, context),
      own === null ? null : quotaLine(own, context),
    ].filter((line) => line !== null);
    return embedReply(blocked.length + errors.length > 0 ? 'warn' : 'info', t('status.title'), [t('status.hint')], {
      fields: [
        ...alertFields(overview, pauses.filter(isSeen), t),
        ...field(t('status.subscriptions'), subscriptionLines(subscriptions, context)),
        ...field(t('status.receiver'), own === null ? [] : [usageLine(own, context)]),
        ...field(t('status.silent'), silenceLines(silences.filter(isSeen), context)),
        ...field(t('status.stopped'), blocked),
        ...field(t('status.lastError'), errors),
      ],
      footer: { text: versionLine(context) },
    });
  },
} satisfies Command<Needs>;

/** A field with these lines; none without lines. */
const field = (name: string, lines: readonly string[]): APIEmbedField[] =>
  lines.length > 0 ? [{ name, value: lines.join('\n') }] : [];

function alertFields(
  { lastEventAt, waiting, held, deadLetters }: GuildOverview,
  pauses: readonly SendingPause[],
  t: Translate,
): APIEmbedField[] {
  const waits = [
    t('status.alerts', { count: waiting }),
    ...(held > 0 ? [t('status.held', { count: held })] : []),
    ...(waiting > held ? pauseLines(pauses, t) : []),
  ];
  return [
    {
      name: t('status.lastEvent'),
      value: lastEventAt === null ? t('status.noEvent') : relativeTime(lastEventAt),
      inline: true,
    },
    { name: t('status.waiting'), value: waits.join('\n'), inline: true },
    { name: t('status.dead'), value: t('status.alerts', { count: deadLetters }), inline: true },
  ];
}

function subscriptionLines(subscriptions: readonly Subscription[], { t, settings, now }: Needs): string[] {
  const paused = subscriptions.filter((one) => one.paused).length;
  const muted = subscriptions.filter((one) => isMuted(one, now())).length;
  return [
    t('status.subscriptionsOf', { count: subscriptions.length, max: settings.maxSubscriptions }),
    ...(paused > 0 ? [t('status.paused', { count: paused })] : []),
    ...(muted > 0 ? [t('status.muted', { count: muted })] : []),
  ];
}

function blockedLines(blocked: GuildOverview['blocked'], hold: GuildHold | null, { t }: Needs): string[] {
  const together = hold ? [t('status.together', { refusals: hold.refusals, due: relativeTime(hold.probeAt) })] : [];
  const lines = firstOf(t, blocked, hold ? 5 : 10, ({ channelId, state, since }) =>
    t(state === 'parked' ? 'status.parked' : 'status.gone', {
      channel: `<#${channelId}>`,
      ago: since === null ? t('status.unknownTime') : relativeTime(since),
    }),
  );
  return [...together, ...lines];
}

/** Busy addresses that have gone quiet. */
function silenceLines(silences: readonly Silence[], { t, settings }: Needs): string[] {
  const lines = silences.slice(0, MAX_SILENCES).map(({ address, label, lastEventAt }) =>
    t('status.silentOne', {
      name: label === null ? fullAddress(address, settings) : boldName(label),
      ago: relativeTime(lastEventAt),
    }),
  );
  // The length of links depends on the explorer's root.
  while (lines.join('\n').length > MAX_FIELD_TEXT) lines.pop();
  if (silences.length > lines.length) lines.push(t('reply.more', { count: silences.length - lines.length }));
  return lines;
}

function deadLetterLine(last: NonNullable<GuildOverview['lastDeadLetter']>, { t }: Needs): string {
  return t('status.deadLetter', {
    ago: relativeTime(last.at),
    channel: `<#${last.channelId}>`,
    reason: thirdPartyText(last.reason, 120),
  });
}

/** The last delivery from an address that is not a source, if the guild may know about it; null: none. */
function refusedLine(access: ProjectAccess, context: Needs): string | null {
  const last = refusedFor(access, context);
  return last && context.t('status.refused', { ago: relativeTime(last.at), source: inCode(last.source, '?') });
}

function versionLine({ t, settings: { version, schema } }: Needs): string {
  return t('status.footer', { version, node: process.version.slice(1), discord: discordVersion, schema });
}
