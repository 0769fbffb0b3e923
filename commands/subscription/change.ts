import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { nameOf } from '../shared/names.ts';
import { typedNetwork } from '../shared/networks.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { tokenBook } from '../shared/tokens.ts';
import { addressLine, summary } from './describe.ts';
import { named } from './find.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { readingOf, readOptions } from './options.ts';
import { panel, saveChoices, stateWith } from './panel.ts';
import { save } from './save.ts';

export async function edit(interaction: CommandUse, context: Context): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const given = interaction.options.data[0]?.options ?? [];
  if (given.every(({ name }) => name === 'subscription')) return panel(before, context);
  const typed = interaction.options.getString('network');
  const network = typed === null ? before.network : typedNetwork(typed, context);
  const reading = await readingOf(network, context);
  const chosen = readOptions(interaction, reading, before, context);
  const picked = interaction.options.getChannel('channel');
  if (picked) await checkPlace(picked.id, picked, context);
  const channelId = picked ? await placeFor(picked.id, chosen, context) : before.channelId;
  const isEveryone = interaction.options.getRole('mention')?.id === interaction.guildId;
  return saveChoices(
    before,
    { ...chosen, network, channelId },
    reading,
    context,
    isEveryone ? t('subscription.edit.everyone') : null,
  );
}

export const pausing =
  (paused: boolean) =>
  async (interaction: CommandUse, context: Context): Promise<Reply> => {
    const { t } = context;
    const before = await named(interaction, context);
    const action = paused ? 'subscription.pause' : 'subscription.resume';
    const after = await save(context, before, { paused }, action);
    const name = nameOf(after);
    const address = addressLine(after, context);
    const tokens = await tokenBook(context);
    if (before.paused === paused)
      return embedReply('info', t('subscription.edit.same'), [address, ...summary(after, context, tokens)]);
    if (paused)
      return embedReply('good', t('subscription.pause.title', { name }), [address, t('subscription.pause.meaning')]);
    const { lines, fix, isCovered } = await stateWith(after, tokens, context);
    return embedReply(isCovered ? 'good' : 'warn', t('subscription.pause.resumed', { name }), lines, {
      components: fix,
    });
  };
