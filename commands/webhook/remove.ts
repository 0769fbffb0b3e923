import { ButtonStyle } from 'discord.js';
import type { Button, ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Notification, RemovalAnswer } from '../../src/upstream/notification.ts';
import { ask, record, takeConfirmation } from '../shared/audit.ts';
import { explain } from '../shared/failure.ts';
import { pointsAt, projectOf } from '../shared/project.ts';
import { firstOf, ID_LONGEST, note, press, quoted, row } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { type Pasted, readAddresses } from './addresses.ts';
import { isWebhookId } from './name.ts';

type Needs = ContextWith<
  'subscriptions' | 'audit' | 'confirmations' | 'storedProjects' | 'projects' | 'receiver' | 'now'
>;

/** What the preview asks, and its button does. */
interface Wish {
  webhook: string;
  addresses: AddressText[];
  /** Whose events the webhook brings; an earlier version did not note it. */
  scope?: number;
  /** The subscriptions that the button after it offers to remove. */
  silent?: number[];
}

/** Name the steps in confirmations and in the audit log. */
const REMOVE = 'webhook.remove';
const FORGET = 'webhook.forget';

/** How long the preview may wait for the service. */
const LOOK_MS = 3_000;

/** `/webhook remove`: says what would happen, and asks. */
export async function preview(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { guildId, options } = interaction;
  const { t } = context;
  const project = await projectOf(context, guildId);
  const webhook = options.getString('webhook', true).trim();
  if (!isWebhookId(webhook)) throw new UserError(t('webhook.remove.badId'));
  const pasted = readAddresses(options.getString('addresses', true));
  if (pasted.addresses.length === 0) {
    const reason = t(`address.${pasted.wrong[0]?.fault ?? 'form'}`);
    throw new UserError(t('webhook.remove.noAddress', { reason }));
  }
  const { scope, isUnknown } = await lookUp(webhook, project, context);
  const { free, needed, ...quiet } = await standing(pasted.addresses, interaction, scope, context);
  const lines = [
    ...listed(t, free, 'leaves'),
    ...listed(t, needed, 'needed'),
    ...wrongLines(t, pasted),
    ...silentLines(t, quiet),
    isUnknown ? t('webhook.remove.unknown') : null,
  ];
  if (free.length === 0) return note('warn', t('webhook.remove.nothing'), lines);
  const title = t('webhook.remove.title', { count: free.length, webhook: await shownAs(webhook, guildId, context) });
  const wish: Wish = { webhook, addresses: free, scope };
  const id = await ask(interaction, context, REMOVE, wish);
  const buttons = row(
    press(t('webhook.remove.confirm'), `webhook:confirm:${id}`, ButtonStyle.Danger),
    press(t('webhook.remove.cancel'), `webhook:cancel:${id}`),
  );
  return note('danger', title, lines, { components: [buttons] });
}

/** `webhook:confirm:<entry>` */
export const confirmButton: Button<Needs> = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    const { t } = context;
    const { notification, scope } = await projectOf(context, interaction.guildId);
    const wish = await wishOf(interaction, context, REMOVE, entry);
    // Another guild may have started to watch one of them since the preview.
    const of = wish.scope ?? scope;
    const { free, needed, ...quiet } = await standing(wish.addresses, interaction, of, context);
    if (free.length === 0) return note('warn', t('webhook.remove.nothingDone'), listed(t, needed, 'needed'));
    const answer = await notification.removeAddresses(wish.webhook, free.map(checksumAddress));
    if (answer.status !== 'ok') {
      await record(interaction, context, 'webhook.remove.failed', { ...wish, addresses: free, outcome: answer.status });
      // Everything but a clear no may have come after the deed.
      const perhaps = !['forbidden', 'rejected', 'limited'].includes(answer.status);
      return note('danger', t('webhook.remove.failed'), [
        explain(t, answer, 'notification'),
        perhaps ? t('webhook.remove.perhaps') : null,
      ]);
    }
    const { silent } = quiet;
    const detail = { ...wish, addresses: free, outcome: answer, silent: silent.map(({ id }) => id) };
    await record(interaction, context, REMOVE, detail);
    const offers = [];
    if (silent.length > 0) {
      const id = await ask(interaction, context, FORGET, detail);
      const label = t('webhook.remove.alsoHere', { count: silent.length });
      offers.push(row(press(label, `webhook:forget:${id}`, ButtonStyle.Danger)));
    }
    return note(
      'good',
      t('webhook.remove.done', { webhook: await shownAs(wish.webhook, interaction.guildId, context) }),
      [
        ...outcomeOf(t, answer, free.length),
        ...listed(t, free, 'asked'),
        ...listed(t, needed, 'needed'),
        ...silentLines(t, quiet),
      ],
      { components: offers },
    );
  },
};

/** `webhook:cancel:<entry>` */
export const cancelButton: Button<Needs> = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    await wishOf(interaction, context, REMOVE, entry);
    return note('info', context.t('webhook.remove.cancelled'), [context.t('webhook.remove.cancelledText')]);
  },
};

