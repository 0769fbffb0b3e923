import type { APIModalInteractionResponseCallbackData } from 'discord.js';
import type { Button, ButtonUse, Form, FormButton, FormUse, Menu, MenuUse, Reply } from '../../src/discord/command.ts';
import { whole } from '../../src/discord/reply.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { inCode, plainText } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import type { UpstreamFailure } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { record } from '../shared/audit.ts';
import { button, MAX_MENU_OPTIONS, menuRow, row, textField } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { addressInCode, embedReply, firstOf, MAX_ID, withInput } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { visibleTo } from '../shared/subscriptions.ts';
import { createWebhookButton, EVERY_TYPE, postingHere, type ReadyProject, withAddresses } from '../shared/webhooks.ts';
import { isWebhookId } from './name.ts';
import { projectOf } from './project.ts';

/** What adding watched addresses to the webhook that posts here needs. */
export type AddNeeds = ContextWith<
  'guildChannels' | 'subscriptions' | 'guilds' | 'audit' | 'storedProjects' | 'projects' | 'receiver' | 'now'
>;
type Use = ButtonUse | MenuUse | FormUse;

/** Maximum addresses per request. The service documents no limit; this many take a second or two. */
const MAX_PER_REQUEST = 100;

/** `webhook:fill:<subscription or all>`: adds what is watched here to the webhook that posts here. */
export const addAddressesButton: Button<AddNeeds> = {
  access: 'manage',
  response: 'update',
  press: (interaction, [what = 'all'], context) => addWatched(interaction, what, context),
};

/** `webhook:pick:<subscription or all>`: which of several webhooks gets new addresses, now and later. */
export const pickMenu: Menu<AddNeeds> = {
  access: 'manage',
  response: 'update',
  async choose(interaction, [what = 'all'], [id = ''], context) {
    return addWatched(interaction, what, await storeChoice(interaction, id, context));
  },
};

/** `webhook:id:<subscription or all>`: opens the form for the ID of a webhook whose service does not show it. */
export const idButton: FormButton<AddNeeds> = {
  access: 'manage',
  form: async (_, [what = 'all'], { t }): Promise<APIModalInteractionResponseCallbackData> => ({
    custom_id: `webhook:id:${what}`,
    title: t('webhook.add.idTitle'),
    components: [textField('id', t('webhook.add.idLabel'), t('webhook.add.idHint'), { max_length: MAX_ID })],
  }),
};

/** `webhook:id:<subscription or all>` */
export const idForm: Form<AddNeeds> = {
  access: 'manage',
  response: 'update',
  async submit(interaction, [what = 'all'], context) {
    const id = interaction.fields.getTextInputValue('id').trim();
    return addWatched(interaction, what, await storeChoice(interaction, id, context));
  },
};

/** Stores the chosen webhook; returns the context with it. Throws a {@link UserError} for an invalid ID. */
async function storeChoice(interaction: Use, id: string, context: AddNeeds): Promise<AddNeeds> {
  if (!isWebhookId(id)) throw withInput(new UserError(context.t('webhook.remove.badId')), id, context.t);
  const server = await context.guilds.changeSettings(interaction.guildId, { webhook: id });
  await record(interaction, context, 'webhook.choose', { webhook: id });
  return { ...context, server };
}

async function addWatched(interaction: Use, what: string, context: AddNeeds): Promise<Reply> {
  const { t } = context;
  const project = await projectOf(context, interaction.guildId);
  const response = await postingHere(project, context);
  if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
  if (response.webhooks.length === 0) {
    return embedReply('warn', t('webhook.add.nowhere'), [t('webhook.create.needed')], {
      components: [row(createWebhookButton(t))],
    });
  }
  const target = targetOf(response.webhooks, context.server.webhook);
  if (target === 'unknown') {
    return embedReply('info', t('webhook.add.idTitle'), [t('webhook.add.askId')], {
      components: [row(button(t('webhook.add.enterId'), `webhook:id:${what}`))],
    });
  }
  if (typeof target !== 'string') return askWhich(target, what, interaction.guildId, context);
  const addresses = await missingAddresses(interaction, what, project, response.webhooks, context);
  if (addresses.length === 0) return embedReply('good', t('webhook.add.willCome'), [t('webhook.add.nothing')]);
  return addAddresses(interaction, project, target, addresses, context);
}

