import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { embedReply } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf } from '../shared/subscriptions.ts';
import { addressLine, summary } from './describe.ts';
import { type DryRunNeeds, dryRunField } from './dry-run.ts';
import { named } from './find.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { readOptions } from './options.ts';
import { panel, panelRow } from './panel.ts';
import { onlyChanged, save } from './save.ts';
import { tokenBook } from './token-book.ts';

type Needs = DryRunNeeds & ContextWith<'audit' | 'onRelabeled'>;

/** `/subscription edit`. */
export async function edit(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const given = interaction.options.data[0]?.options ?? [];
  if (given.every(({ name }) => name === 'subscription')) return panel(before, context);
  const tokens = await tokenBook(interaction.guildId, context);
  const choices = readOptions(interaction, context, tokens, before);
  const picked = interaction.options.getChannel('channel');
  if (picked) await checkPlace(interaction, picked.id, picked, context);
  const target = picked && (await placeFor(interaction, picked.id, { ...before, ...choices }, context));
  const wanted = { ...choices, ...(target !== null && { channelId: target }) };
  const fields = [await dryRunField({ ...before, ...wanted }, interaction, context)];
  const change = onlyChanged(before, wanted);
  const same = Object.keys(change).length === 0;
  const after = same ? before : await save(interaction, context, before, change, 'subscription.edit');
  if (after.label !== before.label) await context.onRelabeled(after.guildId, [after.address]);
  const lines = [addressLine(after.address, context), ...summary(after, context, tokens)];
  const rest = { fields, components: [panelRow(after, context)] };
  if (same) return embedReply('info', t('subscription.edit.same'), lines, rest);
  return embedReply('good', t('subscription.edit.title', { name: nameOf(after) }), lines, rest);
}

/** `/subscription pause` and `resume`. */
export async function pause(interaction: CommandUse, context: Needs, paused: boolean): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const action = paused ? 'subscription.pause' : 'subscription.resume';
  const after = await save(interaction, context, before, { paused }, action);
  const name = nameOf(after);
  const address = addressLine(after.address, context);
  if (paused)
    return embedReply('good', t('subscription.pause.title', { name }), [address, t('subscription.pause.meaning')]);
  const tokens = await tokenBook(interaction.guildId, context);
  return embedReply('good', t('subscription.pause.resumed', { name }), [address, ...summary(after, context, tokens)]);
}
