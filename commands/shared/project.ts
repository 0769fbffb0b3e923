import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import { UserError } from '../../src/errors.ts';
import type { ReceiverUrls } from '../../src/receiver/paths.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { notConfigured } from './failure.ts';
import { ago } from './reply.ts';
import type { CommandServices, ContextWith } from './services.ts';

const MEGABYTE = 1024 * 1024;

/** The project that a guild manages; if there is none, throws a {@link UserError} that explains how to add one. */
export async function projectOf(
  { t, projects }: ContextWith<'projects'>,
  guildId: string,
): Promise<Extract<ProjectAccess, { status: 'ready' }>> {
  const access = await projects.of(guildId);
  switch (access.status) {
    case 'ready':
      return access;
    case 'sealed':
      throw new UserError(t('webhook.sealed'));
    case 'none':
      throw new UserError(t('webhook.none'));
    case 'off':
      throw access.scope === null || access.own
        ? notConfigured(t, 'notification', 'NOTIFICATION_URL')
        : notConfigured(
            t,
            'notification',
            'NOTIFICATION_URL',
            'NOTIFICATION_PROJECT_ID',
            'NOTIFICATION_API_KEY',
            'NOTIFICATION_API_SECRET',
          );
  }
}

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
  const most = Math.round(limits.dayBytes / MEGABYTE);
  const words = { refused: refused.count, ago: ago(refused.at), rate: limits.rate, most };
  return t(`setup.check.quota-${refused.reason}`, words);
}

/** How much of its quota a server's own receiver URL has used. */
export function usageLine(scope: number, { t, receiverQuota }: ContextWith<'receiverQuota'>): string {
  const { storedToday, waiting, limits } = receiverQuota(scope);
  const stored = Math.round((storedToday / MEGABYTE) * 10) / 10;
  return t('setup.check.quotaUsage', { stored, waiting, most: Math.round(limits.dayBytes / MEGABYTE) });
}

/** Whether a webhook posts to one of these receiver URLs. */
export function pointsAt({ current, retiring }: ReceiverUrls, url: string | null): 'current' | 'retiring' | null {
  if (url === null) return null;
  const bare = (text: string | null) =>
    text !== null && URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
  if (bare(url) === bare(current)) return 'current';
  return bare(url) === bare(retiring) ? 'retiring' : null;
}

/** A URL alone in a block can be copied as a whole, also on a phone. */
export const urlBlock = (url: string | null): string => (url === null ? '' : `\`\`\`\n${url}\n\`\`\``);
