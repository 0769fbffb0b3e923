import { type APIModalInteractionResponseCallbackData, ComponentType } from 'discord.js';
import type { Form } from '../../src/discord/command.ts';
import { SIGNING_SECRET } from '../../src/domain/signing.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { ProjectKeys } from '../../src/upstream/project-client.ts';
import { record } from '../shared/audit.ts';
import { textField } from '../shared/components.ts';
import { codeOf, rootHint } from '../shared/failure.ts';
import type { ContextWith } from '../shared/services.ts';
import { panel } from './panel.ts';

type Needs = ContextWith<'guilds' | 'audit' | 'storedProjects' | 'projects' | 'receiver' | 'now'>;

/** How long checking the keys with the service may take. */
const CHECK_MS = 10_000;
/** Maximum characters of a field. */
const MAX_INPUT = 200;

/** What the fields may contain: the ID becomes part of a path, the secret a header. */
const PATTERNS = { projectId: /^[\w-]{1,64}$/, apiKey: /^[\x21-\x7e]{1,200}$/, apiSecret: /^[\x21-\x7e]{1,200}$/ };

/** `/setup project`: the form for a project and its keys. */
export async function projectForm(
  guildId: string,
  { t, storedProjects, projects }: Needs,
): Promise<APIModalInteractionResponseCallbackData> {
  if (!projects.enabled) throw new UserError(t('setup.project.off'));
  const stored = await storedProjects.ofGuild(guildId);
  return {
    custom_id: 'setup:project',
    title: t('setup.project.form.title'),
    components: [
      { type: ComponentType.TextDisplay, content: t('setup.project.form.about') },
      textField('projectId', t('setup.project.form.id'), t('setup.project.form.idHint'), {
        max_length: MAX_INPUT,
        ...(stored && { value: stored.projectId }),
      }),
      textField('apiKey', t('setup.project.form.key'), t('setup.project.form.keyHint'), { max_length: MAX_INPUT }),
      textField('apiSecret', t('setup.project.form.secret'), t('setup.project.form.secretHint'), {
        max_length: MAX_INPUT,
      }),
      textField('signingSecrets', t('setup.project.form.signing'), t('setup.project.form.signingHint'), {
        max_length: MAX_INPUT,
        required: false,
      }),
    ],
  };
}

/** `setup:project`: checks the keys, stores them sealed, and shows where events must be sent. */
export const projectFormSubmit: Form<Needs> = {
  access: 'manage',
  async submit(interaction, _, context) {
    const { guildId, fields } = interaction;
    const { t, guilds, storedProjects, projects } = context;
    const given = (id: keyof ProjectKeys) => fields.getTextInputValue(id).trim();
    const shown = { projectId: given('projectId'), apiKey: given('apiKey'), apiSecret: given('apiSecret') };
    for (const id of ['projectId', 'apiKey', 'apiSecret'] as const) {
      if (!PATTERNS[id].test(shown[id])) throw new UserError(t(`setup.project.wrong.${id}`));
    }
    const before = await storedProjects.ofGuild(guildId);
    const kept = before?.projectId === shown.projectId ? await projects.ownSigningSecrets(guildId) : [];
    // A form that was opened before an update may lack the field.
    const typed = fields.fields.has('signingSecrets') ? given('signingSecrets') : '';
    const keys = { ...shown, signingSecrets: readSigningSecrets(typed, kept, t) };
    const response = await projects.check(keys, CHECK_MS);
    if (!response) throw new UserError(t('setup.project.off'));
    if (response.status !== 'ok') {
      const refused = t(`setup.project.refused.${response.status}`, { code: codeOf(response) });
      throw new UserError(refused + rootHint(t, response, 'notification'));
    }
    // Before the project changes: another project's webhook must never get its addresses.
    if (before?.projectId !== keys.projectId) await guilds.changeSettings(guildId, { webhook: null });
    await projects.save(guildId, keys);
    await record(interaction, context, 'setup.project', {
      project: keys.projectId,
      replaced: before?.projectId ?? null,
      signed: keys.signingSecrets.length > 0,
    });
    return panel(interaction, context, t(before ? 'setup.project.replaced' : 'setup.project.saved'));
  },
};

/** One secret, or two during a rotation. Empty: the `kept` ones; `off`: none. */
function readSigningSecrets(typed: string, kept: readonly string[], t: Translate): readonly string[] {
  if (typed === '') return kept;
  if (typed.toLowerCase() === 'off') return [];
  const secrets = typed.split(/[\s,]+/).filter(Boolean);
  if (secrets.length > 2 || !secrets.every((secret) => SIGNING_SECRET.test(secret))) {
    throw new UserError(t('setup.project.wrong.signingSecrets'));
  }
  return secrets;
}
