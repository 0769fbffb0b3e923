import type { Completeness } from '../../src/domain/completeness.ts';
import { operatorScope } from '../../src/domain/inbox.ts';
import type { SendingPause } from '../../src/domain/sender.ts';
import { MIB } from '../../src/domain/units.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { hasSeveral } from './networks.ts';
import { firstOf, relativeTime } from './reply.ts';
import type { CommandServices, Context } from './services.ts';

const MAX_UNCHECKED = 3;

export function completenessLines(t: Translate, state: Completeness): { complete: string | null; open: string[] } {
  const { title, block, blockAt, trouble, unchecked, hasTraces } = state;
  const named = (line: string) => (title === '' ? line : `**${title}**: ${line}`);
  const words = unchecked.length === 0 ? 'complete' : 'completeExcept';
  const complete =
    block === null || blockAt === null ? null : named(t(`chain.${words}`, { block, ago: relativeTime(blockAt) }));
  return {
    complete,
    open: [
      ...(complete === null && trouble === null ? [t('chain.begins')] : []),
      ...(trouble === null ? [] : [t(`chain.${trouble.reason}`, { ago: relativeTime(trouble.since) })]),
      ...firstOf(t, unchecked.toReversed(), MAX_UNCHECKED, ({ reason, after, upTo }) =>
        t(`chain.unchecked.${reason}`, { from: after + 1, to: upTo }),
      ),
      ...(hasTraces === false ? [t('chain.noTraces')] : []),
    ].map(named),
  };
}

/** While all channels wait, the reasons of single channels are left out. */
export function pauseLines(pauses: readonly SendingPause[], t: Translate): string[] {
  const all = pauses.filter(({ channelId }) => channelId === null);
  return firstOf(t, all.length > 0 ? all : pauses, 5, ({ channelId, reason, until }) => {
    const words = t(`status.pause.${reason}`, { due: relativeTime(until) });
    return channelId === null ? words : `<#${channelId}>: ${words}`;
  });
}

/** At any URL if the guild manages the operator's project, else at its own, or the operator's if none manages it. */
export function refusedFor(
  { own, scope }: ProjectAccess,
  { projects, lastRefused, network, settings }: Context,
): ReturnType<CommandServices['lastRefused']> {
  if (scope === null) return projects.hasOperators ? null : lastRefused(operatorScope(network.id));
  return lastRefused(own || hasSeveral(settings) ? scope : 'any');
}

export function quotaLine(scope: number, { t, receiverQuota }: Context): string | null {
  const { refused, limits } = receiverQuota(scope);
  if (!refused) return null;
  const max = Math.round(limits.dayBytes / MIB);
  const words = { refused: refused.count, ago: relativeTime(refused.at), rate: limits.rate, max };
  return t(`setup.check.quota-${refused.reason}`, words);
}

export function usageLine(scope: number, { t, receiverQuota }: Context): string {
  const { storedToday, waiting, limits } = receiverQuota(scope);
  const stored = Math.round((storedToday / MIB) * 10) / 10;
  return t('setup.check.quotaUsage', { stored, waiting, max: Math.round(limits.dayBytes / MIB) });
}
