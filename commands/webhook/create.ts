import type { Button, ButtonUse, Reply } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { row, rows } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { embedReply } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { visibleTo } from '../shared/subscriptions.ts';
import { addToWebhookButton, postingHere, receiverUrlButton } from '../shared/webhooks.ts';
import { type AddNeeds, addAddresses, isUnknownCall } from './add-addresses.ts';
import { isWebhookId } from './name.ts';
import { projectOf } from './project.ts';

type Needs = AddNeeds & ContextWith<'guildQueue'>;

/** `webhook:create`: creates the webhook that posts here, with every address that is watched here. */
export const createButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  // One at a time: two webhooks would deliver each transfer twice.
  press: (interaction, _, context) =>
    context.guildQueue.run(interaction.guildId, 'webhook', () => create(interaction, context)),
};

async function create(interaction: ButtonUse, context: Needs): Promise<Reply> {
  const { t, guilds, receiver } = context;
  const { guildId } = interaction;
  const project = await projectOf(context, guildId);
  const here = await postingHere(project, context);
  if (here.status !== 'ok') throw new UserError(explain(t, here, 'notification'));
  if (here.webhooks.length > 0) return embedReply('info', t('webhook.create.exists'), [t('webhook.create.existsText')]);
  const url = receiver.urls(project.scope).current;
  if (url === null) throw new UserError(t('setup.project.noUrl'));
  const response = await project.notification.createWebhook(url);
  if (response.status !== 'ok') {
    await record(interaction, context, 'webhook.create.failed', { outcome: response.status });
    const lines = [
      isUnknownCall(response) ? t('webhook.create.refused') : explain(t, response, 'notification'),
      t('webhook.create.manual'),
    ];
    return embedReply('danger', t('webhook.create.failed'), lines, { components: [row(receiverUrlButton(t))] });
  }
  const webhook = response.id !== null && isWebhookId(response.id) ? response.id : null;
  if (webhook !== null) await guilds.changeSettings(guildId, { webhook });
  await record(interaction, context, 'webhook.create', { webhook });
  const addresses = [...new Set((await visibleTo(interaction, context)).map(({ address }) => address))];
  if (webhook === null || addresses.length === 0) {
    // Without its ID, what is watched already is not in it yet.
    const buttons = addresses.length === 0 ? [] : [addToWebhookButton(t, addresses.length)];
    return embedReply('good', t('webhook.create.done'), [t('webhook.create.doneText')], { components: rows(buttons) });
  }
  return addAddresses(interaction, project, webhook, addresses, context, [t('webhook.create.done')]);
}
