import type { APIActionRowComponent, APIStringSelectComponent } from 'discord.js';
import type { Choice, Reply } from '../../src/discord/command.ts';
import { inCode, isolate, plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { ReceiverUrls } from '../../src/receiver/paths.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { MAX_MENU_OPTIONS, menuRow, row } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { embedReply, MAX_ID } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { createWebhookButton, pointsAt, receiverUrlButton } from '../shared/webhooks.ts';
import { isWebhookId } from './name.ts';
import { projectOf } from './project.ts';

type Needs = ContextWith<'storedProjects' | 'projects' | 'receiver'>;

/** How long choices may wait for the service. */
const CHOICES_MS = 1_500;

/** `/webhook list`: the project's webhooks and their targets, with this guild's names for them. */
export async function list(guildId: string, context: Needs): Promise<Reply> {
  const { t, receiver, storedProjects } = context;
  const { notification, scope } = await projectOf(context, guildId);
  const [response, names] = await Promise.all([notification.webhooks(), storedProjects.webhookNames(guildId)]);
  if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
  const { webhooks } = response;
  const urls = receiver.urls(scope);
  const targets = webhooks.map(({ url }) => pointsAt(urls, url));
  const advice = adviceOn(targets);
  // One text per webhook, so that the omitted ones are counted by webhook.
  const entries = webhooks.map((one) => {
    const name = one.id === null ? undefined : names.get(one.id);
    return [
      ...(name === undefined ? [] : [`**${inCode(name, '')}**`]),
      line(one, urls, context),
      one.id === null ? t('webhook.list.noId') : t('webhook.list.id', { id: inCode(one.id, '?', MAX_ID) }),
    ].join('\n');
  });
  const lines = [advice === null ? null : t(`webhook.list.${advice}`), ...entries];
  const create = advice === 'empty' || advice === 'noneHere' ? [createWebhookButton(t)] : [];
  return embedReply(advice === null ? 'info' : 'warn', t('webhook.list.title', { count: webhooks.length }), lines, {
    components: [row(...create, receiverUrlButton(t)), ...nameRow(webhooks, names, urls, context)],
  });
}

/** What the list advises, depending on where the webhooks post to; null: nothing. */
function adviceOn(targets: readonly ('current' | 'retiring' | null)[]): 'empty' | 'noneHere' | 'oldUrl' | null {
  if (targets.length === 0) return 'empty';
  if (targets.includes('retiring')) return 'oldUrl';
  return targets.includes('current') ? null : 'noneHere';
}

/** Events and target of a webhook. */
function line(one: Webhook, urls: ReceiverUrls, { t }: Needs): string {
  const events = inCode(one.eventType, t('webhook.list.unknownEvents'));
  switch (pointsAt(urls, one.url)) {
    case 'current':
      return t('webhook.list.here', { events });
    case 'retiring':
      return t('webhook.list.old', { events });
    case null:
      return t('webhook.list.elsewhere', { events, host: hostInCode(one, t('webhook.list.unknownHost')) });
  }
}

/** A host cannot mislead like a name: it is shown, cleaned of control characters. */
function hostInCode(one: Webhook, fallback: string): string {
  const host = plainText(hostOf(one));
  return host ? `\`${host.replaceAll('`', '')}\`` : fallback;
}

/** The rest of another receiver's URL may be secret. */
function hostOf({ url }: Webhook): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}

/** A row with the menu for picking a webhook to name; none if no webhook can be named. */
function nameRow(
  webhooks: readonly Webhook[],
  names: ReadonlyMap<string, string>,
  urls: ReceiverUrls,
  context: Needs,
): APIActionRowComponent<APIStringSelectComponent>[] {
  const options = webhooks
    .filter(({ id }) => id !== null && isWebhookId(id))
    .slice(0, MAX_MENU_OPTIONS)
    .map((one) => {
      const description = wordsOf(one, urls, context);
      return { label: names.get(one.id!) ?? one.id!, value: one.id!, description };
    });
  const unique = [...new Map(options.map((option) => [option.value, option])).values()];
  return unique.length === 0 ? [] : [menuRow('webhook:name', context.t('webhook.list.nameMenu'), unique)];
}

/** Events and target without Markdown, for menus and choices. */
function wordsOf(one: Webhook, urls: ReceiverUrls, { t }: Needs): string {
  const events = plainText(one.eventType) ?? t('webhook.list.unknownEvents');
  const host = plainText(hostOf(one)) ?? t('webhook.list.unknownHost');
  return t(pointsAt(urls, one.url) ? 'webhook.choice.here' : 'webhook.choice.elsewhere', { events, host });
}

/**
 * Choices of `webhook`: known ones whose ID or name matches the typed text; none if the service does not respond in
 * time.
 */
export async function choices(guildId: string, focused: string, context: Needs): Promise<Choice[]> {
  const { projects, receiver, storedProjects } = context;
  const access = await projects.of(guildId);
  if (access.status !== 'ready') return [];
  const [response, names] = await Promise.all([
    access.notification.webhooks(CHOICES_MS),
    storedProjects.webhookNames(guildId),
  ]);
  if (response.status !== 'ok') return [];
  const urls = receiver.urls(access.scope);
  const typed = focused.trim().toLowerCase();
  return response.webhooks.flatMap((one) => {
    if (one.id === null || !isWebhookId(one.id)) return [];
    const name = names.get(one.id);
    if (![one.id, name ?? ''].some((text) => text.toLowerCase().includes(typed))) return [];
    const words = [name && isolate(name), one.id, wordsOf(one, urls, context)];
    return [{ name: words.filter(Boolean).join(' · '), value: one.id }];
  });
}
