import { type APIEmbedField, ButtonStyle, ComponentType } from 'discord.js';
import type { Button, Form, FormData, Reply } from '../../src/discord/command.ts';
import { SIGNING_SECRET, type StoredProject } from '../../src/domain/project.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { ReceiverUrls } from '../../src/receiver/path-tokens.ts';
import type { ProjectKeys } from '../../src/upstream/projects.ts';
import { hasManageServer, requireManageServer } from '../shared/channels.ts';
import { button, fingerprint, question, rows, textField } from '../shared/components.ts';
import { codeOf, rootHint } from '../shared/failure.ts';
import { record } from '../shared/records.ts';
import { embedReply, MAX_ID } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { postingHere, SOON_MS, webhookButtons } from '../shared/webhooks.ts';

const CHECK_MS = 10_000;
const MAX_INPUT = 200;

/** Characters that are safe where the values are used: the ID in a path, the secret in a header. */
const PATTERNS = { projectId: /^[\w-]{1,64}$/, apiKey: /^[\x21-\x7e]{1,200}$/, apiSecret: /^[\x21-\x7e]{1,200}$/ };

export async function projectForm({ guildId, t, storedProjects, projects, network }: Context): Promise<FormData> {
  if (!projects.enabled) throw new UserError(t('setup.project.off'));
  const stored = await storedProjects.ofGuild(guildId, network.id);
  const field = (id: keyof ProjectKeys, name: 'id' | 'key' | 'secret' | 'signing', input: object = {}) =>
    textField(id, t(`setup.project.form.${name}`), t(`setup.project.form.${name}Hint`), {
      max_length: MAX_INPUT,
      ...input,
    });
  return {
    custom_id: 'setup:project',
    title: t('setup.project.form.title'),
    components: [
      { type: ComponentType.TextDisplay, content: t('setup.project.form.about') },
      field('projectId', 'id', stored ? { value: stored.projectId } : {}),
      field('apiKey', 'key'),
      field('apiSecret', 'secret'),
      field('signingSecrets', 'signing', { required: false }),
    ],
  };
}

