import { UserError } from '../../src/errors.ts';
import { notConfigured } from '../shared/failure.ts';
import type { ContextWith } from '../shared/services.ts';
import type { ReadyProject } from '../shared/webhooks.ts';

/** The project that a guild manages; if there is none, throws a {@link UserError} that explains how to add one. */
export async function projectOf({ t, projects }: ContextWith<'projects'>, guildId: string): Promise<ReadyProject> {
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
