import type {
  APIActionRowComponent,
  APIButtonComponent,
  APIEmbed,
  APIModalInteractionResponseCallbackData,
  APIStringSelectComponent,
  AutocompleteInteraction,
  ButtonInteraction,
  ChatInputCommandInteraction,
  MessageContextMenuCommandInteraction,
  ModalSubmitInteraction,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
  RESTPostAPIContextMenuApplicationCommandsJSONBody,
  StringSelectMenuInteraction,
} from 'discord.js';
import type { GuildSettings } from '../domain/guild.ts';
import type { Language, Translate } from '../languages/index.ts';

export interface InteractionContext {
  /** An {@link AutocompleteUse} while somebody types; that gets no reply. */
  interaction: Use & { channelId: string };
  guildId: string;
  server: GuildSettings;
  /** In the person's language for private replies, in the guild's for public ones. */
  t: Translate;
  /** Always in the person's language: refusals are private. */
  own: Translate;
  /**
   * The bot is no member here: a direct message, or a guild in which only the person has the app. Then no data of a
   * guild may be read.
   */
  isOutside: boolean;
  manages: boolean;
  language: Language;
}

/** `manage`: Manage Server, or the guild's manager role. */
export type Access = 'all' | 'manage';

/** Parts that are left out are empty. */
export interface Reply {
  content?: string;
  embeds?: APIEmbed[];
  components?: APIActionRowComponent<APIButtonComponent | APIStringSelectComponent>[];
  files?: { name: string; data: Buffer | string }[];
}

/** The dispatcher cuts both to Discord's limits. */
export interface Choice {
  name: string;
  value: string;
}

/** In a guild, unless the command works `anywhere` and the context is outside. */
export type CommandUse = ChatInputCommandInteraction<'cached' | 'raw'>;
export type AutocompleteUse = AutocompleteInteraction<'cached' | 'raw'>;
export type ButtonUse = ButtonInteraction<'cached' | 'raw'>;
export type MenuUse = StringSelectMenuInteraction<'cached' | 'raw'>;
export type FormUse = ModalSubmitInteraction<'cached' | 'raw'>;
export type MessageUse = MessageContextMenuCommandInteraction<'cached' | 'raw'>;

export type Use = CommandUse | MessageUse | ButtonUse | MenuUse | FormUse;

export type FormData = APIModalInteractionResponseCallbackData;

interface Component {
  /** Default: people who may configure the bot. */
  access?: 'all';
}

/**
 * Its custom ID is `command:action:arg:…`, so it still works after a restart; the arguments carry no authority. It
 * replaces the message, or replies in private where that is somebody else's or `response` says so.
 */
export interface Button<Context = InteractionContext> extends Component {
  response?: 'reply';
  anywhere?: true;
  press: (interaction: ButtonUse, args: string[], context: Context) => Promise<Reply>;
}

/** Its custom ID has a button's form; the chosen `values` carry no authority. */
export interface Menu<Context = InteractionContext> extends Component {
  response?: 'reply';
  choose: (interaction: MenuUse, args: string[], context: Context, values: string[]) => Promise<Reply>;
}

/** Opens a form instead of replying. Must be quick: nothing is deferred. */
export interface FormOpener<Context = InteractionContext> extends Component {
  form: (interaction: ButtonUse | MenuUse, args: string[], context: Context, values: string[]) => Promise<FormData>;
}

/**
 * Its custom ID has a button's form. `update` replaces the person's own message that the form was opened from;
 * otherwise the reply is private.
 */
export interface Form<Context = InteractionContext> extends Component {
  response?: 'update';
  /** Fields that are not kept when the refused form is opened again. */
  secrets?: readonly string[];
  submit: (interaction: FormUse, args: string[], context: Context) => Promise<Reply>;
}

export interface Command<Context = InteractionContext> {
  data: RESTPostAPIChatInputApplicationCommandsJSONBody;
  /** A subcommand that is not named needs `manage`. */
  access: Access | Record<string, Access>;
  /** Its heading in `/help`; without one, `/help` does not list it. */
  section?: 'watch' | 'understand' | 'lookUp' | 'service' | 'server';
  /** Except a refusal, which only the person sees. */
  public?: boolean;
  /** `context.isOutside` is true where the bot is no member. */
  anywhere?: true;
  /** The message of a thrown {@link UserError} is shown. */
  execute: (interaction: CommandUse, context: Context) => Promise<Reply>;
  autocomplete?: (interaction: AutocompleteUse, context: Context) => Promise<Choice[]>;
  /** By subcommand: the form that it opens instead of being executed. Must be quick: nothing is deferred. */
  opens?: Record<string, (interaction: CommandUse, context: Context) => Promise<FormData>>;
  buttons?: Record<string, Button<Context> | FormOpener<Context>>;
  menus?: Record<string, Menu<Context> | FormOpener<Context>>;
  forms?: Record<string, Form<Context>>;
}

/** Its reply is always private. */
export interface MessageCommand<Context = InteractionContext> {
  kind: 'message';
  data: RESTPostAPIContextMenuApplicationCommandsJSONBody;
  access: Access;
  execute: (interaction: MessageUse, context: Context) => Promise<Reply>;
  buttons?: Record<string, Button<Context>>;
  menus?: Record<string, Menu<Context>>;
}

export type AnyCommand<Context = InteractionContext> = Command<Context> | MessageCommand<Context>;

/** Discord's limits for one message, in characters. */

export const MAX_CONTENT = 2_000;
export const MAX_EMBEDS = 10;
export const MAX_FIELDS = 25;
export const MAX_TITLE = 256;
export const MAX_DESCRIPTION = 4_096;
export const MAX_FIELD = 1_024;