export const projectFormSubmit: Form<Context> = {
  secrets: ['apiKey', 'apiSecret', 'signingSecrets'],
  async submit(interaction, _, context) {
    const { guildId, fields } = interaction;
    const { t, network, storedProjects, projects } = context;
    const given = (id: keyof ProjectKeys) => fields.getTextInputValue(id).trim();
    const shown = { projectId: given('projectId'), apiKey: given('apiKey'), apiSecret: given('apiSecret') };
    for (const id of ['projectId', 'apiKey', 'apiSecret'] as const) {
      if (!PATTERNS[id].test(shown[id])) throw new UserError(t(`setup.project.wrong.${id}`));
    }
    const before = await storedProjects.ofGuild(guildId, network.id);
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
    if (before?.projectId !== keys.projectId) await storedProjects.chooseWebhook(guildId, network.id, null);
    await projects.save(guildId, keys);
    await record(context, 'setup.project', {
      project: keys.projectId,
      replaced: before?.projectId ?? null,
      signed: keys.signingSecrets.length > 0,
    });
    return panel(context, t(before ? 'setup.project.replaced' : 'setup.project.saved'));
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

/** Shown in private only: it has the receiver URLs. */
async function panel(context: Context, title?: string): Promise<Reply> {
  const { guildId, interaction, t, storedProjects, projects, receiver } = context;
  const access = await projects.accessOf(guildId);
  if (access.scope === null) {
    throw new UserError(t(access.status === 'off' ? 'setup.project.off' : 'setup.project.gone'));
  }
  const urls = receiver.urls(access.scope);
  // Anybody with the URL can post alerts, so the manager role is not enough to see it.
  const isAdmin = hasManageServer(interaction);
  const stored = access.own ? await storedProjects.ofGuild(guildId, context.network.id) : null;
  const lines = [
    stored && t('setup.project.storedAs', { id: inCode(stored.projectId, '?', MAX_ID) }),
    access.status === 'sealed' ? t('setup.project.sealed') : null,
    stored && t('setup.project.only'),
    projects.isSigned(access.scope) ? t('setup.project.signed') : null,
  ];
  const here = access.status === 'ready' && urls.current !== null ? await postingHere(access, context, SOON_MS) : null;
  const isNone = here?.status === 'ok' && here.webhooks.length === 0;
  const urlButton = urls.retiring
    ? button(t('setup.project.revoke'), 'setup:revoke')
    : button(t('setup.project.rotate'), 'setup:rotate');
  const buttons = [
    ...(isNone ? [webhookButtons.create(t)] : []),
    ...(isAdmin && !urls.fixed ? [urlButton] : []),
    ...(access.own ? [button(t('setup.project.remove'), 'setup:remove', ButtonStyle.Danger)] : []),
  ];
  const tone = access.status === 'sealed' ? 'warn' : title ? 'good' : 'info';
  const usual = t(access.own ? 'setup.project.title' : 'setup.project.operatorTitle');
  const hidden = [{ name: t('setup.project.url'), value: t('setup.project.urlHidden') }];
  return embedReply(tone, title ?? usual, lines, {
    fields: isAdmin ? urlFields(context, urls, here?.status === 'ok' && !isNone) : hidden,
    components: rows(buttons),
  });
}

/** A URL alone in a block can be copied as a whole, also on a phone. */
const urlBlock = (url: string): string => `\`\`\`\n${url}\n\`\`\``;

/** `isMade`: a webhook posts here already. */
function urlFields({ t }: Context, { current, retiring, fixed }: ReceiverUrls, isMade: boolean): APIEmbedField[] {
  const next = retiring ? 'nextRotate' : isMade ? 'nextWatch' : 'nextSteps';
  const shown = current ? urlBlock(current) : t('setup.project.noUrl');
  return [
    {
      name: t('setup.project.url'),
      value: [shown, fixed ? t('setup.project.fixed') : null].filter(Boolean).join('\n'),
    },
    ...(retiring ? [{ name: t('setup.project.oldUrl'), value: urlBlock(retiring) }] : []),
    {
      name: t('setup.project.next'),
      value: `${t(`setup.project.${next}`)}\n${t('setup.project.secret')}`,
    },
  ];
}

export const panelButtons: Record<string, Button<Context>> = {
  receiver: { response: 'reply', press: (_, __, context) => panel(context) },
  kept: { press: (_, __, context) => panel(context) },
  rotate: {
    async press(_, __, context) {
      const { t, receiver } = context;
      const scope = await managedScope(context);
      if (receiver.urls(scope).fixed) throw new UserError(t('setup.project.fixed'));
      if (!(await receiver.rotate(scope))) throw new UserError(t('setup.project.stillOld'));
      await record(context, 'setup.receiver.rotate', { scope });
      return panel(context, t('setup.project.rotated'));
    },
  },
  /** `setup:revoke`: asks first, because it appears where the button for a new URL was a moment ago. */
  revoke: {
    press: async (_, __, context) => askToRevoke(await managedScope(context), context),
  },
  revoked: {
    async press(_, [expected], context) {
      const { t, receiver } = context;
      const scope = await managedScope(context);
      const { retiring } = receiver.urls(scope);
      // The old URL may be a different one since the question.
      if (retiring !== null && fingerprint(retiring) !== expected) return askToRevoke(scope, context);
      if (!(await receiver.revoke(scope))) throw new UserError(t('setup.project.nothingToRevoke'));
      await record(context, 'setup.receiver.revoke', { scope });
      return panel(context, t('setup.project.revoked'));
    },
  },
  remove: { press: async (_, __, context) => askToRemove(await storedBy(context), context) },
  removed: {
    async press(interaction, [scope, id], context) {
      const { t, projects } = context;
      const stored = await storedBy(context);
      // Another project may have been stored since the question.
      if (String(stored.scope) !== scope || stored.projectId !== id) return askToRemove(stored, context);
      if (!(await projects.remove(interaction.guildId))) throw new UserError(t('setup.project.gone'));
      await record(context, 'setup.project.remove', { project: stored.projectId });
      return embedReply('good', t('setup.project.removed'), [t('setup.project.removedText')]);
    },
  },
};

async function managedScope({ interaction, t, projects }: Context): Promise<number> {
  requireManageServer(interaction, t);
  const { scope } = await projects.accessOf(interaction.guildId);
  if (scope === null) throw new UserError(t('setup.project.gone'));
  return scope;
}

function askToRevoke(scope: number, { t, receiver }: Context): Reply {
  const { retiring } = receiver.urls(scope);
  if (retiring === null) throw new UserError(t('setup.project.nothingToRevoke'));
  return question(
    t('setup.project.revoke'),
    [urlBlock(retiring), t('setup.project.nextRotate')],
    [t('setup.project.revoke'), `setup:revoked:${fingerprint(retiring)}`],
    [t('setup.project.keep'), 'setup:kept'],
  );
}

async function storedBy({ guildId, t, storedProjects, network }: Context): Promise<StoredProject> {
  const stored = await storedProjects.ofGuild(guildId, network.id);
  if (!stored) throw new UserError(t('setup.project.gone'));
  return stored;
}

function askToRemove(stored: StoredProject, { t }: Context): Reply {
  return question(
    t('setup.project.removeTitle'),
    [inCode(stored.projectId, '?', MAX_ID), t('setup.project.removeText')],
    [t('setup.project.removeConfirm'), `setup:removed:${stored.scope}:${stored.projectId}`],
    [t('setup.project.keep'), 'setup:kept'],
  );
}
