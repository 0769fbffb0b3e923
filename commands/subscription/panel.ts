import { type APIActionRowComponent, type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { Button, Form, FormButton, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { button, row } from '../shared/components.ts';
import { ask, takeConfirmation } from '../shared/confirmations.ts';
import { embedReply } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf } from '../shared/subscriptions.ts';
import { addressLine, summary } from './describe.ts';
import { type DryRunNeeds, dryRunField } from './dry-run.ts';
import { readChoices } from './fields.ts';
import { differing } from './file.ts';
import { seenOne } from './find.ts';
import { FORMS, type FormName, formOf, readForm } from './forms.ts';
import { readingOf } from './options.ts';
import { onlyChanged, save } from './save.ts';
import { tokenBook } from './token-book.ts';

type Needs = DryRunNeeds & ContextWith<'audit' | 'confirmations'>;

/** The action's name in confirmations. */
const EDIT = 'subscription.panel';
const FORM_NAMES = Object.keys(FORMS) as FormName[];

/** The buttons that open the forms of a subscription. */
export function panelRow({ id }: Subscription, { t }: ContextWith): APIActionRowComponent<APIButtonComponent> {
  return row(...FORM_NAMES.map((name) => button(t(`subscription.panel.${name}`), `subscription:${name}:${id}`)));
}

/** A subscription's current state, with buttons to change it. */
export async function panel(
  subscription: Subscription,
  context: ContextWith<'tokens' | 'settings' | 'now'>,
  title?: string,
): Promise<Reply> {
  const tokens = await tokenBook(subscription.guildId, context);
  const lines = [addressLine(subscription.address, context), ...summary(subscription, context, tokens)];
  const name = nameOf(subscription);
  return embedReply(title ? 'good' : 'info', title ?? context.t('subscription.panel.title', { name }), lines, {
    footer: { text: context.t('subscription.add.footer', { id: subscription.id }) },
    components: [panelRow(subscription, context)],
  });
}

const opening = (name: FormName): FormButton<Needs> => ({
  access: 'manage',
  form: async (interaction, [id], context) => {
    const found = await seenOne(interaction, id, context);
    return formOf(name, found.id, found, context);
  },
});

const submitting = (name: FormName): Form<Needs> => ({
  access: 'manage',
  response: 'update',
  async submit(interaction, [id], context) {
    const { t } = context;
    const before = await seenOne(interaction, id, context);
    const inputs = readForm(name, interaction, before);
    const tokens = await tokenBook(before.guildId, context);
    const chosen = readChoices((option) => inputs.get(option), before, readingOf(before.guildId, context, tokens));
    const change = onlyChanged(before, chosen);
    if (Object.keys(change).length === 0) return panel(before, context, t('subscription.edit.same'));
    const after = { ...before, ...chosen };
    const entry = await ask(interaction, context, EDIT, { id: before.id, change });
    const lines = [
      addressLine(before.address, context),
      ...summary(after, context, tokens),
      t('subscription.panel.changes', { options: differing(before, after).join(t('reply.comma')) }),
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

/** `subscription:save:<entry>` */
const saveButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const { id, change } = await takeConfirmation(interaction, context, EDIT, entry);
    const before = await seenOne(interaction, id, context);
    const after = await save(interaction, context, before, change, 'subscription.edit');
    return panel(after, context, context.t('subscription.edit.title', { name: nameOf(after) }));
  },
};

/** `subscription:revert:<entry>` */
const cancelButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const { id } = await takeConfirmation(interaction, context, EDIT, entry);
    return panel(await seenOne(interaction, id, context), context, context.t('subscription.edit.same'));
  },
};

/** The panel's buttons, by action. */
export const panelButtons: Record<string, Button<Needs> | FormButton<Needs>> = {
  ...Object.fromEntries(FORM_NAMES.map((name) => [name, opening(name)])),
  save: saveButton,
  revert: cancelButton,
};

/** The panel's forms, by action. */
export const panelForms: Record<string, Form<Needs>> = Object.fromEntries(
  FORM_NAMES.map((name) => [name, submitting(name)]),
);
