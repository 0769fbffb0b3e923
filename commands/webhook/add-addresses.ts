import type { Command, Reply } from '../../src/discord/command.ts';
import { whole } from '../../src/discord/reply.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { addressesOf, type Subscription } from '../../src/domain/subscription.ts';
import { plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { visibleTo } from '../shared/channels.ts';
import { button, MAX_MENU_OPTIONS, menuRow, row, rows, textField } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { gapsOf } from '../shared/missed.ts';
import { eachNetwork, marking, watchedHere } from '../shared/networks.ts';
import { record } from '../shared/records.ts';
import { addressInCode, embedReply, firstOf, MAX_ID, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import {
  EVERY_TYPE,
  fillWebhook,
  isUnknownCall,
  isWebhookId,
  postingHere,
  projectOf,
  type ReadyProject,
  targetOf,
  webhookButtons,
  withAddresses,
} from '../shared/webhooks.ts';
import { seenOne } from '../subscription/find.ts';
import { panel } from '../subscription/panel.ts';

/** Discord's limit of rows in a message. */
const MAX_ROWS = 5;

/**
 * `which` in custom IDs: `all` subscriptions, those with these numbers (`12.13`), or those that the person added at
 * one moment (`t1764201600000`).
 */
export const adding = {
  buttons: {
    fill: { press: (_, [what = 'all'], context) => addWatched(what, context) },
    everywhere: { press: (_, [what = 'all'], context) => fillEverywhere(what, context) },
    /** Asks for the ID of a webhook whose service does not show it. */
    id: {
      form: async (_, [what = 'all'], { t }) => ({
        custom_id: `webhook:id:${what}`,
        title: t('webhook.add.idTitle'),
        components: [textField('id', t('webhook.add.idLabel'), t('webhook.add.idHint'), { max_length: MAX_ID })],
      }),
    },
    create: {
      // One at a time: two webhooks would deliver each transfer twice.
      press: (interaction, _, context) => context.guildQueue.run(interaction.guildId, 'webhook', () => create(context)),
    },
    move: {
      press: (interaction, _, context) => context.guildQueue.run(interaction.guildId, 'webhook', () => move(context)),
    },
  },
  menus: {
    pick: {
      async choose(_, [what = 'all'], context, [id = '']) {
        await storeChoice(id, context);
        return addWatched(what, context);
      },
    },
  },
  forms: {
    id: {
      response: 'update',
      async submit(interaction, [what = 'all'], context) {
        await storeChoice(interaction.fields.getTextInputValue('id').trim(), context);
        return addWatched(what, context);
      },
    },
  },
} satisfies Partial<Command<Context>>;

async function fillEverywhere(what: string, context: Context): Promise<Reply> {
  const chosen = (await visibleTo(context)).filter(chosenBy(what, context.interaction.user.id));
  const networks = eachNetwork(context).filter((on) => watchedHere(chosen, on).length > 0);
  if (networks.length === 0) throw new UserError(context.t('subscription.remove.gone'));
  const replies: { on: Context; reply: Reply }[] = [];
  for (const on of networks) {
    const reply = await fill(what, on).catch((error: unknown): Reply => {
      if (error instanceof UserError) return embedReply('danger', on.t('webhook.add.failed'), [error.message]);
      throw error;
    });
    replies.push({ on, reply });
  }
  const lines = replies.map(({ on, reply: { embeds: [embed] = [] } }) =>
    [`**${on.network.title}**: ${embed?.title ?? ''}`, embed?.description].filter(Boolean).join('\n'),
  );
  const open = replies.flatMap(({ on, reply }) => marking(reply.components ?? [], on)).slice(0, MAX_ROWS);
  return { embeds: embedReply('info', context.t('webhook.add.everywhere'), lines).embeds!, components: open };
}

async function storeChoice(id: string, context: Context): Promise<void> {
  if (!isWebhookId(id)) throw withInput(new UserError(context.t('webhook.remove.badId')), id, context.t);
  await context.storedProjects.chooseWebhook(context.guildId, context.network.id, id);
  await record(context, 'webhook.choose', { webhook: id });
}

/** The panel of a single subscription stays, with the result below. */
async function addWatched(what: string, context: Context): Promise<Reply> {
  const reply = await fill(what, context);
  const [result] = reply.embeds ?? [];
  if (!/^\d+$/.test(what) || !result || reply.components?.length) return reply;
  const shown = await panel(await seenOne(what, context), context);
  const field = { name: result.title ?? '', value: result.description ?? '' };
  return { ...shown, embeds: shown.embeds!.map((embed) => ({ ...embed, fields: [field] })) };
}

async function fill(what: string, context: Context): Promise<Reply> {
  const { interaction, t } = context;
  const project = await projectOf(context);
  const response = await postingHere(project, context);
  if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
  if (response.webhooks.length === 0) {
    return embedReply('warn', t('webhook.add.nowhere'), [t('webhook.create.needed')], {
      components: [row(webhookButtons.create(t))],
    });
  }
  const chosen = await context.storedProjects.chosenWebhook(interaction.guildId, context.network.id);
  const target = targetOf(response.webhooks, chosen);
  if (target === 'unknown') {
    return embedReply('info', t('webhook.add.idTitle'), [t('webhook.add.askId')], {
      components: [row(button(t('webhook.add.enterId'), `webhook:id:${what}`))],
    });
  }
  if (typeof target !== 'string') return askWhich(target, what, context);
  const watched = (await watchedNow(context)).filter(chosenBy(what, interaction.user.id));
  if (watched.length === 0) throw new UserError(t('subscription.remove.gone'));
  const there = await withAddresses(project, response.webhooks);
  const missing = addressesOf(watched).filter((address) => !there.some((webhook) => webhook.addresses?.has(address)));
  if (missing.length === 0) return embedReply('good', t('webhook.add.willCome'), [t('webhook.add.nothing')]);
  return addAddresses(project, target, missing, context);
}

async function askWhich(webhooks: Webhook[], what: string, context: Context): Promise<Reply> {
  const { guildId, t } = context;
  const names = await context.storedProjects.webhookNames(guildId, context.network.id);
  const options = [...new Set(webhooks.map(({ id }) => id!))].slice(0, MAX_MENU_OPTIONS).map((id) => {
    const { eventType } = webhooks.find((webhook) => webhook.id === id)!;
    const description = plainText(eventType) ?? t('webhook.list.unknownEvents');
    return { label: names.get(id) ?? id, value: id, description };
  });
  return embedReply('info', t('webhook.add.whichTitle'), [t('webhook.add.which')], {
    components: [menuRow(`webhook:pick:${what}`, t('webhook.add.menu'), options)],
  });
}

function chosenBy(what: string, userId: string): (one: Subscription) => boolean {
  if (what === 'all') return () => true;
  if (what.startsWith('t'))
    return (subscription) => subscription.createdBy === userId && `t${subscription.createdAt}` === what;
  const ids = what.split('.');
  return ({ id }) => ids.includes(String(id));
}

const watchedNow = async (context: Context): Promise<Subscription[]> => watchedHere(await visibleTo(context), context);

export async function addAddresses(
  project: ReadyProject,
  webhook: string,
  addresses: readonly AddressText[],
  context: Context,
  before: readonly string[] = [],
): Promise<Reply> {
  const { interaction, t } = context;
  const count = addresses.length;
  const { isDone, lines } = await fillWebhook(project, webhook, addresses, context, (soFar) =>
    interaction.editReply(whole(embedReply('info', t('webhook.add.progress', { soFar, count }), []))),
  );
  if (!isDone) return embedReply('danger', t('webhook.add.failed'), [...before, ...lines]);
  const shown = firstOf(t, addresses, 10, (address) => `-# ${addressInCode(address)}`);
  return embedReply('good', t('webhook.add.willCome'), [...before, ...lines, ...shown]);
}

async function create(context: Context): Promise<Reply> {
  const { t } = context;
  const project = await projectOf(context);
  const here = await postingHere(project, context);
  if (here.status !== 'ok') throw new UserError(explain(t, here, 'notification'));
  if (here.webhooks.length > 0) return embedReply('info', t('webhook.create.exists'), [t('webhook.create.existsText')]);
  const created = await createHere(project, context);
  if (created.status === 'failed') return created.reply;
  const addresses = addressesOf(await watchedNow(context));
  if (created.id === null || addresses.length === 0) {
    // Without its ID, what is watched already is not in it yet.
    const buttons = addresses.length === 0 ? [] : [webhookButtons.add(t, addresses.length)];
    return embedReply('good', t('webhook.create.done'), [t('webhook.create.doneText')], { components: rows(buttons) });
  }
  return addAddresses(project, created.id, addresses, context, [t('webhook.create.done')]);
}

/** `id`: null if the service does not return it. */
async function createHere(
  project: ReadyProject,
  context: Context,
): Promise<{ status: 'ready'; id: string | null } | { status: 'failed'; reply: Reply }> {
  const { interaction, t, network, storedProjects, receiver } = context;
  const url = receiver.urls(project.scope).current;
  if (url === null) throw new UserError(t('setup.project.noUrl'));
  const response = await project.notification.createWebhook(url);
  if (response.status !== 'ok') {
    const reason = isUnknownCall(response) ? t('webhook.create.refused') : explain(t, response, 'notification');
    const reply = embedReply('danger', t('webhook.create.failed'), [reason, t('webhook.create.manual')], {
      components: [row(webhookButtons.receiverUrl(t))],
    });
    return { status: 'failed', reply };
  }
  const id = response.id !== null && isWebhookId(response.id) ? response.id : null;
  if (id !== null) await storedProjects.chooseWebhook(interaction.guildId, network.id, id);
  await record(context, 'webhook.create', { webhook: id });
  return { status: 'ready', id };
}

/** Adds the addresses to a webhook for all events, an existing or a new one, and then removes them from the others. */
async function move(context: Context): Promise<Reply> {
  const { interaction, t, network } = context;
  const seen = addressesOf(await watchedNow(context));
  const gaps = await gapsOf(interaction.guildId, context);
  const short = gaps.filter(({ on, cause }) => on.network.id === network.id && cause.kind === 'event-type');
  const addresses = [...new Set(short.flatMap((gap) => gap.addresses))].filter((address) => seen.includes(address));
  if (addresses.length === 0) return embedReply('good', t('webhook.add.willCome'), [t('webhook.add.nothing')]);
  const project = await projectOf(context);
  const here = await postingHere(project, context);
  if (here.status !== 'ok') throw new UserError(explain(t, here, 'notification'));
  const whole = here.webhooks.find(({ id, eventType }) => eventType === EVERY_TYPE && id !== null && isWebhookId(id));
  const target = whole ? { status: 'ready' as const, id: whole.id } : await createHere(project, context);
  if (target.status === 'failed') return target.reply;
  if (target.id === null) return embedReply('warn', t('webhook.create.done'), [t('webhook.move.noId')]);
  const { id } = target;
  const { isDone, lines } = await fillWebhook(project, id, addresses, context);
  if (!isDone) return embedReply('danger', t('webhook.add.failed'), lines);
  const removed = await Promise.all(
    here.webhooks
      .filter((other) => other.id !== id)
      .map(async ({ id: webhook }) => {
        if (webhook === null) return t('webhook.move.twice');
        const { status } = await project.notification.removeAddresses(webhook, addresses.map(checksumAddress));
        if (status !== 'ok') return t('webhook.move.twice');
        await record(context, 'webhook.remove', { webhook, addresses });
        return t('webhook.move.removed');
      }),
  );
  const shown = firstOf(t, addresses, 10, (address) => `-# ${addressInCode(address)}`);
  return embedReply('good', t('webhook.add.willCome'), [...lines, ...new Set(removed), ...shown]);
}