/** `webhook:forget:<entry>`: the subscriptions here that fell silent, none that was added since. */
export const forgetButton: Button<Needs> = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    const wish = await wishOf(interaction, context, FORGET, entry);
    const { scope } = await projectOf(context, interaction.guildId);
    const there = await standing(wish.addresses, interaction, wish.scope ?? scope, context);
    const silent = there.silent.filter(({ id }) => wish.silent?.includes(id));
    for (const { id } of silent) await context.subscriptions.remove(interaction.guildId, id);
    await record(interaction, context, FORGET, { ids: silent.map(({ id }) => id) });
    const { t } = context;
    return note('good', t('webhook.remove.forgotten', { count: silent.length }), silentNames(t, silent));
  },
};

type Standing = Awaited<ReturnType<typeof standing>>;

/**
 * Which addresses nobody else needs, which somebody does, and what falls silent here, as far as the person sees it;
 * `unseen`: how many more.
 */
async function standing(addresses: AddressText[], interaction: CommandUse | ButtonUse, scope: number, context: Needs) {
  const { guildId } = interaction;
  const { subscriptions, storedProjects } = context;
  const [all, scopes] = await Promise.all([subscriptions.watching(addresses), storedProjects.scopes()]);
  // What the guilds of other receiver URLs watch does not come over this webhook.
  const watching = all.filter((one) => (scopes.get(one.guildId) ?? OPERATOR_SCOPE) === scope);
  const elsewhere = new Set(watching.filter((one) => one.guildId !== guildId).map(({ address }) => address));
  const own = watching.filter((one) => one.guildId === guildId && !elsewhere.has(one.address));
  const channels = own.map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  const silent = own.filter(({ channelId }) => !hidden.has(channelId));
  return {
    free: addresses.filter((address) => !elsewhere.has(address)),
    needed: addresses.filter((address) => elsewhere.has(address)),
    silent,
    unseen: own.length - silent.length,
  };
}

function listed(t: Translate, addresses: AddressText[], title: 'leaves' | 'needed' | 'asked'): string[] {
  if (addresses.length === 0) return [];
  const shown = firstOf(t, addresses, 20, (address) => `\`${checksumAddress(address)}\``);
  return [t(`webhook.remove.${title}`, { count: addresses.length }), ...shown];
}

function wrongLines(t: Translate, { wrong }: Pasted): string[] {
  if (wrong.length === 0) return [];
  const shown = firstOf(t, wrong, 5, ({ text, fault }) =>
    t('webhook.remove.wrongOne', {
      text: quoted(text, t('webhook.remove.unreadable')),
      reason: t(`address.${fault}`),
    }),
  );
  return [t('webhook.remove.wrong', { count: wrong.length }), ...shown];
}

function silentLines(t: Translate, { silent, unseen }: Pick<Standing, 'silent' | 'unseen'>): string[] {
  if (silent.length + unseen === 0) return [];
  const more = unseen > 0 ? [t('setup.check.unseen', { count: unseen })] : [];
  return [t('webhook.remove.silent'), ...silentNames(t, silent), ...more];
}

function silentNames(t: Translate, silent: Standing['silent']): string[] {
  return firstOf(t, silent, 20, ({ id, label, channelId }) =>
    t('webhook.remove.silentOne', {
      name: inCode(label, t('webhook.remove.unnamed', { id })),
      channel: `<#${channelId}>`,
    }),
  );
}

/** The name that this guild gave it, and its id. */
async function shownAs(webhook: string, guildId: string, { storedProjects }: Needs): Promise<string> {
  const name = (await storedProjects.webhookNames(guildId)).get(webhook);
  const id = inCode(webhook, '', ID_LONGEST);
  return name === undefined ? id : `${inCode(name, '')} (${id})`;
}

/**
 * Whose events a webhook brings (two guilds may store the same project, each with a webhook of its own), and whether
 * there is none of this id: a hint only, because the service's list need not give ids.
 */
async function lookUp(
  webhook: string,
  { notification, scope }: { notification: Notification; scope: number },
  { storedProjects, receiver }: Needs,
): Promise<{ scope: number; isUnknown: boolean }> {
  const answer = await notification.webhooks(LOOK_MS);
  if (answer.status !== 'ok') return { scope, isUnknown: false };
  const found = answer.webhooks.find(({ id }) => id === webhook);
  const isUnknown = !found && answer.webhooks.length > 0 && answer.webhooks.every(({ id }) => id !== null);
  const scopes = [scope, OPERATOR_SCOPE, ...(await storedProjects.scopes()).values()];
  const target = scopes.find((one) => pointsAt(receiver.urls(one), found?.url ?? null) !== null);
  return { scope: target ?? scope, isUnknown };
}

type Done = Extract<RemovalAnswer, { status: 'ok' }>;

function outcomeOf(t: Translate, { message, deletedCount }: Done, asked: number): string[] {
  if (deletedCount === 0) return [t('webhook.remove.noneThere')];
  if (deletedCount === null) {
    const said = inCode(message, '');
    return [said ? t('webhook.remove.said', { message: said }) : t('webhook.remove.saidNothing')];
  }
  const rest = asked - deletedCount;
  return [
    t('webhook.remove.removed', { count: deletedCount }),
    ...(rest > 0 ? [t('webhook.remove.rest', { count: rest })] : []),
  ];
}

/** What the button's question was about; throws a {@link UserError} when that is too long ago or was answered. */
async function wishOf(
  interaction: ButtonUse,
  context: Needs,
  action: string,
  question: string | undefined,
): Promise<Wish> {
  const wish = await takeConfirmation<Wish>(interaction, context, action, question);
  if (!wish) throw new UserError(context.t('webhook.remove.late'));
  return wish;
}
