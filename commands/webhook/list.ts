import type { Choice, Command, Reply } from '../../src/discord/command.ts';
import { inCode, isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { ReceiverUrls } from '../../src/receiver/path-tokens.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { MAX_MENU_OPTIONS, type MenuRow, menuRow, row, textField } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { record } from '../shared/records.ts';
import { embedReply, MAX_ID, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { isWebhookId, pointsAt, projectOf, webhookButtons } from '../shared/webhooks.ts';

const MAX_NAME = 32;
const CHOICES_MS = 1_500;

export async function list(context: Context): Promise<Reply> {
  const { guildId, t, receiver, storedProjects } = context;
  const { notification, scope } = await projectOf(context);
  const names = await storedProjects.webhookNames(guildId, context.network.id);
  const response = await notification.webhooks();
  if (response.status !== 'ok') throw new UserError(explain(t, response, 'notification'));
  const { webhooks } = response;
  const urls = receiver.urls(scope);
  const targets = webhooks.map(({ url }) => pointsAt(urls, url));
  const advice = adviceOn(targets);
  // One text per webhook, so that the omitted ones are counted by webhook.
  const entries = webhooks.map((webhook) => {
    const name = webhook.id === null ? undefined : names.get(webhook.id);
    return [
      ...(name === undefined ? [] : [`**${inCode(name, '')}**`]),
      line(webhook, urls, context),
      webhook.id === null ? t('webhook.list.noId') : t('webhook.list.id', { id: inCode(webhook.id, '?', MAX_ID) }),
    ].join('\n');
  });
  const lines = [advice === null ? null : t(`webhook.list.${advice}`), ...entries];
  const create = advice === 'empty' || advice === 'noneHere' ? [webhookButtons.create(t)] : [];
  return embedReply(advice === null ? 'info' : 'warn', t('webhook.list.title', { count: webhooks.length }), lines, {
    components: [row(...create, webhookButtons.receiverUrl(t)), ...nameRow(webhooks, names, urls, context)],
  });
}

function adviceOn(targets: readonly ('current' | 'retiring' | null)[]): 'empty' | 'noneHere' | 'oldUrl' | null {
  if (targets.length === 0) return 'empty';
  if (targets.includes('retiring')) return 'oldUrl';
  return targets.includes('current') ? null : 'noneHere';
}

function line(webhook: Webhook, urls: ReceiverUrls, { t }: Context): string {
  const events = inCode(webhook.eventType, t('webhook.list.unknownEvents'));
  // A host cannot mislead like a name: it is shown, cleaned of control characters.
  const plain = plainText(hostOf(webhook))?.replaceAll('`', '');
  const host = plain === undefined ? t('webhook.list.unknownHost') : `\`${plain}\``;
  return t(`webhook.list.${pointsAt(urls, webhook.url) ?? 'elsewhere'}`, { events, host });
}

/** The rest of another receiver's URL may be secret. */
function hostOf({ url }: Webhook): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}

function nameRow(
  webhooks: readonly Webhook[],
  names: ReadonlyMap<string, string>,
  urls: ReceiverUrls,
  context: Context,
): MenuRow[] {
  const options = webhooks
    .filter(({ id }) => id !== null && isWebhookId(id))
    .slice(0, MAX_MENU_OPTIONS)
    .map((webhook) => {
      const description = wordsOf(webhook, urls, context);
      return { label: names.get(webhook.id!) ?? webhook.id!, value: webhook.id!, description };
    });
  const unique = [...new Map(options.map((option) => [option.value, option])).values()];
  return unique.length === 0 ? [] : [menuRow('webhook:name', context.t('webhook.list.nameMenu'), unique)];
}

function wordsOf(webhook: Webhook, urls: ReceiverUrls, { t }: Context): string {
  const events = plainText(webhook.eventType) ?? t('webhook.list.unknownEvents');
  const host = plainText(hostOf(webhook)) ?? t('webhook.list.unknownHost');
  return t(pointsAt(urls, webhook.url) ? 'webhook.choice.here' : 'webhook.choice.elsewhere', { events, host });
}

/** Empty if the service does not respond in time. */
export async function choices(focused: string, context: Context): Promise<Choice[]> {
  const { guildId, projects, receiver, storedProjects } = context;
  const access = await projects.accessOf(guildId);
  if (access.status !== 'ready') return [];
  const names = await storedProjects.webhookNames(guildId, context.network.id);
  const response = await access.notification.webhooks(CHOICES_MS);
  if (response.status !== 'ok') return [];
  const urls = receiver.urls(access.scope);
  const typed = focused.trim().toLowerCase();
  return response.webhooks.flatMap((webhook) => {
    if (webhook.id === null || !isWebhookId(webhook.id)) return [];
    const name = names.get(webhook.id);
    if (![webhook.id, name ?? ''].some((text) => text.toLowerCase().includes(typed))) return [];
    const words = [name && isolate(name), webhook.id, wordsOf(webhook, urls, context)];
    return [{ name: words.filter(Boolean).join(' · '), value: webhook.id }];
  });
}

export const namingOfWebhooks = {
  menus: {
    name: {
      async form({ guildId }, _, { t, network, storedProjects }, [id = '']) {
        const name = (await storedProjects.webhookNames(guildId, network.id)).get(id);
        const input = { required: false, max_length: MAX_NAME, ...(name !== undefined && { value: name }) };
        return {
          custom_id: `webhook:name:${id}`,
          title: t('webhook.name.title'),
          components: [textField('name', t('webhook.name.label'), t('webhook.name.hint'), input)],
        };
      },
    },
  },
  forms: {
    name: {
      async submit(interaction, [id = ''], context) {
        const { t, network, storedProjects } = context;
        const typed = interaction.fields.getTextInputValue('name').trim();
        const name = typed === '' ? null : plainText(typed);
        if (!isWebhookId(id) || (typed !== '' && (name === null || looksLikeLink(name) || name.length > MAX_NAME))) {
          throw withInput(new UserError(t('webhook.name.wrong')), typed, t);
        }
        await storedProjects.nameWebhook(interaction.guildId, network.id, id, name);
        await record(context, 'webhook.name', { webhook: id, name });
        return name === null
          ? embedReply('good', t('webhook.name.gone'), [t('webhook.name.goneText')])
          : embedReply('good', t('webhook.name.saved'), [t('webhook.name.savedText', { name: inCode(name, '') })]);
      },
    },
  },
} satisfies Partial<Command<Context>>;
