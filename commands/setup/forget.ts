import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import type { StoredCounts } from '../../src/domain/guild.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { requireManageServer } from '../shared/channels.ts';
import { question } from '../shared/components.ts';
import { OPEN_MS } from '../shared/records.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';

/** Stores no question, because that would have to be erased, too. */
export async function askToErase(interaction: CommandUse, { t, metrics, now }: Context): Promise<Reply> {
  requireManageServer(interaction, t);
  const { guildId } = interaction;
  const what = listed(t, await metrics.stored(guildId));
  if (what.length === 0) return embedReply('info', t('setup.forget.nothingTitle'), [t('setup.forget.nothing')]);
  return question(
    t('setup.forget.title'),
    [t('setup.forget.meaning'), t('setup.forget.export')],
    [t('setup.forget.yes'), `setup:erase:${now()}`],
    [t('setup.forget.no'), 'setup:spare'],
    { fields: [{ name: t('setup.forget.what'), value: what.join('\n') }] },
  );
}

function listed(t: Translate, stored: StoredCounts): string[] {
  const lines = (['subscriptions', 'labels', 'tokenMutes', 'webhookNames', 'waiting', 'history', 'audit'] as const)
    .filter((key) => stored[key] > 0)
    .map((key) => t(`setup.forget.${key}`, { count: stored[key] }));
  if (stored.project) lines.push(t('setup.forget.project'));
  if (stored.settings) lines.push(t('setup.forget.settings'));
  return lines.map((line) => `• ${line}`);
}

export const eraseButtons: Record<string, Button<Context>> = {
  erase: {
    async press(interaction, [askedAt], { t, metrics, guildQueue, eraseGuild, now }) {
      requireManageServer(interaction, t);
      const { guildId } = interaction;
      if (!(now() - Number(askedAt) <= OPEN_MS)) throw new UserError(t('setup.forget.late'));
      const erased = await metrics.stored(guildId);
      // Each erasure reads all past alerts, in steps between which deliveries are stored.
      await guildQueue.run(guildId, 'erase', () => eraseGuild(guildId));
      return embedReply('good', t('setup.forget.done'), [...listed(t, erased), '', t('setup.forget.doneText')]);
    },
  },
  spare: { press: async (_, __, { t }) => embedReply('info', t('setup.forget.kept'), [t('setup.forget.keptText')]) },
};
