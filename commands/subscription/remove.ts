import { ButtonStyle } from 'discord.js';
import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { note, press, row } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { offerDrain } from '../webhook/drain.ts';
import { addressLine, describe } from './describe.ts';
import { named, nameOf } from './find.ts';
import { seenOne } from './panel.ts';
import { tokenBook } from './tokens.ts';

/** `/subscription remove`, and its buttons. */

type Needs = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'audit'
  | 'tokens'
  | 'storedProjects'
  | 'projects'
  | 'receiver'
  | 'settings'
  | 'now'
>;

/** `/subscription remove`: asks first. */
export async function remove(interaction: CommandUse, context: Needs): Promise<Reply> {
  return askToRemove(await named(interaction, context), context);
}

async function askToRemove(found: Subscription, context: Needs): Promise<Reply> {
  const { t } = context;
  const tokens = await tokenBook(found.guildId, context);
  const lines = [
    addressLine(found.address, context),
    t('subscription.remove.meaning', { channel: `<#${found.channelId}>` }),
    ...describe(found, context, tokens).map((phrase) => `- ${phrase}`),
    t('subscription.remove.instead'),
  ];
  const buttons = row(
    press(t('subscription.remove.yes'), `subscription:drop:${found.id}:${found.channelId}`, ButtonStyle.Danger),
    press(t('subscription.remove.no'), `subscription:keep:${found.id}`),
  );
  return note('danger', t('subscription.remove.title', { name: nameOf(found) }), lines, { components: [buttons] });
}

/** `subscription:remove:<id>` */
export const removeButton: Button<Needs> = {
  access: 'manage',
  response: 'reply',
  press: async (interaction, [id], context) => askToRemove(await seenOne(interaction, id, context), context),
};

/** `subscription:drop:<id>:<channel>` */
export const dropButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [id, channelId], context) {
    const { guildId } = interaction;
    const { subscriptions, t } = context;
    // Since the question, the channel may have been hidden from the person, or the number may mean a subscription that
    // they never saw.
    const found = await subscriptions.get(guildId, Number(id));
    const isSeen = found && (await hiddenFrom(interaction, [found.channelId], context)).size === 0;
    if (!isSeen) throw new UserError(t('subscription.remove.gone'));
    // It may have been moved since the question.
    if (found.channelId !== channelId) return askToRemove(found, context);
    if (!(await subscriptions.remove(guildId, found.id))) throw new UserError(t('subscription.remove.gone'));
    const detail = { id: found.id, address: checksumAddress(found.address), channel: found.channelId };
    await record(interaction, context, 'subscription.remove', detail);
    const drain = await offerDrain(guildId, found.address, context);
    const after = drain === null ? 'subscription.remove.after' : 'subscription.remove.afterUnused';
    return note(
      'good',
      t('subscription.remove.done', { name: nameOf(found) }),
      [addressLine(found.address, context), t(after, { channel: `<#${found.channelId}>` })],
      { components: drain === null ? [] : [row(drain)] },
    );
  },
};

/** `subscription:keep:<id>` */
export const keepButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press: async (_, __, { t }) => note('info', t('subscription.remove.kept'), [t('subscription.remove.unchanged')]),
};
