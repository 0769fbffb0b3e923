import type { CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import { ago, fullAddress, note } from '../parts/reply.ts';
import { record, save } from './change.ts';
import { named, nameOf } from './find.ts';

const HOUR_MS = 3_600_000;
const DURATIONS: Record<string, number> = { '1h': HOUR_MS, '8h': 8 * HOUR_MS, '1d': 24 * HOUR_MS, '7d': 168 * HOUR_MS };

/** What `/subscription mute` offers. */
export const MUTE_CHOICES = [...Object.keys(DURATIONS), 'off'];

/** `/subscription mute`: one or all, for a while or no longer. */
export async function mute(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const { store, settings, now, t } = context;
  const duration = interaction.options.getString('duration', true);
  const length = DURATIONS[duration];
  const until = length === undefined ? null : now() + length;
  const lasting = until === null ? t('subscription.mute.again') : t('subscription.mute.until', { ago: ago(until) });
  if (interaction.options.getString('subscription', true).trim().toLowerCase() !== 'all') {
    const after = await save(interaction, context, await named(interaction, context), { mutedUntil: until });
    const name = nameOf(after);
    const title = until === null ? t('subscription.mute.ended', { name }) : t('subscription.mute.title', { name });
    return note('good', title, [fullAddress(after.address, settings), lasting]);
  }
  const changed = await store.subscriptions.muteAll(interaction.guildId, until);
  if (changed === 0) throw new UserError(t('subscription.mute.nothing'));
  await record(interaction, context, { all: true, until });
  const title =
    until === null
      ? t('subscription.mute.endedAll', { count: changed })
      : t('subscription.mute.titleAll', { count: changed });
  return note('good', title, [lasting]);
}
