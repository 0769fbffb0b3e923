import type { Form, FormMenu } from '../../src/discord/command.ts';
import { inCode, looksLikeLink, plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { textField } from '../shared/components.ts';
import { embedReply, withInput } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';

type Needs = ContextWith<'audit' | 'storedProjects' | 'now'>;

/** Maximum characters of a name. */
const MAX_NAME = 32;

/** Whether this can be a webhook's ID; anything else must not go into a request or a custom ID. */
export const isWebhookId = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

/** `webhook:name`: opens the form for the picked webhook's name. */
export const nameMenu: FormMenu<Needs> = {
  access: 'manage',
  async form({ guildId }, _, [id = ''], { t, storedProjects }) {
    const name = (await storedProjects.webhookNames(guildId)).get(id);
    return {
      custom_id: `webhook:name:${id}`,
      title: t('webhook.name.title'),
      components: [
        textField('name', t('webhook.name.label'), t('webhook.name.hint'), {
          required: false,
          max_length: MAX_NAME,
          ...(name !== undefined && { value: name }),
        }),
      ],
    };
  },
};

/** `webhook:name:<id>`: names it, or removes the name. */
export const nameForm: Form<Needs> = {
  access: 'manage',
  async submit(interaction, [id = ''], context) {
    const { t, storedProjects } = context;
    const typed = interaction.fields.getTextInputValue('name').trim();
    const name = typed === '' ? null : plainText(typed);
    if (!isWebhookId(id) || (typed !== '' && (name === null || looksLikeLink(name) || name.length > MAX_NAME))) {
      throw withInput(new UserError(t('webhook.name.wrong')), typed, t);
    }
    await storedProjects.nameWebhook(interaction.guildId, id, name);
    await record(interaction, context, 'webhook.name', { webhook: id, name });
    return name === null
      ? embedReply('good', t('webhook.name.gone'), [t('webhook.name.goneText')])
      : embedReply('good', t('webhook.name.saved'), [t('webhook.name.savedText', { name: inCode(name, '') })]);
  },
};
