import {
  type APIModalInteractionResponseCallbackData,
  ComponentType,
  SelectMenuDefaultValueType,
  TextInputStyle,
} from 'discord.js';
import type { Form, FormOpener, FormUse, Reply } from '../../src/discord/command.ts';
import type { Choices, Subscription } from '../../src/domain/subscription.ts';
import { type ButtonRow, button, row, rows } from '../shared/components.ts';
import { nameOf } from '../shared/names.ts';
import { hasNode } from '../shared/networks.ts';
import { coverageWarning } from '../shared/next-step.ts';
import { embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { noTokenLines, type TokenBook, tokenBook } from '../shared/tokens.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import type { Reading } from './field-values.ts';
import { choiceName, FIELDS, type Field, FLAGS, labelOf, MAX_LIST, readChoices, writeChoice } from './fields.ts';
import { seenOne } from './find.ts';
import { readingOf } from './options.ts';
import { onlyChanged, save } from './save.ts';

type Part = APIModalInteractionResponseCallbackData['components'][number];
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

function formOf(
  name: FormName,
  choices: Choices & Pick<Subscription, 'id' | 'network'>,
  context: Context,
): APIModalInteractionResponseCallbackData {
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

export async function panel(subscription: Subscription, context: Context): Promise<Reply> {
  const tokens = await tokenBook(context);
  const { lines, fix, isCovered } = await stateWith(subscription, tokens, context);
  const title = context.t('subscription.panel.title', { name: nameOf(subscription) });
  return embedReply(isCovered ? 'info' : 'warn', title, lines, {
    footer: { text: context.t('subscription.add.footer', { id: subscription.id }) },
    components: [panelRow(subscription, context), ...fix],
  });
}

/** The reply has the panel, and what these choices would have posted. */
export async function saveChoices(
  before: Subscription,
  wanted: Choices & Pick<Subscription, 'network' | 'channelId'>,
  { tokens }: Reading,
  context: Context,
  note: string | null = null,
): Promise<Reply> {
  const { t } = context;
  const fields = [await dryRunField({ ...before, ...wanted }, context)];
  const change = onlyChanged(before, wanted);
  const isSame = Object.keys(change).length === 0;
  const after = isSame ? before : await save(context, before, change, 'subscription.edit');
  if (after.label !== before.label) await context.relabel(after.guildId, [after.address]);
  const state = await stateWith(after, tokens, context);
  const lines = [...state.lines, note, ...(await noTokenLines({ ...change, network: after.network }, context))];
  const tone = state.isCovered ? 'good' : 'warn';
  const title = isSame ? t('subscription.edit.same') : t('subscription.edit.title', { name: nameOf(after) });
  return embedReply(isSame ? 'info' : tone, title, lines, {
    fields,
    components: [panelRow(after, context), ...state.fix],
  });
}

const opening = (name: FormName): FormOpener<Context> => ({
  form: async (_, [id], context) => {
    const found = await seenOne(id, context);
    return formOf(name, found, context);
  },
});

const submitting = (name: FormName): Form<Context> => ({
  response: 'update',
  async submit(interaction, [id], context) {
    const before = await seenOne(id, context);
    const inputs = readForm(name, interaction, before);
    const called = (option: string) => labelOf(option, context.t);
    const reading = { ...(await readingOf(before.network, context)), called };
    return saveChoices(
      before,
      readChoices((option) => inputs.get(option), before, reading),
      reading,
      context,
    );
  },
});

export const panelButtons: Record<string, FormOpener<Context>> = Object.fromEntries(
  FORM_NAMES.map((name) => [name, opening(name)]),
);

export const panelForms: Record<string, Form<Context>> = Object.fromEntries(
  FORM_NAMES.map((name) => [name, submitting(name)]),
);
