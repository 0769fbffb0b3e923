import { ButtonStyle } from 'discord.js';
import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { button, row, rows } from '../shared/components.ts';
import { embedReply } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf } from '../shared/subscriptions.ts';
import { offerAddressRemoval } from '../webhook/remove-address.ts';
import { addressLine, describe } from './describe.ts';
import { named, seenOne } from './find.ts';
import { tokenBook } from './token-book.ts';

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
    button(t('subscription.remove.yes'), `subscription:drop:${found.id}:${found.channelId}`, ButtonStyle.Danger),
    button(t('subscription.remove.no'), `subscription:keep:${found.id}`),
  );
  return embedReply('danger', t('subscription.remove.title', { name: nameOf(found) }), lines, {
    components: [buttons],
  });
}

/** `subscription:remove:<id>` */
export const askRemoveButton: Button<Needs> = {
  access: 'manage',
  response: 'reply',
  press: async (interaction, [id], context) => askToRemove(await seenOne(interaction, id, context), context),
};

/** `subscription:drop:<id>:<channel>` */
export const confirmRemoveButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [id, channelId], context) {
    const { guildId } = interaction;
    const { subscriptions, t } = context;
    const found = await seenOne(interaction, id, context);
    // It may have been moved since the question.
    if (found.channelId !== channelId) return askToRemove(found, context);
    if (!(await subscriptions.remove(guildId, found.id))) throw new UserError(t('subscription.remove.gone'));
    const detail = { id: found.id, address: checksumAddress(found.address), channel: found.channelId };
    await record(interaction, context, 'subscription.remove', detail);
    const offer = await offerAddressRemoval(guildId, found.address, context);
    const after = offer === null ? 'subscription.remove.after' : 'subscription.remove.afterUnused';
    const lines = [addressLine(found.address, context), t(after, { channel: `<#${found.channelId}>` })];
    return embedReply('good', t('subscription.remove.done', { name: nameOf(found) }), lines, {
      components: rows(offer === null ? [] : [offer]),
    });
  },
};

/** `subscription:keep:<id>` */
export const cancelRemoveButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press: async (_, __, { t }) =>
    embedReply('info', t('subscription.remove.kept'), [t('subscription.remove.unchanged')]),
};
