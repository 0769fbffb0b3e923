import { type APIActionRowComponent, type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { Button, Form, FormOpener, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { button, row, rows } from '../shared/components.ts';
import { ask, takeConfirmation } from '../shared/confirmations.ts';
import { nameOf } from '../shared/names.ts';
import { hasNode } from '../shared/networks.ts';
import { coverageWarning } from '../shared/next-step.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import { readChoices } from './fields.ts';
import { differing } from './file.ts';
import { seenOne } from './find.ts';
import { FORMS, type FormName, formOf, labelOf, readForm } from './forms.ts';
import { readingOf } from './options.ts';
import { onlyChanged, save } from './save.ts';
import { noTokenLines, type TokenBook, tokenBook } from './token-book.ts';

const EDIT = 'subscription.panel';
const FORM_NAMES = Object.keys(FORMS) as FormName[];

export function panelRow(
  { id, network }: Subscription,
  { t, settings }: Context,
): APIActionRowComponent<APIButtonComponent> {
  const offered = FORM_NAMES.filter((name) => name !== 'balance' || settings.hasPrices || hasNode(settings, network));
  return row(...offered.map((name) => button(t(`subscription.panel.${name}`), `subscription:${name}:${id}`)));
}

/** A subscription's address, a warning if no webhook has it, with the button that adds it, and what is posted. */
export async function stateWith(subscription: Subscription, tokens: TokenBook, context: Context) {
  const warning = await coverageWarning(subscription.guildId, [subscription], () => String(subscription.id), context);
  const address = addressLine(subscription, context);
  return {
    lines: [address, ...(warning?.lines ?? []), ...summary(subscription, context, tokens)],
    fix: rows(warning?.buttons ?? []),
    isCovered: warning === null,
  };
}

export async function panel(subscription: Subscription, context: Context, title?: string): Promise<Reply> {
  const { t } = context;
  const tokens = await tokenBook(subscription.guildId, context);
  const { lines, fix, isCovered } = await stateWith(subscription, tokens, context);
  const tone = title ? 'good' : 'info';
  const shown = title ?? t('subscription.panel.title', { name: nameOf(subscription) });
  return embedReply(isCovered ? tone : 'warn', shown, lines, {
    footer: { text: t('subscription.add.footer', { id: subscription.id }) },
    components: [panelRow(subscription, context), ...fix],
  });
}

const opening = (name: FormName): FormOpener<Context> => ({
  form: async (interaction, [id], context) => {
    const found = await seenOne(interaction, id, context);
    return formOf(name, found, context);
  },
});

const submitting = (name: FormName): Form<Context> => ({
  response: 'update',
  async submit(interaction, [id], context) {
    const { t } = context;
    const before = await seenOne(interaction, id, context);
    const inputs = readForm(name, interaction, before);
    const called = (option: string) => labelOf(option, t);
    const reading = { ...(await readingOf(before.guildId, before.network, context)), called };
    const chosen = readChoices((option) => inputs.get(option), before, reading);
    const change = onlyChanged(before, chosen);
    if (Object.keys(change).length === 0) return panel(before, context, t('subscription.edit.same'));
    const after = { ...before, ...chosen };
    const entry = await ask(interaction, context, EDIT, { id: before.id, change });
    const lines = [
      addressLine(before, context),
      ...summary(after, context, reading.tokens),
      ...(await noTokenLines({ ...change, network: after.network }, interaction, context)),
      t('subscription.panel.changes', { options: differing(before, after).map(called).join(' · ') }),
    ];
    return embedReply('warn', t('subscription.panel.ask', { name: nameOf(before) }), lines, {
      fields: [await dryRunField(after, interaction, context)],
      components: [
        row(
          button(t('subscription.panel.save'), `subscription:save:${entry}`, ButtonStyle.Success),
          button(t('subscription.panel.cancel'), `subscription:revert:${entry}`),
        ),
      ],
    });
  },
});

const saveButton: Button<Context> = {
  async press(interaction, [entry], context) {
    const { id, change } = await takeConfirmation(interaction, context, EDIT, entry);
    const before = await seenOne(interaction, id, context);
    const after = await save(interaction, context, before, change, 'subscription.edit');
    return panel(after, context, context.t('subscription.edit.title', { name: nameOf(after) }));
  },
};

const cancelButton: Button<Context> = {
  async press(interaction, [entry], context) {
    const { id } = await takeConfirmation(interaction, context, EDIT, entry);
    return panel(await seenOne(interaction, id, context), context, context.t('subscription.edit.same'));
  },
};

export const panelButtons: Record<string, Button<Context> | FormOpener<Context>> = {
  ...Object.fromEntries(FORM_NAMES.map((name) => [name, opening(name)])),
  save: saveButton,
  revert: cancelButton,
};

export const panelForms: Record<string, Form<Context>> = Object.fromEntries(
  FORM_NAMES.map((name) => [name, submitting(name)]),
);
