import { randomBytes } from 'node:crypto';
import {
  type APIButtonComponent,
  type APILabelComponent,
  type BaseInteraction,
  ButtonStyle,
  type CommandInteractionOption,
  CommandInteractionOptionResolver,
  ComponentType,
  MessageFlags,
  PermissionFlagsBits,
  type RepliableInteraction,
  SelectMenuDefaultValueType,
} from 'discord.js';
import type { GuildSettings } from '../domain/guild.ts';
import type { OtherText } from '../errors.ts';
import { languageOf, translator } from '../languages/index.ts';
import type {
  Access,
  AutocompleteUse,
  ButtonUse,
  Command,
  CommandUse,
  FormData,
  FormUse,
  Reply,
  Use,
} from './command.ts';

export async function replyWith(
  interaction: RepliableInteraction,
  key: 'dispatcher.serverOnly' | 'dispatcher.unknownCommand' | 'dispatcher.oldButton',
): Promise<void> {
  const content = translator(languageOf(interaction.locale, interaction.guildLocale))(key);
  await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

/** Parts that the reply leaves out are emptied. */
export function whole({ content, embeds = [], components = [], files = [] }: Reply) {
  const attached = files.map(({ name, data }) => ({ name, attachment: Buffer.from(data) }));
  return { content: content ?? '', embeds, components, ...(attached.length > 0 ? { files: attached } : {}) };
}

export const inPrivate = (reply: Reply) => ({ ...whole(reply), flags: MessageFlags.Ephemeral }) as const;

type Control = APILabelComponent['component'];

type Again<Result> = { form: FormData } | { work: (button: ButtonUse) => Promise<Result> };

/** Of all people together; the oldest is forgotten first. */
const MAX_KEPT = 1_000;
export const AGAIN = 'again';

/** In memory only: after a restart a button says that it is too old. */
export function createRefusals<Result>() {
  const opened = new Map<string, FormData>();
  const kept = new Map<string, Again<Result>>();

  function keep<T>(all: Map<string, T>, key: string, value: T): void {
    all.delete(key);
    all.set(key, value);
    if (all.size > MAX_KEPT) all.delete(all.keys().next().value!);
  }

  function button(label: string, style: ButtonStyle.Primary | ButtonStyle.Secondary, again: Again<Result>) {
    const key = randomBytes(8).toString('hex');
    keep(kept, key, again);
    return { type: ComponentType.Button, style, label, custom_id: `${AGAIN}:${key}` } as APIButtonComponent;
  }

  return {
    opened: (userId: string, form: FormData): void => keep(opened, `${userId} ${form.custom_id}`, form),
    readings: (
      texts: readonly OtherText[],
      work: (button: ButtonUse, other: OtherText) => Promise<Result>,
    ): APIButtonComponent[] =>
      texts.map((other) => button(other.label, ButtonStyle.Primary, { work: (pressed) => work(pressed, other) })),
    /** Opens the form as it was filled in, except for its `secrets`; empty: the form is forgotten. */
    form({ user, customId, fields }: FormUse, secrets: readonly string[], label: string): APIButtonComponent[] {
      const form = opened.get(`${user.id} ${customId}`);
      return form ? [button(label, ButtonStyle.Secondary, { form: filled(form, fields, secrets) })] : [];
    },
    /** Only the person whom it is for sees the button, so nobody else can press it. */
    find: (key: string): Again<Result> | undefined => kept.get(key),
  };
}

export const withButtons = (reply: Reply, buttons: APIButtonComponent[]): Reply =>
  buttons.length === 0 ? reply : { ...reply, components: [{ type: ComponentType.ActionRow, components: buttons }] };

/** A command with another text for one option; the reply goes to the button. */
export function retyped({ client, options, commandName }: CommandUse, button: ButtonUse, other: OtherText): CommandUse {
  const changed = (option: CommandInteractionOption): CommandInteractionOption => ({
    ...option,
    ...(option.name === other.option && { value: other.text }),
    ...(option.options && { options: option.options.map(changed) }),
  });
  const Resolver = CommandInteractionOptionResolver as unknown as new (...given: unknown[]) => typeof options;
  const resolver = new Resolver(client, options.data.map(changed), options.resolved);
  return Object.create(button, { options: { value: resolver }, commandName: { value: commandName } }) as CommandUse;
}

export function refilled({ fields, customId }: FormUse, button: ButtonUse, { option, text }: OtherText): FormUse {
  const all = fields.fields.mapValues((field) => (field.customId === option ? { ...field, value: text } : field));
  const changed = Object.assign(Object.create(fields), { fields: all });
  return Object.create(button, { fields: { value: changed }, customId: { value: customId } }) as FormUse;
}

function filled(form: FormData, { fields }: FormUse['fields'], secrets: readonly string[]): FormData {
  const components = form.components.map((part) => {
    if (part.type !== ComponentType.Label) return part;
    const { custom_id } = part.component as { custom_id: string };
    const field = secrets.includes(custom_id) ? undefined : fields.get(custom_id);
    if (!field) return part;
    const values = 'values' in field ? [...field.values] : [];
    return { ...part, component: withValues(part.component, 'value' in field ? String(field.value) : '', values) };
  });
  return { ...form, components };
}

function withValues(control: Control, text: string, values: readonly string[]): Control {
  switch (control.type) {
    case ComponentType.TextInput: {
      const { value: _, ...empty } = control;
      return text === '' ? empty : { ...empty, value: text };
    }
    case ComponentType.StringSelect:
      return {
        ...control,
        options: control.options.map((option) => ({ ...option, default: values.includes(option.value) })),
      };
    case ComponentType.RoleSelect:
      return { ...control, default_values: values.map((id) => ({ id, type: SelectMenuDefaultValueType.Role })) };
    default:
      return control;
  }
}

/** Discord lists who installed the app: if it is not this guild, the bot is no member. */
export function installedHere({ authorizingIntegrationOwners }: BaseInteraction): boolean {
  const { guildId, userId } = authorizingIntegrationOwners;
  return userId === null || guildId !== null;
}

export const isHere = (interaction: BaseInteraction): boolean => interaction.inGuild() && installedHere(interaction);

/** Administrators and the owner have Manage Server. */
export function mayManage(interaction: Use | AutocompleteUse, { managerRole }: GuildSettings): boolean {
  // Discord always sends these; stand-ins may not.
  if (interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  if (managerRole === null || managerRole === interaction.guildId) return false;
  // The roles as Discord sent them: the library hides roles that it has not received yet after a start.
  const { roles, _roles = roles } = interaction.member as { roles: unknown; _roles?: unknown };
  return Array.isArray(_roles) && _roles.includes(managerRole);
}

export function accessOf({ access }: Pick<Command, 'access'>, interaction: CommandUse | AutocompleteUse): Access {
  if (typeof access === 'string') return access;
  return access[interaction.options.getSubcommand(false) ?? ''] ?? 'manage';
}
