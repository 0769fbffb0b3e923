import { type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { Button, ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import type { WebhookRemoval } from '../../src/domain/confirmation.ts';
import { inCode } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { button, row, rows } from '../shared/components.ts';
import { ask, takeConfirmation } from '../shared/confirmations.ts';
import { explain } from '../shared/failure.ts';
import { embedReply, MAX_ID, withInput } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { type AddNeeds, addAddresses } from './add-addresses.ts';
import { readAddresses } from './addresses.ts';
import { isWebhookId } from './name.ts';
import { projectOf } from './project.ts';
import { removalEffects, scopeOf } from './removal-effects.ts';
import { listed, outcomeOf, silentLines, silentNames, wrongLines } from './removal-texts.ts';

type Needs = AddNeeds & ContextWith<'confirmations'>;

/** The actions' names in confirmations and in the audit log. */
const REMOVE = 'webhook.remove';
const REMOVE_SUBSCRIPTIONS = 'webhook.forget';
const RESTORE = 'webhook.restore';

/** `/webhook remove`: shows what would happen, and asks. */
export async function preview(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { guildId, options } = interaction;
  const { t } = context;
  const project = await projectOf(context, guildId);
  const webhook = options.getString('webhook', true).trim();
  if (!isWebhookId(webhook)) throw withInput(new UserError(t('webhook.remove.badId')), webhook, t);
  const typed = options.getString('addresses', true);
  const pasted = readAddresses(typed);
  if (pasted.addresses.length === 0) {
    const reason = t(`address.${pasted.wrong[0]?.fault ?? 'form'}`);
    throw withInput(new UserError(t('webhook.remove.noAddress', { reason })), typed, t);
  }
  const { scope, isUnknown } = await scopeOf(webhook, project, context);
  const { free, needed, ...quiet } = await removalEffects(pasted.addresses, interaction, scope, context);
  const lines = [
    ...listed(t, free, 'leaves'),
    ...listed(t, needed, 'needed'),
    ...wrongLines(t, pasted),
    ...silentLines(t, quiet),
    isUnknown ? t('webhook.remove.unknown') : null,
  ];
  if (free.length === 0) return embedReply('warn', t('webhook.remove.nothing'), lines);
  const title = t('webhook.remove.title', { count: free.length, webhook: await shownAs(webhook, guildId, context) });
  const id = await ask(interaction, context, REMOVE, { webhook, addresses: free, scope });
  const buttons = row(
    button(t('webhook.remove.confirm'), `webhook:confirm:${id}`, ButtonStyle.Danger),
    button(t('webhook.remove.cancel'), `webhook:cancel:${id}`),
  );
  return embedReply('danger', title, lines, { components: [buttons] });
}

/** `webhook:confirm:<entry>` */
export const confirmButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const { t } = context;
    const { notification, scope } = await projectOf(context, interaction.guildId);
    const request = await takeConfirmation(interaction, context, REMOVE, entry);
    // Another guild may have begun to watch one of them since the preview.
    const effects = await removalEffects(request.addresses, interaction, request.scope ?? scope, context);
    const { free, needed, ...quiet } = effects;
    if (free.length === 0) return embedReply('warn', t('webhook.remove.nothingDone'), listed(t, needed, 'needed'));
    const response = await notification.removeAddresses(request.webhook, free.map(checksumAddress));
    if (response.status !== 'ok') {
      const detail = { ...request, addresses: free, outcome: response.status };
      await record(interaction, context, 'webhook.remove.failed', detail);
      // Unless the service clearly refused, the removal may have happened.
      const perhaps = !['forbidden', 'rejected', 'limited'].includes(response.status);
      return embedReply('danger', t('webhook.remove.failed'), [
        explain(t, response, 'notification'),
        ...listed(t, free, 'asked'),
        perhaps ? t('webhook.remove.perhaps') : null,
      ]);
    }
    const done = { ...request, addresses: free, silent: quiet.silent.map(({ id }) => id) };
    await record(interaction, context, REMOVE, { ...done, outcome: response });
    const offers = [
      ...(await offerSubscriptionRemoval(interaction, done, context)),
      ...(response.deletedCount === 0 ? [] : [await offerToRestore(interaction, done, context)]),
    ];
    const title = t('webhook.remove.done', { webhook: await shownAs(request.webhook, interaction.guildId, context) });
    const lines = [
      ...outcomeOf(t, response, free.length),
      ...listed(t, free, 'asked'),
      ...listed(t, needed, 'needed'),
      ...silentLines(t, quiet),
    ];
    return embedReply('good', title, lines, { components: rows(offers) });
  },
};

/** The button that also removes the subscriptions that no longer get alerts; none if there are none. */
async function offerSubscriptionRemoval(
  interaction: ButtonUse,
  done: WebhookRemoval & { silent: number[] },
  context: Needs,
): Promise<APIButtonComponent[]> {
  if (done.silent.length === 0) return [];
  const label = context.t('webhook.remove.alsoHere', { count: done.silent.length });
  const id = await ask(interaction, context, REMOVE_SUBSCRIPTIONS, done);
  return [button(label, `webhook:forget:${id}`, ButtonStyle.Danger)];
}

/** The button that puts the removed addresses back. */
async function offerToRestore(
  interaction: ButtonUse,
  { webhook, addresses }: WebhookRemoval,
  context: Needs,
): Promise<APIButtonComponent> {
  const id = await ask(interaction, context, RESTORE, { webhook, addresses });
  return button(context.t('webhook.remove.restore'), `webhook:restore:${id}`);
}

/** `webhook:cancel:<entry>` */
export const cancelButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    await takeConfirmation(interaction, context, REMOVE, entry);
    return embedReply('info', context.t('webhook.remove.cancelled'), [context.t('webhook.remove.cancelledText')]);
  },
};

/** `webhook:forget:<entry>`: removes the subscriptions here that no longer get alerts, but none added since. */
export const removeSubscriptionsButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const request = await takeConfirmation(interaction, context, REMOVE_SUBSCRIPTIONS, entry);
    const { scope } = await projectOf(context, interaction.guildId);
    const effects = await removalEffects(request.addresses, interaction, request.scope ?? scope, context);
    const silent = effects.silent.filter(({ id }) => request.silent.includes(id));
    for (const { id } of silent) await context.subscriptions.remove(interaction.guildId, id);
    await record(interaction, context, REMOVE_SUBSCRIPTIONS, { ids: silent.map(({ id }) => id) });
    const { t } = context;
    return embedReply(
      'good',
      t('webhook.remove.subscriptionsRemoved', { count: silent.length }),
      silentNames(t, silent),
    );
  },
};

/** `webhook:restore:<entry>`: puts the removed addresses back into the webhook. */
export const restoreButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const project = await projectOf(context, interaction.guildId);
    const { webhook, addresses } = await takeConfirmation(interaction, context, RESTORE, entry);
    return addAddresses(interaction, project, webhook, addresses, context);
  },
};

/** This guild's name for it, and its ID. */
async function shownAs(webhook: string, guildId: string, { storedProjects }: Needs): Promise<string> {
  const name = (await storedProjects.webhookNames(guildId)).get(webhook);
  const id = inCode(webhook, '', MAX_ID);
  return name === undefined ? id : `${inCode(name, '')} (${id})`;
}
