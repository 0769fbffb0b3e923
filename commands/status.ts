import { type APIEmbedField, version as discordVersion } from 'discord.js';
import type { Command } from '../src/discord/command.ts';
import type { GuildOverview } from '../src/domain/overview.ts';
import type { GuildHold, SendingPause } from '../src/domain/sending-pause.ts';
import type { Silence } from '../src/domain/silence.ts';
import { isMuted, type Subscription } from '../src/domain/subscription.ts';
import { inCode } from '../src/domain/text.ts';
import type { Translate } from '../src/languages/index.ts';
import { define } from './shared/define.ts';
import { boldName } from './shared/naming.ts';
import { pauseLines } from './shared/pauses.ts';
import { quotaLine, refusedFor, usageLine } from './shared/project.ts';
import { ago, firstOf, fullAddress, note, prose } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { hiddenFrom } from './shared/visibility.ts';

/** `/status`: whether the bot works for this server, and what waits. */

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

/** Most characters of a field (Discord allows 1,024) without the last line, which counts the omitted entries. */
const FIELD_MOST = 950;

/** The state of this guild's alerts. */
export const status = {
  data: define('status', 'Show the last event, waiting alerts and blocked channels'),
  access: 'manage',
  async execute(interaction, context) {
    const { guildId } = interaction;
    const { t, metrics, silence, settings, now } = context;
    const [overview, subscriptions, silent, error, access] = await Promise.all([
      metrics.guild(guildId),
      context.subscriptions.list(guildId),
      silence.current(guildId, now()),
      lastRefused(guildId, context),
      context.projects.of(guildId),
    ]);
    const { lastDeadLetter: last } = overview;
    const places = [...silent, ...overview.stopped, ...(last ? [last] : [])];
    const hidden = await hiddenFrom(
      interaction,
      places.map(({ channelId }) => channelId),
      context,
    );
    const seen = ({ channelId }: { channelId: string }) => !hidden.has(channelId);
    const stopped = overview.stopped.filter(seen);
    const hold = context.sendingHold(guildId);
    const pauses = context
      .sendingPauses(guildId)
      .filter(({ channelId }) => channelId === null || !hidden.has(channelId));
    const silences = silent.filter(seen);
    const own = access.own ? access.scope : null;
    const quota = own === null ? null : quotaLine(own, context);
    const errors = [last && seen(last) ? deadLetterLine(last, context) : null, error, quota].filter(
      (line) => line !== null,
    );
    return note(
      stopped.length > 0 || hold || errors.length > 0 ? 'warn' : 'info',
      t('status.title'),
      [t('status.hint')],
      {
        fields: [
          ...alertFields(overview, pauses, t),
          { name: t('status.subscriptions'), value: subscriptionLines(subscriptions, context) },
          ...(own === null ? [] : [{ name: t('status.receiver'), value: usageLine(own, context) }]),
          ...(silences.length > 0 ? [{ name: t('status.silent'), value: silenceLines(silences, context) }] : []),
          ...(stopped.length > 0 || hold
            ? [{ name: t('status.stopped'), value: stoppedLines(stopped, hold, context) }]
            : []),
          ...(errors.length > 0 ? [{ name: t('status.lastError'), value: errors.join('\n') }] : []),
        ],
        footer: {
          text: t('status.footer', {
            version: settings.version,
            node: process.version.slice(1),
            discord: discordVersion,
            schema: settings.schema,
          }),
        },
      },
    );
  },
} satisfies Command<Needs>;

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
      value: lastEventAt === null ? t('status.noEvent') : ago(lastEventAt),
      inline: true,
    },
    { name: t('status.waiting'), value: waits.join('\n'), inline: true },
    { name: t('status.dead'), value: t('status.alerts', { count: deadLetters }), inline: true },
  ];
}

function subscriptionLines(subscriptions: readonly Subscription[], { t, settings, now }: Needs): string {
  const paused = subscriptions.filter((one) => one.paused).length;
  const muted = subscriptions.filter((one) => isMuted(one, now())).length;
  return [
    t('status.subscriptionsOf', { count: subscriptions.length, most: settings.maxSubscriptions }),
    ...(paused > 0 ? [t('status.paused', { count: paused })] : []),
    ...(muted > 0 ? [t('status.muted', { count: muted })] : []),
  ].join('\n');
}

function stoppedLines(stopped: GuildOverview['stopped'], hold: GuildHold | null, { t }: Needs): string {
  const together = hold ? [t('status.together', { refusals: hold.refusals, due: ago(hold.probeAt) })] : [];
  const lines = firstOf(t, stopped, hold ? 5 : 10, ({ channelId, state, since }) =>
    t(state === 'parked' ? 'status.parked' : 'status.gone', {
      channel: `<#${channelId}>`,
      ago: since === null ? t('status.unknownTime') : ago(since),
    }),
  );
  return [...together, ...lines].join('\n');
}

/** Busy addresses that have gone quiet. */
function silenceLines(silences: readonly Silence[], { t, settings }: Needs): string {
  const most = 5;
  const lines = silences.slice(0, most).map(({ address, label, lastEventAt }) =>
    t('status.silentOne', {
      name: label === null ? fullAddress(address, settings) : boldName(label),
      ago: ago(lastEventAt),
    }),
  );
  // The length of links depends on the explorer's root.
  while (lines.join('\n').length > FIELD_MOST) lines.pop();
  if (silences.length > lines.length) lines.push(t('reply.more', { count: silences.length - lines.length }));
  return lines.join('\n');
}

function deadLetterLine(last: NonNullable<GuildOverview['lastDeadLetter']>, { t }: Needs): string {
  return t('status.deadLetter', {
    ago: ago(last.at),
    channel: `<#${last.channelId}>`,
    reason: prose(last.reason, 120),
  });
}

/** The last delivery from a wrong source, if the guild may know about it. */
async function lastRefused(guildId: string, context: Needs): Promise<string | null> {
  const { t, projects } = context;
  const last = refusedFor(await projects.of(guildId), context);
  return last && t('status.refused', { ago: ago(last.at), source: inCode(last.source, '?') });
}
