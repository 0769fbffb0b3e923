import { type APIEmbedField, version as discordVersion } from 'discord.js';
import type { Command } from '../src/discord/command.ts';
import { mayHold } from '../src/domain/alert.ts';
import type { GuildOverview } from '../src/domain/guild.ts';
import { operatorScope } from '../src/domain/inbox.ts';
import type { GuildPause, SendingPause } from '../src/domain/sender.ts';
import { isMuted, type Silence, type Subscription } from '../src/domain/subscription.ts';
import { inCode } from '../src/domain/text.ts';
import type { Translate } from '../src/languages/index.ts';
import type { ProjectAccess } from '../src/upstream/projects.ts';
import { sightOf } from './shared/channels.ts';
import { rows } from './shared/components.ts';
import { define } from './shared/define.ts';
import { gapsOf, missedButtons, missedLine } from './shared/missed.ts';
import { boldName } from './shared/names.ts';
import { eachNetwork, hasSeveral, ofNetwork } from './shared/networks.ts';
import {
  asManyAsFit,
  embedReply,
  firstOf,
  fullAddress,
  MAX_FIELD_TEXT,
  relativeTime,
  thirdPartyText,
} from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { completenessLines, pauseLines, quotaLine, refusedFor, usageLine } from './shared/state-lines.ts';

const MAX_SILENCES = 5;

export const status = {
  section: 'server',
  data: define('status', 'Show the last event, waiting alerts and blocked channels'),
  access: 'manage',
  async execute(_interaction, context) {
    const { guildId, t, metrics, silence, now } = context;
    const { version, schema } = context.settings;
    const [overview, subscriptions, silences, sizes, networks] = await Promise.all([
      metrics.guild(guildId),
      context.subscriptions.list(guildId),
      silence.current(guildId, now()),
      context.quarantine.sizes(),
      Promise.all(eachNetwork(context).map(async (on) => ({ on, access: await on.projects.accessOf(guildId) }))),
    ]);
    const pauses = context.sendingPauses(guildId);
    const dead = overview.lastDeadLetter ? [overview.lastDeadLetter] : [];
    // Missed transfers, which only a node finds, are shown to people who see their subscriptions' channels.
    const watching = context.completeness().length > 0 ? subscriptions : [];
    const withChannels = [...watching, ...silences, ...overview.blocked, ...pauses, ...dead];
    const isSeen = await sightOf(withChannels, context);
    const missed = await gapsOf(guildId, context, isSeen);
    const gaps = missed.map((gap) => {
      const mark = gap.cause.kind === 'added' ? '✅' : '⚠️';
      return `${mark} ${missedLine(t, gap, hasSeveral(context.settings))}`;
    });
    const blocked = blockedLines(overview.blocked.filter(isSeen), context.guildPause(guildId), context);
    const errors = [
      ...dead.filter(isSeen).map((last) => deadLetterLine(last, context)),
      ...networks.flatMap(({ on, access }) => receiverErrors(access, sizes, on)),
    ];
    const usage = networks.flatMap(({ on, access }) => (access.own ? ofNetwork(usageLine(access.scope!, on), on) : []));
    return embedReply(
      blocked.length + errors.length > 0 || missed.some(({ cause }) => cause.kind !== 'added') ? 'warn' : 'info',
      t('status.title'),
      [t('status.hint')],
      {
        fields: [
          ...alertFields(overview, pauses.filter(isSeen), t),
          ...field(t('status.subscriptions'), subscriptionLines(subscriptions, context)),
          ...field(t('status.receiver'), usage),
          ...field(t('status.silent'), silenceLines(silences.filter(isSeen), context)),
          ...field(t('chain.title'), [...gaps, ...chainLines(context)]),
          ...field(t('status.networks'), networkLines(context)),
          ...field(t('status.stopped'), blocked),
          ...field(t('status.lastError'), errors),
        ],
        footer: {
          text: t('status.footer', { version, node: process.version.slice(1), discord: discordVersion, schema }),
        },
        components: rows(missedButtons(context, missed, true)),
      },
    );
  },
} satisfies Command<Context>;

