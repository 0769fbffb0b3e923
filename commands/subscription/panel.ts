import { ComponentType, SelectMenuDefaultValueType, TextInputStyle } from 'discord.js';
import type { Button, Form, FormData, FormOpener, FormUse, Reply } from '../../src/discord/command.ts';
import type { Choices, Subscription } from '../../src/domain/subscription.ts';
import { type ButtonRow, button, question, row, rows } from '../shared/components.ts';
import { nameOf } from '../shared/names.ts';
import { hasNode } from '../shared/networks.ts';
import { coverageWarning } from '../shared/next-step.ts';
import { ask, takeConfirmation } from '../shared/records.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { noTokenLines, type TokenBook, tokenBook } from '../shared/tokens.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import { choiceName, FIELDS, type Field, FLAGS, labelOf, MAX_LIST, readChoices, writeChoice } from './fields.ts';
import { differing } from './file.ts';
import { seenOne } from './find.ts';
import { readingOf } from './options.ts';
import { onlyChanged, save } from './save.ts';

type Part = FormData['components'][number];
type Input = Extract<Part, { type: ComponentType.Label }>['component'];

const INCLUDE = { option: 'include', kind: 'flags', flags: FLAGS } as const;
type Control = Field | typeof INCLUDE;

/** The forms of the panel, each with at most five fields, Discord's limit. */
export const FORMS = {
  filters: [FIELDS.direction, FIELDS.kind, FIELDS.minimum, FIELDS.token, INCLUDE],
  lists: [FIELDS.minimums, FIELDS.tokens, FIELDS.deniedTokens, FIELDS.counterparties, FIELDS.deniedCounterparties],
  pings: [FIELDS.mention, FIELDS.mentionMinimum, FIELDS.mentionCooldown],
  schedule: [FIELDS.digest, FIELDS.quiet, FIELDS.holdAll, FIELDS.watchSilence, FIELDS.style],
  balance: [FIELDS.minimumUsd, FIELDS.mentionMinimumUsd, FIELDS.showBalance, FIELDS.warnBelow],
} satisfies Record<string, Control[]>;

export type FormName = keyof typeof FORMS;

function formOf(name: FormName, choices: Subscription, context: Context): FormData {
  const { t, settings } = context;
  const isOffered = ({ option }: Control) =>
    option.endsWith('-usd')
      ? settings.hasPrices
      : (option !== 'balance' && option !== 'warn-below') || hasNode(settings, choices.network);
  return {
    custom_id: `subscription:${name}:${choices.id}`,
    title: t(`subscription.panel.${name}`),
    components: FORMS[name].filter(isOffered).map((control: Control): Part => {
      const now = control.kind === 'flags' ? '' : writeChoice(control.option, choices);
      const label = labelOf(control.option, t);
      // A text that is too long for a field is not offered; a file can change it.
      if (now.length > MAX_LIST) {
        return { type: ComponentType.TextDisplay, content: `${label}: ${t('subscription.form.long')}` };
      }
      return { type: ComponentType.Label, label, component: inputOf(control, now, choices, context) };
    }),
  };
}

function inputOf(control: Control, now: string, choices: Choices, { t, language }: Context): Input {
  const { option: custom_id } = control;
  switch (control.kind) {
    case 'text':
      return {
        type: ComponentType.TextInput,
        custom_id,
        style: control.max === MAX_LIST ? TextInputStyle.Paragraph : TextInputStyle.Short,
        required: false,
        placeholder: control.example!,
        max_length: control.max!,
        ...(now !== '' && { value: now }),
      };
    case 'role': {
      const role = { id: choices.mention ?? '', type: SelectMenuDefaultValueType.Role as const };
      const chosen = choices.mention !== null && { default_values: [role] };
      return { type: ComponentType.RoleSelect, custom_id, required: false, min_values: 0, ...chosen };
    }
    case 'choice':
    case 'flag': {
      const choices = control.choices?.map(({ value }) => [value, choiceName(control, value, language)] as const);
      const named = choices ?? (['no', 'yes'] as const).map((value) => [value, t(`token.${value}`)] as const);
      const options = named.map(([value, label]) => ({ label, value, default: value === (now || 'default') }));
      return { type: ComponentType.StringSelect, custom_id, options };
    }
    case 'flags': {
      const options = control.flags.map((flag) => ({
        label: labelOf(flag, t),
        value: flag,
        default: choices.filters[flag],
      }));
      const limits = { min_values: 0, max_values: options.length };
      return { type: ComponentType.StringSelect, custom_id, required: false, ...limits, options };
    }
  }
}

