import {
  type APIModalInteractionResponseCallbackData,
  ComponentType,
  SelectMenuDefaultValueType,
  TextInputStyle,
} from 'discord.js';
import type { FormUse } from '../../src/discord/command.ts';
import type { Choices, Subscription } from '../../src/domain/subscription.ts';
import { hasNode } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';
import { choiceName, FIELDS, type Field, type Flag, type Labeled, MAX_LIST, writeChoice } from './fields.ts';

type Part = APIModalInteractionResponseCallbackData['components'][number];
type Input = Extract<Part, { type: ComponentType.Label }>['component'];

/** One field of a form for several switches. */
const INCLUDE = { option: 'include', kind: 'flags', flags: ['internal', 'zero', 'self', 'cataloged'] } as const;
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

export const labelOf = (option: string, t: Context['t']): string =>
  INCLUDE.flags.some((flag) => flag === option)
    ? t(`subscription.form.flags.${option as Flag}`)
    : t(`subscription.form.${option as Labeled}`);

export function formOf(
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
    case 'choice': {
      const options = control.choices!.map(({ value }) => ({
        label: choiceName(control, value, language),
        value,
        default: value === (now || 'default'),
      }));
      return { type: ComponentType.StringSelect, custom_id, options };
    }
    case 'flag': {
      const options = (['no', 'yes'] as const).map((value) => ({
        label: t(`token.${value}`),
        value,
        default: value === now,
      }));
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

/** The texts of the changed fields, by option. */
export function readForm(form: FormName, { fields, guildId }: FormUse, before: Choices): Map<string, string> {
  const inputs = new Map<string, string>();
  for (const { option, kind } of FORMS[form] as readonly Control[]) {
    const field = fields.fields.get(option);
    if (!field) continue;
    const values = 'values' in field ? [...field.values] : [];
    const [value] = values;
    if (kind === 'flags') for (const flag of INCLUDE.flags) inputs.set(flag, values.includes(flag) ? 'yes' : 'no');
    else if ('value' in field) inputs.set(option, (field.value as string).trim());
    // In Discord @everyone is a selectable role. Here it means "none".
    else if (kind === 'role') inputs.set(option, value === undefined || value === guildId ? 'none' : value);
    else if (value !== undefined) inputs.set(option, value);
  }
  for (const [option, value] of inputs) if (value === writeChoice(option, before)) inputs.delete(option);
  return inputs;
}
