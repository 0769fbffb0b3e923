import type { Button, ButtonUse, Reply } from '../../src/discord/command.ts';
import { checksumAddress } from '../../src/domain/address.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import { MAX_ROW_BUTTONS, question, rows } from '../shared/components.ts';
import { nameOf } from '../shared/names.ts';
import { eachNetwork, namedButton } from '../shared/networks.ts';
import { record } from '../shared/records.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { tokenBook } from '../shared/tokens.ts';
import { offerAddressRemoval } from '../webhook/remove.ts';
import { addressLine, describe } from './describe.ts';
import { onSubscription, seenOne } from './find.ts';

export const remove = onSubscription(async (found, context) => askToRemove(found, context));

async function askToRemove(found: Subscription, context: Context): Promise<Reply> {
  const { t } = context;
  const tokens = await tokenBook(context);
  const lines = [
    addressLine(found, context),
    t('subscription.remove.meaning', { channel: `<#${found.channelId}>` }),
    ...describe(found, context, tokens).map((phrase) => `- ${phrase}`),
    t('subscription.remove.instead'),
  ];
  return question(
    t('subscription.remove.title', { name: nameOf(found) }),
    lines,
    [t('subscription.remove.yes'), `subscription:drop:${found.id}:${found.channelId}`],
    [t('subscription.remove.no'), `subscription:keep:${found.id}`],
  );
}

export const removalButtons: Record<string, Button<Context>> = {
  drop: { press: drop },
  keep: {
    press: async (_, __, { t }) =>
      embedReply('info', t('subscription.remove.kept'), [t('subscription.remove.unchanged')]),
  },
};

async function drop(_interaction: ButtonUse, [id, channelId]: string[], context: Context): Promise<Reply> {
  const { guildId, subscriptions, t } = context;
  const found = await seenOne(id, context);
  // It may have been moved since the question.
  if (found.channelId !== channelId) return askToRemove(found, context);
  if (!(await subscriptions.remove(guildId, found.id))) throw new UserError(t('subscription.remove.gone'));
  const detail = { id: found.id, address: checksumAddress(found.address), channel: found.channelId };
  await record(context, 'subscription.remove', detail);
  const offers = await Promise.all(
    eachNetwork(context, found.network).map(async (on) => {
      const offer = await offerAddressRemoval(found.address, on);
      return offer === null ? [] : namedButton(offer, on);
    }),
  );
  const buttons = offers.flat().slice(0, MAX_ROW_BUTTONS);
  const after = buttons.length === 0 ? 'subscription.remove.after' : 'subscription.remove.afterUnused';
  const lines = [addressLine(found, context), t(after, { channel: `<#${found.channelId}>` })];
  return embedReply('good', t('subscription.remove.done', { name: nameOf(found) }), lines, {
    components: rows(buttons),
  });
}
