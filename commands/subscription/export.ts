import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import { embedReply } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { seenBy, unseenLine } from '../shared/subscriptions.ts';
import { writeFiles } from './file.ts';

type Needs = ContextWith<'guildChannels' | 'subscriptions' | 'labels' | 'guildQueue' | 'now'>;

/** `/subscription export`: every subscription that the person sees and the address book, as one or more files. */
export async function exportFile(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { now, t } = context;
  const { visible: subscriptions, unseen } = await seenBy(interaction, context);
  const left = unseenLine(unseen, t);
  const watched = new Set(subscriptions.map(({ address }) => address));
  // Watched addresses have their names in their own rows.
  const labels = (await context.labels.list(interaction.guildId)).filter(({ address }) => !watched.has(address));
  if (subscriptions.length + labels.length === 0) throw new UserError(left ?? t('subscription.export.nothing'));
  const files = await context.guildQueue.run(interaction.guildId, 'file', () =>
    writeFiles(subscriptions, labels, now()),
  );
  const lines = [
    t('subscription.export.subscriptions', { count: subscriptions.length }),
    t('subscription.export.labels', { count: labels.length }),
    left,
    files.length > 1 ? t('subscription.export.several', { count: files.length }) : null,
    t('subscription.export.next'),
  ];
  const numberOf = (index: number) => (files.length > 1 ? `-${index + 1}` : '');
  return {
    ...embedReply('info', t('subscription.export.title'), lines),
    files: files.map((data, index) => ({ name: `ledgerbell-subscriptions${numberOf(index)}.csv`, data })),
  };
}
