import type { Choice, Reply } from '../../src/discord/command.ts';
import { inCode, plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { ReceiverUrls } from '../../src/receiver/path-tokens.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { row } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { embedReply, MAX_ID } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { choicesWith } from '../shared/suggestions.ts';
import { createWebhookButton, isWebhookId, pointsAt, projectOf, receiverUrlButton } from '../shared/webhooks.ts';

const CHOICES_MS = 1_500;

export async function list(context: Context): Promise<Reply> {
  const { t, receiver } = context;
  const { notification, scope } = await projectOf(context);
  const response = await notification.webhooks();
  if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
  const { webhooks } = response;
  const urls = receiver.urls(scope);
  const targets = webhooks.map(({ url }) => pointsAt(urls, url));
  const advice = adviceOn(targets);
  // One text per webhook, so that the omitted ones are counted by webhook.
  const entries = webhooks.map((one) => {
    const id = one.id === null ? t('webhook.list.noId') : t('webhook.list.id', { id: inCode(one.id, '?', MAX_ID) });
    return `${line(one, urls, context)}\n${id}`;
  });
  const lines = [advice === null ? null : t(`webhook.list.${advice}`), ...entries];
  const create = advice === 'empty' || advice === 'noneHere' ? [createWebhookButton(t)] : [];
  return embedReply(advice === null ? 'info' : 'warn', t('webhook.list.title', { count: webhooks.length }), lines, {
    components: [row(...create, receiverUrlButton(t))],
  });
}

function adviceOn(targets: readonly ('current' | 'retiring' | null)[]): 'empty' | 'noneHere' | 'oldUrl' | null {
  if (targets.length === 0) return 'empty';
  if (targets.includes('retiring')) return 'oldUrl';
  return targets.includes('current') ? null : 'noneHere';
}

function line(one: Webhook, urls: ReceiverUrls, { t }: Context): string {
  const events = inCode(one.eventType, t('webhook.list.unknownEvents'));
  // A host cannot mislead like a name: it is shown, cleaned of control characters.
  const plain = plainText(hostOf(one))?.replaceAll('`', '');
  const host = plain === undefined ? t('webhook.list.unknownHost') : `\`${plain}\``;
  return t(`webhook.list.${pointsAt(urls, one.url) ?? 'elsewhere'}`, { events, host });
}

/** The rest of another receiver's URL may be secret. */
function hostOf({ url }: Webhook): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}

function wordsOf(one: Webhook, urls: ReceiverUrls, { t }: Context): string {
  const events = plainText(one.eventType) ?? t('webhook.list.unknownEvents');
  const host = plainText(hostOf(one)) ?? t('webhook.list.unknownHost');
  return t(pointsAt(urls, one.url) ? 'webhook.choice.here' : 'webhook.choice.elsewhere', { events, host });
}

/** Empty if the service does not respond in time. */
export async function choices(focused: string, context: Context): Promise<Choice[]> {
  const { guildId, projects, receiver } = context;
  const access = await projects.of(guildId);
  if (access.status !== 'ready') return [];
  const response = await access.notification.webhooks(CHOICES_MS);
  if (response.status !== 'ok') return [];
  const urls = receiver.urls(access.scope);
  const offered = response.webhooks.flatMap((one) =>
    one.id === null || !isWebhookId(one.id)
      ? []
      : { name: `${one.id} · ${wordsOf(one, urls, context)}`, value: one.id },
  );
  return choicesWith(focused, offered);
}
