import {
  type APIModalInteractionResponseCallbackData,
  type APISelectMenuOption,
  ComponentType,
  SelectMenuDefaultValueType,
  TextInputStyle,
} from 'discord.js';
import type { FormUse } from '../../src/discord/command.ts';
import type { Choices, Subscription } from '../../src/domain/subscription.ts';
import type { English } from '../../src/languages/english.ts';
import type { Language } from '../../src/languages/index.ts';
import { hasNode } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';
import { writeChoice } from './fields.ts';
import { CHOICES_OF, choiceName } from './options.ts';

type Part = APIModalInteractionResponseCallbackData['components'][number];
type Input = Extract<Part, { type: ComponentType.Label }>['component'];
/** An option that has a label in a form. */
type Labeled = Exclude<keyof English['subscription']['form'], 'long' | 'flags'>;
type Flag = 'cataloged' | 'internal' | 'zero' | 'self';

/** One field of a form, for one option or for several switches. */
type Control =
  | { kind: 'text'; option: Labeled; example: string; max: number }
  | { kind: 'choice'; option: 'direction' | 'kind' | 'digest' | 'style' | 'silence' | 'hold-all' | 'balance' }
  | { kind: 'role'; option: 'mention' }
  | { kind: 'flags'; option: 'include'; flags: readonly Flag[] };

/** Maximum characters of a list: Discord's limit of a text field. */
const MAX_LIST = 4_000;

const text = (option: Labeled, example: string, max: number) => ({ kind: 'text', option, example, max }) as const;

/** The forms of the panel, each with at most five fields, Discord's limit. */
export const FORMS = {
  filters: [
    { kind: 'choice', option: 'direction' },
    { kind: 'choice', option: 'kind' },
    text('minimum', '250', 60),
    text('token', 'USDC', 300),
    { kind: 'flags', option: 'include', flags: ['internal', 'zero', 'self', 'cataloged'] },
  ],
  lists: [
    text('minimums', 'USDC=100, ETH=0.5', MAX_LIST),
    text('tokens', 'USDC, native', MAX_LIST),
    text('exclude-tokens', 'SPAM, 0x…', MAX_LIST),
    text('counterparties', '0x…', MAX_LIST),
    text('exclude-counterparties', '0x…', MAX_LIST),
  ],
  pings: [{ kind: 'role', option: 'mention' }, text('mention-minimum', '1000', 60), text('mention-cooldown', '5', 5)],
  schedule: [
    { kind: 'choice', option: 'digest' },
    text('quiet', '22:00-07:00', 20),
    { kind: 'choice', option: 'hold-all' },
    { kind: 'choice', option: 'silence' },
    { kind: 'choice', option: 'style' },
  ],
  balance: [
    text('minimum-usd', '100', 60),
    text('mention-minimum-usd', '10000', 60),
    { kind: 'choice', option: 'balance' },
    text('warn-below', '100 USDC', 300),
  ],
} as const satisfies Record<string, readonly Control[]>;

export type FormName = keyof typeof FORMS;

const FLAGS: readonly string[] = FORMS.filters.flatMap((control) => (control.kind === 'flags' ? control.flags : []));

/** What a form calls an option. */
export const labelOf = (option: string, t: Context['t']): string =>
  FLAGS.includes(option) ? t(`subscription.form.flags.${option as Flag}`) : t(`subscription.form.${option as Labeled}`);

/** A form with the current choices. */
export function formOf(
  name: FormName,
  choices: Choices & Pick<Subscription, 'id' | 'network'>,
  { t, language, settings }: Context,
): APIModalInteractionResponseCallbackData {
  const isOffered = ({ option }: Control) =>
    option.endsWith('-usd')
      ? settings.hasPrices
      : (option !== 'balance' && option !== 'warn-below') || hasNode(settings, choices.network);
  return {
    custom_id: `subscription:${name}:${choices.id}`,
    title: t(`subscription.panel.${name}`),
    components: (FORMS[name] as readonly Control[]).filter(isOffered).map((control): Part => {
      const now = control.kind === 'flags' ? '' : writeChoice(control.option, choices);
      const label = labelOf(control.option, t);
      // A text that is too long for a field is not offered; a file can change it.
      if (now.length > MAX_LIST) {
        return { type: ComponentType.TextDisplay, content: `${label}: ${t('subscription.form.long')}` };
      }
      return { type: ComponentType.Label, label, component: inputOf(control, now, choices, t, language) };
    }),
  };
}

function inputOf(control: Control, now: string, choices: Choices, t: Context['t'], language: Language): Input {
  const { option } = control;
  switch (control.kind) {
    case 'text': {
      return {
        type: ComponentType.TextInput,
        custom_id: option,
        style: control.max === MAX_LIST ? TextInputStyle.Paragraph : TextInputStyle.Short,
        required: false,
        placeholder: control.example,
        max_length: control.max,
        ...(now !== '' && now !== 'off' && { value: now }),
      };
    }
    case 'role': {
      const role = { id: choices.mention ?? '', type: SelectMenuDefaultValueType.Role as const };
      return {
        type: ComponentType.RoleSelect,
        custom_id: option,
        required: false,
        min_values: 0,
        ...(choices.mention !== null && { default_values: [role] }),
      };
    }
    case 'choice': {
      const options = optionsOf(control.option, t, language).map((one) => ({
        ...one,
        default: one.value === (now || 'default'),
      }));
      return { type: ComponentType.StringSelect, custom_id: option, options };
    }
    case 'flags': {
      const options = control.flags.map((flag) => ({
        label: t(`subscription.form.flags.${flag}`),
        value: flag,
        default: choices.filters[flag],
      }));
      return {
        type: ComponentType.StringSelect,
        custom_id: option,
        required: false,
        min_values: 0,
        max_values: options.length,
        options,
      };
    }
  }
}

/** The choices of an option, with their names in the command. */
function optionsOf(option: Extract<Control, { kind: 'choice' }>['option'], t: Context['t'], language: Language) {
  if (option === 'silence' || option === 'hold-all' || option === 'balance') {
    return (['no', 'yes'] as const).map((value): APISelectMenuOption => ({ label: t(`token.${value}`), value }));
  }
  return CHOICES_OF[option].map(({ value }) => ({ label: choiceName(option, value, language), value }));
}

/** The texts of the changed fields, by option. */
export function readForm(name: FormName, { fields, guildId }: FormUse, before: Choices): Map<string, string> {
  const inputs = new Map<string, string>();
  for (const control of FORMS[name] as readonly Control[]) {
    const field = fields.fields.get(control.option);
    if (!field) continue;
    const values = 'values' in field ? [...field.values] : [];
    switch (control.kind) {
      case 'text':
        inputs.set(control.option, 'value' in field ? (field.value as string).trim() : '');
        break;
      case 'choice':
        if (values[0] !== undefined) inputs.set(control.option, values[0]);
        break;
      case 'role':
        // In Discord @everyone is a selectable role. Here it means "none".
        inputs.set(control.option, values[0] === undefined || values[0] === guildId ? 'none' : values[0]);
        break;
      case 'flags':
        for (const flag of control.flags) inputs.set(flag, values.includes(flag) ? 'yes' : 'no');
    }
  }
  for (const [option, value] of inputs) {
    const now = writeChoice(option, before);
    if (value === now || (value === '' && now === 'off') || (value === 'default' && now === '')) inputs.delete(option);
  }
  return inputs;
}
