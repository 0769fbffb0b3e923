import { type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { Button, ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { operatorScope } from '../../src/domain/inbox.ts';
import { addressesOf, type Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { RemovalResult, Webhook } from '../../src/upstream/notification.ts';
import { sightOf } from '../shared/channels.ts';
import { button, question, rows } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { boldName, faultText, namesByAddress, type Pasted, readAddress, readAddresses } from '../shared/names.ts';
import { hasSeveral, watchedHere } from '../shared/networks.ts';
import { ask, record, takeConfirmation } from '../shared/records.ts';
import { addressInCode, embedReply, firstOf, headed, MAX_ID, quoted, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import {
  isWebhookId,
  pointsAt,
  postingHere,
  projectOf,
  type ReadyProject,
  SOON_MS,
  withAddresses,
} from '../shared/webhooks.ts';
import { addAddresses } from './add-addresses.ts';

const REMOVE = 'webhook.remove';
const REMOVE_SUBSCRIPTIONS = 'webhook.forget';
const RESTORE = 'webhook.restore';

export async function preview(interaction: CommandUse, context: Context): Promise<Reply> {
  const { guildId, options } = interaction;
  const { t } = context;
  const project = await projectOf(context);
  const webhook = options.getString('webhook', true).trim();
  if (!isWebhookId(webhook)) throw withInput(new UserError(t('webhook.remove.badId')), webhook, t);
  const typed = options.getString('addresses', true);
  const pasted = readAddresses(typed, await namesByAddress(guildId, context));
  if (pasted.addresses.length === 0) {
    const { fault, text } = pasted.wrong[0] ?? { fault: 'form', text: '' };
    const reason = faultText(fault, text, t);
    throw withInput(new UserError(t('webhook.remove.noAddress', { reason })), typed, t);
  }
  const { scope, isUnknown } = await scopeOf(webhook, project, context);
  const { free, needed, ...quiet } = await removalEffects(pasted.addresses, scope, context);
  const lines = [
    ...listed(t, free, 'leaves'),
    ...listed(t, needed, 'needed'),
    ...wrongLines(t, pasted),
    ...silentLines(t, quiet),
    isUnknown ? t('webhook.remove.unknown') : null,
  ];
  if (free.length === 0) return embedReply('warn', t('webhook.remove.nothing'), lines);
  const title = t('webhook.remove.title', { count: free.length, webhook: await shownAs(webhook, context) });
  const id = await ask(context, REMOVE, { webhook, addresses: free, scope });
  return question(
    title,
    lines,
    [t('webhook.remove.confirm'), `webhook:confirm:${id}`],
    [t('webhook.remove.cancel'), `webhook:cancel:${id}`],
  );
}

export const removalButtons: Record<string, Button<Context>> = {
  confirm: { press: confirm },
  cancel: {
    async press(_, [entry], context) {
      await takeConfirmation(context, REMOVE, entry);
      return embedReply('info', context.t('webhook.remove.cancelled'), [context.t('webhook.remove.cancelledText')]);
    },
  },
  /** `webhook:forget:<entry>`: removes the subscriptions here that no longer get alerts, but none added since. */
  forget: {
    async press(interaction, [entry], context) {
      const request = await takeConfirmation(context, REMOVE_SUBSCRIPTIONS, entry);
      const effects = await removalEffects(request.addresses, request.scope, context);
      const silent = effects.silent.filter(({ id }) => request.silent.includes(id));
      for (const { id } of silent) await context.subscriptions.remove(interaction.guildId, id);
      await record(context, REMOVE_SUBSCRIPTIONS, { ids: silent.map(({ id }) => id) });
      const title = context.t('webhook.remove.subscriptionsRemoved', { count: silent.length });
      return embedReply('good', title, silentNames(context.t, silent));
    },
  },
  restore: {
    async press(_interaction, [entry], context) {
      const project = await projectOf(context);
      const { webhook, addresses } = await takeConfirmation(context, RESTORE, entry);
      return addAddresses(project, webhook, addresses, context);
    },
  },
};

async function confirm(_interaction: ButtonUse, [entry]: string[], context: Context): Promise<Reply> {
  const { t } = context;
  const { notification } = await projectOf(context);
  const request = await takeConfirmation(context, REMOVE, entry);
  // Another guild may have begun to watch one of them since the preview.
  const effects = await removalEffects(request.addresses, request.scope, context);
  const { free, needed, ...quiet } = effects;
  if (free.length === 0) return embedReply('warn', t('webhook.remove.nothingDone'), listed(t, needed, 'needed'));
  const response = await notification.removeAddresses(request.webhook, free.map(checksumAddress));
  if (response.status !== 'ok') {
    // Unless the service clearly refused, the removal may have happened.
    const perhaps = !['forbidden', 'rejected', 'limited'].includes(response.status);
    return embedReply('danger', t('webhook.remove.failed'), [
      explain(t, response, 'notification'),
      ...listed(t, free, 'asked'),
      perhaps ? t('webhook.remove.perhaps') : null,
    ]);
  }
  const done = { ...request, addresses: free, silent: quiet.silent.map(({ id }) => id) };
  await record(context, REMOVE, { ...done, outcome: response });
  const offers: APIButtonComponent[] = [];
  if (done.silent.length > 0) {
    const label = t('webhook.remove.alsoHere', { count: done.silent.length });
    const id = await ask(context, REMOVE_SUBSCRIPTIONS, done);
    offers.push(button(label, `webhook:forget:${id}`, ButtonStyle.Danger));
  }
  if (response.deletedCount !== 0) {
    const id = await ask(context, RESTORE, { webhook: request.webhook, addresses: free });
    offers.push(button(t('webhook.remove.restore'), `webhook:restore:${id}`));
  }
  const title = t('webhook.remove.done', { webhook: await shownAs(request.webhook, context) });
  const lines = [
    ...outcomeOf(t, response, free.length),
    ...listed(t, free, 'asked'),
    ...listed(t, needed, 'needed'),
    ...silentLines(t, quiet),
  ];
  return embedReply('good', title, lines, { components: rows(offers) });
}

/** `needed`: by other guilds. `silent`: left without alerts; `unseen` more are hidden from the person. */
interface RemovalEffects {
  free: AddressText[];
  needed: AddressText[];
  silent: Subscription[];
  unseen: number;
}

async function removalEffects(addresses: AddressText[], scope: number, context: Context): Promise<RemovalEffects> {
  const { guildId } = context.interaction;
  const watching = await watchersOf(addresses, scope, context);
  const isOwn = (subscription: Subscription) => subscription.guildId === guildId;
  const elsewhere = addressesOf(watching.filter((subscription) => !isOwn(subscription)));
  const own = watching.filter(isOwn).filter(
    // One that watches several networks still gets alerts from the others.
    ({ address, network }) => !elsewhere.includes(address) && (network !== null || !hasSeveral(context.settings)),
  );
  const silent = own.filter(await sightOf(own, context));
  return {
    free: addresses.filter((address) => !elsewhere.includes(address)),
    needed: addresses.filter((address) => elsewhere.includes(address)),
    silent,
    unseen: own.length - silent.length,
  };
}

/** Two guilds may store the same project, each with its own webhook. A service's list may lack IDs. */
async function scopeOf(
  webhook: string,
  { notification, scope }: ReadyProject,
  { storedProjects, receiver, network }: Context,
): Promise<{ scope: number; isUnknown: boolean }> {
  const response = await notification.webhooks(SOON_MS);
  if (response.status !== 'ok') return { scope, isUnknown: false };
  const found = response.webhooks.find(({ id }) => id === webhook);
  const isUnknown = !found && response.webhooks.length > 0 && response.webhooks.every(({ id }) => id !== null);
  const own = (await storedProjects.all()).filter((project) => project.network === network.id);
  const scopes = [scope, operatorScope(network.id), ...own.map((project) => project.scope)];
  const target = scopes.find((scope) => pointsAt(receiver.urls(scope), found?.url ?? null) !== null);
  return { scope: target ?? scope, isUnknown };
}

async function shownAs(webhook: string, { guildId, network, storedProjects }: Context): Promise<string> {
  const name = (await storedProjects.webhookNames(guildId, network.id)).get(webhook);
  const id = inCode(webhook, '', MAX_ID);
  return name === undefined ? id : `${inCode(name, '')} (${id})`;
}

function listed(t: Translate, addresses: AddressText[], title: 'leaves' | 'needed' | 'asked'): string[] {
  const heading = t(`webhook.remove.${title}`, { count: addresses.length });
  return headed(t, heading, addresses, 20, addressInCode);
}

function wrongLines(t: Translate, { wrong }: Pasted): string[] {
  return headed(t, t('webhook.remove.wrong', { count: wrong.length }), wrong, 5, ({ text, fault }) => {
    const shown = quoted(text, t('webhook.remove.unreadable'));
    return t('webhook.remove.wrongOne', { text: shown, reason: faultText(fault, text, t) });
  });
}

function silentLines(t: Translate, { silent, unseen }: Pick<RemovalEffects, 'silent' | 'unseen'>): string[] {
  if (silent.length + unseen === 0) return [];
  const more = unseen > 0 ? [t('setup.check.unseen', { count: unseen })] : [];
  return [t('webhook.remove.silent'), ...silentNames(t, silent), ...more];
}

function silentNames(t: Translate, silent: RemovalEffects['silent']): string[] {
  return firstOf(t, silent, 20, ({ id, label, channelId }) =>
    t('webhook.remove.silentOne', {
      name: boldName(label, t('webhook.remove.unnamed', { id })),
      channel: `<#${channelId}>`,
    }),
  );
}

type Done = Extract<RemovalResult, { status: 'ok' }>;

function outcomeOf(t: Translate, { message, deletedCount }: Done, asked: number): string[] {
  if (deletedCount === 0) return [t('webhook.remove.noneThere')];
  if (deletedCount === null) {
    const text = inCode(message, '');
    return [text ? t('webhook.remove.response', { message: text }) : t('webhook.remove.noResponse')];
  }
  const rest = asked - deletedCount;
  return [
    t('webhook.remove.removed', { count: deletedCount }),
    ...(rest > 0 ? [t('webhook.remove.rest', { count: rest })] : []),
  ];
}

async function watchersOf(addresses: AddressText[], scope: number, context: Context): Promise<Subscription[]> {
  const { subscriptions, storedProjects, network } = context;
  const [all, projects] = await Promise.all([subscriptions.watching(addresses), storedProjects.all()]);
  const own = projects.filter((project) => project.network === network.id);
  const scopes = new Map(own.map((project) => [project.guildId, project.scope]));
  // Guilds with other receiver URLs get no events from this one.
  return watchedHere(all, context).filter(
    (subscription) => (scopes.get(subscription.guildId) ?? operatorScope(network.id)) === scope,
  );
}

/** The button that removes an address from the webhook; null unless a webhook may have it and nobody watches it anymore. */
export async function offerAddressRemoval(address: AddressText, context: Context): Promise<APIButtonComponent | null> {
  const access = await context.projects.accessOf(context.guildId);
  if (access.status !== 'ready' || (await watchersOf([address], access.scope, context)).length > 0) return null;
  const here = await postingHere(access, context, SOON_MS);
  if (here.status !== 'ok') return null;
  if ((await holding(here.webhooks, address, access, context)).length === 0) return null;
  const label = context.t('webhook.removeAddress.button');
  return button(label, `webhook:drain:${checksumAddress(address)}`, ButtonStyle.Danger);
}

/** Where the service shows no addresses, the chosen webhook: removing an address that is not there is safe. */
async function holding(here: Webhook[], address: AddressText, project: ReadyProject, context: Context) {
  const { guildId, network, storedProjects } = context;
  const chosen = await storedProjects.chosenWebhook(guildId, network.id);
  const posting = await withAddresses(project, here);
  const known = posting.flatMap(({ id, addresses }) => (id !== null && addresses?.has(address) ? [id] : []));
  const mayHave = posting.some(({ id, addresses }) => addresses === null && (id === null || id === chosen));
  return known.length === 0 && mayHave && chosen !== null ? [chosen] : known;
}

export const removeAddressButton: Button<Context> = {
  async press(_, [typed = ''], context) {
    const { t } = context;
    const project = await projectOf(context);
    const address = readAddress(typed, t);
    const line = `-# ${addressInCode(address)}`;
    if ((await watchersOf([address], project.scope, context)).length > 0) {
      return embedReply('info', t('webhook.removeAddress.neededTitle'), [line, t('webhook.removeAddress.needed')]);
    }
    const here = await postingHere(project, context);
    if (here.status !== 'ok') throw new UserError(explain(t, here, 'notification'));
    let isChanged = false;
    for (const webhook of await holding(here.webhooks, address, project, context)) {
      const response = await project.notification.removeAddresses(webhook, [checksumAddress(address)]);
      if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
      await record(context, 'webhook.remove', { webhook, addresses: [address], outcome: response });
      isChanged ||= response.deletedCount !== 0;
    }
    if (!isChanged) return embedReply('info', t('webhook.remove.nothingDone'), [line, t('webhook.remove.noneThere')]);
    return embedReply('good', t('webhook.removeAddress.done'), [line]);
  },
};
