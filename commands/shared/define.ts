import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOptionChoice,
  type APIApplicationCommandStringOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  type ChannelType,
} from 'discord.js';
import type { Command, CommandUse, FormData, Reply } from '../../src/discord/command.ts';
import { TARGET_TYPES } from './channels.ts';
import type { Context } from './services.ts';

type Option = APIApplicationCommandBasicOption;
type Definition = Command['data'];
type TextLimits = Pick<APIApplicationCommandStringOption, 'required' | 'max_length'> & { autocomplete?: boolean };

/** Without default permissions: Discord would hide the command from the manager role. Access is checked at use. */
export function define(name: string, description: string, options: Definition['options'] = []): Definition {
  return { type: ApplicationCommandType.ChatInput, name, description, options };
}

interface Subcommand {
  description: string;
  options?: Option[];
  /** Default: people who may configure the bot. */
  access?: 'all';
  execute?: (interaction: CommandUse, context: Context) => Promise<Reply>;
  opens?: (interaction: CommandUse, context: Context) => Promise<FormData>;
}

export function withSubcommands(
  name: string,
  description: string,
  subcommands: Record<string, Subcommand>,
): Required<Pick<Command<Context>, 'data' | 'access' | 'execute' | 'opens'>> {
  const all = Object.entries(subcommands);
  const options = all.map(([sub, { description, options = [] }]) => ({
    type: ApplicationCommandOptionType.Subcommand as const,
    name: sub,
    description,
    options,
  }));
  return {
    data: define(name, description, options),
    access: Object.fromEntries(all.flatMap(([sub, { access }]) => (access ? [[sub, access]] : []))),
    opens: Object.fromEntries(all.flatMap(([sub, { opens }]) => (opens ? [[sub, opens]] : []))),
    async execute(interaction, context) {
      const sub = interaction.options.getSubcommand();
      const execute = subcommands[sub]?.execute;
      if (!execute) throw new Error(`no subcommand ${sub}`);
      return execute(interaction, context);
    },
  };
}

const option = (type: Option['type'], name: string, description: string, limits: object): Option =>
  ({ type, name, description, ...limits }) as Option;

export const text = (name: string, description: string, limits: TextLimits = {}): Option =>
  option(ApplicationCommandOptionType.String, name, description, limits);

/** A required text with suggestions, long enough for a pasted link. */
export const lookedUp = (name: string, description: string): Option =>
  text(name, description, { required: true, autocomplete: true, max_length: 300 });

/** Values that are their own English names. */
export const same = <Value extends string>(...values: Value[]): APIApplicationCommandOptionChoice<Value>[] =>
  values.map((value) => ({ name: value, value }));

export const choice = (
  name: string,
  description: string,
  choices: APIApplicationCommandOptionChoice<string>[],
  required = false,
): Option => option(ApplicationCommandOptionType.String, name, description, { choices, required });

export const flag = (name: string, description: string): Option =>
  option(ApplicationCommandOptionType.Boolean, name, description, {});

export const integer = (name: string, description: string, min_value: number, max_value: number): Option =>
  option(ApplicationCommandOptionType.Integer, name, description, { min_value, max_value });

export const role = (name: string, description: string): Option =>
  option(ApplicationCommandOptionType.Role, name, description, {});

export const channel = (name: string, description: string, types: readonly ChannelType[] = TARGET_TYPES): Option =>
  option(ApplicationCommandOptionType.Channel, name, description, { channel_types: [...types] });

export const attachment = (name: string, description: string): Option =>
  option(ApplicationCommandOptionType.Attachment, name, description, { required: true });
