import { type APIEmbedField, ButtonStyle } from 'discord.js';
import type { Button, ButtonUse, FormUse, Reply } from '../../src/discord/command.ts';
import type { StoredProject } from '../../src/domain/project.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { ReceiverUrls } from '../../src/receiver/paths.ts';
import { record } from '../shared/audit.ts';
import { button, row, rows } from '../shared/components.ts';
import { fingerprint } from '../shared/fingerprint.ts';
import { embedReply, MAX_ID } from '../shared/reply.ts';
import { hasManageServer, requireManageServer } from '../shared/rights.ts';
import type { ContextWith } from '../shared/services.ts';
import { createWebhookButton, postingHere } from '../shared/webhooks.ts';

/** How long the panel may wait for the service. */
const REQUEST_TIMEOUT_MS = 3_000;

type Use = ButtonUse | FormUse;
type Needs = ContextWith<'guilds' | 'audit' | 'storedProjects' | 'projects' | 'receiver' | 'now'>;

/** The project that a guild manages: its receiver URLs, and the buttons to change them. Only shown in private. */
export async function panel(interaction: Use, context: Needs, title?: string): Promise<Reply> {
  const { guildId } = interaction;
  const { t, storedProjects, projects, receiver } = context;
  const access = await projects.of(guildId);
  if (access.scope === null) {
    throw new UserError(t(access.status === 'off' ? 'setup.project.off' : 'setup.project.gone'));
  }
  const urls = receiver.urls(access.scope);
  // Anybody with the URL can post alerts, so the manager role is not enough to see it.
  const isAdmin = hasManageServer(interaction);
  const stored = access.own ? await storedProjects.ofGuild(guildId) : null;
  const lines = [
    stored && t('setup.project.storedAs', { id: inCode(stored.projectId, '?', MAX_ID) }),
    access.status === 'sealed' ? t('setup.project.sealed') : null,
    stored && t('setup.project.only'),
    projects.signingSecrets(access.scope) === null ? null : t('setup.project.signed'),
  ];
  const here =
    access.status === 'ready' && urls.current !== null ? await postingHere(access, context, REQUEST_TIMEOUT_MS) : null;
  const isNone = here?.status === 'ok' && here.webhooks.length === 0;
  const urlButton = urls.retiring
    ? button(t('setup.project.revoke'), 'setup:revoke')
    : button(t('setup.project.rotate'), 'setup:rotate');
  const buttons = [
    ...(isNone ? [createWebhookButton(t)] : []),
    ...(isAdmin && !urls.fixed ? [urlButton] : []),
    ...(access.own ? [button(t('setup.project.remove'), 'setup:remove', ButtonStyle.Danger)] : []),
  ];
  const tone = access.status === 'sealed' ? 'warn' : title ? 'good' : 'info';
  const usual = t(access.own ? 'setup.project.title' : 'setup.project.operatorTitle');
  return embedReply(tone, title ?? usual, lines, {
    fields: isAdmin ? fieldsOf(context, urls, here?.status === 'ok' && !isNone) : hiddenField(context),
    components: rows(buttons),
  });
}

/** A URL alone in a block can be copied as a whole, also on a phone. */
const urlBlock = (url: string): string => `\`\`\`\n${url}\n\`\`\``;

function hiddenField({ t }: Needs): APIEmbedField[] {
  return [{ name: t('setup.project.url'), value: t('setup.project.urlHidden') }];
}

/** `isMade`: a webhook posts here already. */
function fieldsOf({ t }: Needs, { current, retiring, fixed }: ReceiverUrls, isMade: boolean): APIEmbedField[] {
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

/** The scope of the project that a button may change, checked at each press. */
async function managedScope({ t, projects }: Needs, guildId: string): Promise<number> {
  const { scope } = await projects.of(guildId);
  if (scope === null) throw new UserError(t('setup.project.gone'));
  return scope;
}

/** `setup:receiver` */
const showButton: Button<Needs> = {
  access: 'manage',
  response: 'reply',
  press: (interaction, _, context) => panel(interaction, context),
};

/** `setup:rotate` */
const rotateButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, _, context) {
    const { t, receiver } = context;
    requireManageServer(interaction, t);
    const scope = await managedScope(context, interaction.guildId);
    if (receiver.urls(scope).fixed) throw new UserError(t('setup.project.fixed'));
    if (!(await receiver.rotate(scope))) throw new UserError(t('setup.project.stillOld'));
    await record(interaction, context, 'setup.receiver.rotate', { scope });
    return panel(interaction, context, t('setup.project.rotated'));
  },
};