function readForm(form: FormName, { fields, guildId }: FormUse, before: Choices): Map<string, string> {
  const inputs = new Map<string, string>();
  for (const { option, kind } of FORMS[form] as readonly Control[]) {
    const field = fields.fields.get(option);
    if (!field) continue;
    const values = 'values' in field ? [...field.values] : [];
    const [value] = values;
    if (kind === 'flags') for (const flag of FLAGS) inputs.set(flag, values.includes(flag) ? 'yes' : 'no');
    else if ('value' in field) inputs.set(option, (field.value as string).trim());
    // In Discord @everyone is a selectable role. Here it means "none".
    else if (kind === 'role') inputs.set(option, value === undefined || value === guildId ? 'none' : value);
    else if (value !== undefined) inputs.set(option, value);
  }
  for (const [option, value] of inputs) if (value === writeChoice(option, before)) inputs.delete(option);
  return inputs;
}

const EDIT = 'subscription.panel';
const FORM_NAMES = Object.keys(FORMS) as FormName[];

export function panelRow({ id, network }: Subscription, { t, settings }: Context): ButtonRow {
  const offered = FORM_NAMES.filter((name) => name !== 'balance' || settings.hasPrices || hasNode(settings, network));
  return row(...offered.map((name) => button(t(`subscription.panel.${name}`), `subscription:${name}:${id}`)));
}

export async function stateWith(subscription: Subscription, tokens: TokenBook, context: Context) {
  const warning = await coverageWarning([subscription], () => String(subscription.id), context);
  const address = addressLine(subscription, context);
  return {
    lines: [address, ...(warning?.lines ?? []), ...summary(subscription, context, tokens)],
    fix: rows(warning?.buttons ?? []),
    isCovered: warning === null,
  };
}

export async function panel(subscription: Subscription, context: Context, title?: string): Promise<Reply> {
  const { t } = context;
  const tokens = await tokenBook(context);
  const { lines, fix, isCovered } = await stateWith(subscription, tokens, context);
  const tone = title ? 'good' : 'info';
  const shown = title ?? t('subscription.panel.title', { name: nameOf(subscription) });
  return embedReply(isCovered ? tone : 'warn', shown, lines, {
    footer: { text: t('subscription.add.footer', { id: subscription.id }) },
    components: [panelRow(subscription, context), ...fix],
  });
}

const opening = (name: FormName): FormOpener<Context> => ({
  form: async (_, [id], context) => formOf(name, await seenOne(id, context), context),
});

const submitting = (name: FormName): Form<Context> => ({
  response: 'update',
  async submit(interaction, [id], context) {
    const { t } = context;
    const before = await seenOne(id, context);
    const inputs = readForm(name, interaction, before);
    const called = (option: string) => labelOf(option, t);
    const reading = { ...(await readingOf(before.network, context)), called };
    const chosen = readChoices((option) => inputs.get(option), before, reading);
    const change = onlyChanged(before, chosen);
    if (Object.keys(change).length === 0) return panel(before, context, t('subscription.edit.same'));
    const after = { ...before, ...chosen };
    const entry = await ask(context, EDIT, { id: before.id, change });
    const lines = [
      addressLine(before, context),
      ...summary(after, context, reading.tokens),
      ...(await noTokenLines({ ...change, network: after.network }, context)),
      t('subscription.panel.changes', { options: differing(before, after).map(called).join(' · ') }),
    ];
    return question(
      t('subscription.panel.ask', { name: nameOf(before) }),
      lines,
      [t('subscription.panel.save'), `subscription:save:${entry}`],
      [t('subscription.panel.cancel'), `subscription:revert:${entry}`],
      { tone: 'warn', fields: [await dryRunField(after, context)] },
    );
  },
});

export const panelButtons: Record<string, Button<Context> | FormOpener<Context>> = {
  ...Object.fromEntries(FORM_NAMES.map((name) => [name, opening(name)])),
  save: {
    async press(_, [entry], context) {
      const { id, change } = await takeConfirmation(context, EDIT, entry);
      const after = await save(context, await seenOne(id, context), change, 'subscription.edit');
      return panel(after, context, context.t('subscription.edit.title', { name: nameOf(after) }));
    },
  },
  revert: {
    async press(_, [entry], context) {
      const { id } = await takeConfirmation(context, EDIT, entry);
      return panel(await seenOne(id, context), context, context.t('subscription.edit.same'));
    },
  },
};

export const panelForms: Record<string, Form<Context>> = Object.fromEntries(
  FORM_NAMES.map((name) => [name, submitting(name)]),
);