const field = (name: string, lines: readonly string[]): APIEmbedField[] =>
  lines.length > 0 ? [{ name, value: asManyAsFit(lines) }] : [];

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

function subscriptionLines(subscriptions: readonly Subscription[], { t, settings, now }: Context): string[] {
  const paused = subscriptions.filter((subscription) => subscription.paused).length;
  const muted = subscriptions.filter((subscription) => isMuted(subscription, now())).length;
  const holding = subscriptions.filter((subscription) => subscription.holdAll && mayHold(subscription));
  return [
    t('status.subscriptionsOf', { count: subscriptions.length, max: settings.maxSubscriptions }),
    ...(paused > 0 ? [t('status.paused', { count: paused })] : []),
    ...(muted > 0 ? [t('status.muted', { count: muted })] : []),
    ...holding.slice(0, 1).map(({ quiet, digest }) => {
      const until = quiet?.slice(-5) ?? t(`status.until.${digest!}`);
      return t('status.holdsAll', { count: holding.length, until });
    }),
  ];
}

function blockedLines(blocked: GuildOverview['blocked'], pause: GuildPause | null, { t }: Context): string[] {
  const together = pause ? [t('status.together', { refusals: pause.refusals, due: relativeTime(pause.probeAt) })] : [];
  const lines = firstOf(t, blocked, pause ? 5 : 10, ({ channelId, state, since }) =>
    t(state === 'parked' ? 'status.parked' : 'status.gone', {
      channel: `<#${channelId}>`,
      ago: since === null ? t('status.unknownTime') : relativeTime(since),
    }),
  );
  return [...together, ...lines];
}

function networkLines(context: Context): string[] {
  const { t, settings } = context;
  if (!hasSeveral(settings)) return [];
  const fine: string[] = [];
  const lines = eachNetwork(context).flatMap(({ network, interfaces }) => {
    const away = [...interfaces.outages()].map(([name, { since }]) =>
      t('status.away', { service: t(`failure.${name}.name`), ago: relativeTime(since) }),
    );
    if (away.length > 0) return `⚠️ **${network.title}**: ${away.join(' · ')}`;
    fine.push(network.title);
    return [];
  });
  return [...(fine.length > 0 ? [`✅ ${fine.join(' · ')}`] : []), ...lines];
}

function chainLines({ t, completeness }: Context): string[] {
  return completeness().flatMap((state) => {
    const { complete, open } = completenessLines(t, state);
    return [...(complete === null ? [] : [complete]), ...open];
  });
}

function silenceLines(silences: readonly Silence[], { t, settings }: Context): string[] {
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

function deadLetterLine(last: NonNullable<GuildOverview['lastDeadLetter']>, { t }: Context): string {
  return t('status.deadLetter', {
    ago: relativeTime(last.at),
    channel: `<#${last.channelId}>`,
    reason: thirdPartyText(last.reason, 120),
  });
}

function receiverErrors(
  access: ProjectAccess,
  sizes: Awaited<ReturnType<Context['quarantine']['sizes']>>,
  context: Context,
): string[] {
  const { t, projects, network } = context;
  const { own, scope } = access;
  const refused = refusedFor(access, context);
  const asked = scope ?? (projects.hasOperators ? null : operatorScope(network.id));
  const unreadable = sizes.find((size) => size.scope === asked);
  const lines = [
    refused && t('status.refused', { ago: relativeTime(refused.at), source: inCode(refused.source, '?') }),
    own ? quotaLine(scope!, context) : null,
    unreadable ? t('status.unreadable', { count: unreadable.rows + unreadable.givenUp }) : null,
    unreadable && unreadable.givenUp > 0 ? t('status.givenUp', { count: unreadable.givenUp }) : null,
  ];
  return lines.flatMap((line) => (line === null ? [] : ofNetwork(line, context)));
}