/** The ID of the webhook that gets new addresses; several to choose from; or `unknown` if the list has no IDs. */
function targetOf(here: readonly Webhook[], chosen: string | null): string | Webhook[] {
  const named = here.filter(({ id }) => id !== null && isWebhookId(id));
  if (named.length === 0) return chosen ?? 'unknown';
  if (named.some(({ id }) => id === chosen)) return chosen!;
  const complete = named.filter(({ eventType }) => eventType === EVERY_TYPE);
  const [only] = complete.length === 1 ? complete : named;
  return complete.length === 1 || named.length === 1 ? only!.id! : named;
}

async function askWhich(webhooks: Webhook[], what: string, guildId: string, context: AddNeeds): Promise<Reply> {
  const { t } = context;
  const names = await context.storedProjects.webhookNames(guildId);
  const options = [...new Set(webhooks.map(({ id }) => id!))].slice(0, MAX_MENU_OPTIONS).map((id) => {
    const { eventType } = webhooks.find((one) => one.id === id)!;
    return {
      label: names.get(id) ?? id,
      value: id,
      description: plainText(eventType) ?? t('webhook.list.unknownEvents'),
    };
  });
  return embedReply('info', t('webhook.add.whichTitle'), [t('webhook.add.which')], {
    components: [menuRow(`webhook:pick:${what}`, t('webhook.add.menu'), options)],
  });
}

/** The requested addresses of subscriptions that the person sees, without those that a webhook here is known to have. */
async function missingAddresses(
  interaction: Use,
  what: string,
  project: ReadyProject,
  here: readonly Webhook[],
  context: AddNeeds,
): Promise<AddressText[]> {
  const visible = await visibleTo(interaction, context);
  const chosen = what === 'all' ? visible : visible.filter(({ id }) => String(id) === what);
  if (chosen.length === 0) throw new UserError(context.t('subscription.remove.gone'));
  const there = await withAddresses(project, here);
  const addresses = [...new Set(chosen.map(({ address }) => address))];
  return addresses.filter((address) => !there.some((one) => one.addresses?.has(address)));
}

/** Adds addresses in batches and shows the progress; stops at the first batch that fails. `before`: lines above the result. */
export async function addAddresses(
  interaction: Use,
  { notification }: ReadyProject,
  webhook: string,
  addresses: readonly AddressText[],
  context: AddNeeds,
  before: readonly string[] = [],
): Promise<Reply> {
  const { t } = context;
  const count = addresses.length;
  for (let done = 0; done < count; done += MAX_PER_REQUEST) {
    const part = addresses.slice(done, done + MAX_PER_REQUEST);
    const response = await notification.addAddresses(webhook, part.map(checksumAddress));
    if (response.status !== 'ok') {
      const detail = { webhook, done, of: count, outcome: response.status };
      await record(interaction, context, 'webhook.fill.failed', detail);
      const lines = [
        ...before,
        isUnknownCall(response) ? t('webhook.add.manual') : explain(t, response, 'notification'),
        isUnknownCall(response) ? t('subscription.add.ownWebhook') : null,
        done > 0 ? t('webhook.add.partly', { done, count }) : null,
      ];
      return embedReply('danger', t('webhook.add.failed'), lines);
    }
    const soFar = done + part.length;
    const progress = embedReply('info', t('webhook.add.progress', { soFar, count }), []);
    if (soFar < count) await interaction.editReply(whole(progress));
  }
  await record(interaction, context, 'webhook.fill', { webhook, addresses });
  const shown = firstOf(t, addresses, 10, (address) => `-# ${addressInCode(address)}`);
  const name = (await context.storedProjects.webhookNames(interaction.guildId)).get(webhook);
  const called = name === undefined ? inCode(webhook, '', MAX_ID) : inCode(name, '');
  const lines = [...before, t('webhook.add.done', { count, webhook: called }), ...shown];
  return embedReply('good', t('webhook.add.willCome'), lines);
}

/** Failures that mean that the service lacks the call. */
export function isUnknownCall(failure: UpstreamFailure): boolean {
  return failure.status === 'rejected' || (failure.status === 'broken' && [405, 501].includes(failure.code));
}
