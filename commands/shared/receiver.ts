import { MIB } from '../../src/domain/bytes.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { relativeTime } from './reply.ts';
import type { CommandServices, ContextWith } from './services.ts';

/**
 * The latest delivery with a refused source that concerns a guild: of all if it manages the operator's project,
 * otherwise at its own URL; also at the operator's if no guild manages that.
 */
export function refusedFor(
  { own, scope }: ProjectAccess,
  { projects, lastRefused }: Pick<CommandServices, 'projects' | 'lastRefused'>,
): ReturnType<CommandServices['lastRefused']> {
  if (scope === null) return projects.hasOperators ? null : lastRefused(OPERATOR_SCOPE);
  return lastRefused(own ? scope : 'any');
}

/** A sentence about what a server's own receiver URL refused; null: nothing. */
export function quotaLine(scope: number, { t, receiverQuota }: ContextWith<'receiverQuota'>): string | null {
  const { refused, limits } = receiverQuota(scope);
  if (!refused) return null;
  const max = Math.round(limits.dayBytes / MIB);
  const words = { refused: refused.count, ago: relativeTime(refused.at), rate: limits.rate, max };
  return t(`setup.check.quota-${refused.reason}`, words);
}

/** How much of its quota a server's own receiver URL has used. */
export function usageLine(scope: number, { t, receiverQuota }: ContextWith<'receiverQuota'>): string {
  const { storedToday, waiting, limits } = receiverQuota(scope);
  const stored = Math.round((storedToday / MIB) * 10) / 10;
  return t('setup.check.quotaUsage', { stored, waiting, max: Math.round(limits.dayBytes / MIB) });
}