/** `setup:revoke`: asks first, because it appears where the button for a new URL was a moment ago. */
const askRevokeButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press(interaction, _, context) {
    requireManageServer(interaction, context.t);
    return askToRevoke(context, interaction.guildId);
  },
};

async function askToRevoke(context: Needs, guildId: string): Promise<Reply> {
  const { t, receiver } = context;
  const scope = await managedScope(context, guildId);
  const { retiring } = receiver.urls(scope);
  if (retiring === null) throw new UserError(t('setup.project.nothingToRevoke'));
  const buttons = row(
    button(t('setup.project.revoke'), `setup:revoked:${fingerprint(retiring)}`, ButtonStyle.Danger),
    button(t('setup.project.keep'), 'setup:kept'),
  );
  return embedReply('danger', t('setup.project.revoke'), [urlBlock(retiring), t('setup.project.nextRotate')], {
    components: [buttons],
  });
}

/** `setup:revoked:<fingerprint of the URL>` */
const confirmRevokeButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [expected], context) {
    const { t, receiver } = context;
    requireManageServer(interaction, t);
    const scope = await managedScope(context, interaction.guildId);
    const { retiring } = receiver.urls(scope);
    // The old URL may be a different one since the question.
    if (retiring !== null && fingerprint(retiring) !== expected) return askToRevoke(context, interaction.guildId);
    if (!(await receiver.revoke(scope))) throw new UserError(t('setup.project.nothingToRevoke'));
    await record(interaction, context, 'setup.receiver.revoke', { scope });
    return panel(interaction, context, t('setup.project.revoked'));
  },
};

/** `setup:remove`: asks first. */
const askRemoveButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press: async ({ guildId }, _, context) => askToRemove(context, await storedBy(context, guildId)),
};

async function storedBy({ t, storedProjects }: Needs, guildId: string): Promise<StoredProject> {
  const stored = await storedProjects.ofGuild(guildId);
  if (!stored) throw new UserError(t('setup.project.gone'));
  return stored;
}

function askToRemove({ t }: Needs, stored: StoredProject): Reply {
  const buttons = row(
    button(t('setup.project.removeConfirm'), `setup:removed:${fingerprintOf(stored)}`, ButtonStyle.Danger),
    button(t('setup.project.keep'), 'setup:kept'),
  );
  const lines = [inCode(stored.projectId, '?', MAX_ID), t('setup.project.removeText')];
  return embedReply('danger', t('setup.project.removeTitle'), lines, { components: [buttons] });
}

const fingerprintOf = ({ scope, projectId }: StoredProject): string => fingerprint(`${scope} ${projectId}`);

/** `setup:removed:<fingerprint of the project>` */
const confirmRemoveButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [expected], context) {
    const { t, projects } = context;
    const stored = await storedBy(context, interaction.guildId);
    // Another project may have been stored since the question.
    if (fingerprintOf(stored) !== expected) return askToRemove(context, stored);
    await context.guilds.changeSettings(interaction.guildId, { webhook: null });
    if (!(await projects.remove(interaction.guildId))) throw new UserError(t('setup.project.gone'));
    await record(interaction, context, 'setup.project.remove', { project: stored.projectId });
    return embedReply('good', t('setup.project.removed'), [t('setup.project.removedText')]);
  },
};

/** `setup:kept` */
const cancelButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press: (interaction, _, context) => panel(interaction, context),
};

/** The panel's buttons, by action. */
export const panelButtons: Record<string, Button<Needs>> = {
  receiver: showButton,
  rotate: rotateButton,
  revoke: askRevokeButton,
  revoked: confirmRevokeButton,
  remove: askRemoveButton,
  removed: confirmRemoveButton,
  kept: cancelButton,
};
