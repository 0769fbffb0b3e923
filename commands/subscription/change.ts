import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { nameOf } from '../shared/names.ts';
import { typedNetwork } from '../shared/networks.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { noTokenLines, tokenBook } from '../shared/tokens.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import { named } from './find.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { readingOf, readOptions } from './options.ts';
import { panel, panelRow, stateWith } from './panel.ts';
import { onlyChanged, save } from './save.ts';

export async function edit(interaction: CommandUse, context: Context): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const given = interaction.options.data[0]?.options ?? [];
  if (given.every(({ name }) => name === 'subscription')) return panel(before, context);
  const typed = interaction.options.getString('network');
  const network = typed === null ? before.network : typedNetwork(typed, context);
  const reading = await readingOf(network, context);
  const { network: _, channelId: __, ...choices } = readOptions(interaction, reading, before, context);
  const picked = interaction.options.getChannel('channel');
  if (picked) await checkPlace(picked.id, picked, context);
  const target = picked && (await placeFor(picked.id, { ...before, ...choices }, context));
  const wanted = { ...choices, network, ...(target !== null && { channelId: target }) };
  const fields = [await dryRunField({ ...before, ...wanted }, context)];
  const change = onlyChanged(before, wanted);
  const same = Object.keys(change).length === 0;
  const after = same ? before : await save(context, before, change, 'subscription.edit');
  if (after.label !== before.label) await context.relabel(after.guildId, [after.address]);
  const isEveryone = interaction.options.getRole('mention')?.id === interaction.guildId;
  const state = await stateWith(after, reading.tokens, context);
  const lines = [
    ...state.lines,
    isEveryone ? t('subscription.edit.everyone') : null,
    ...(await noTokenLines({ ...change, network: after.network }, context)),
  ];
  const tone = state.isCovered ? 'good' : 'warn';
  const title = same ? t('subscription.edit.same') : t('subscription.edit.title', { name: nameOf(after) });
  const components = [panelRow(after, context), ...state.fix];
  return embedReply(same ? 'info' : tone, title, lines, { fields, components });
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
    const { lines, fix: components, isCovered } = await stateWith(after, tokens, context);
    return embedReply(isCovered ? 'good' : 'warn', t('subscription.pause.resumed', { name }), lines, { components });
  };
