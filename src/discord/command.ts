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

/** What the dispatcher determines about an interaction before it runs a command. */
export interface InteractionContext {
  /** While somebody types, an {@link AutocompleteUse}, which gets no reply. */
  interaction: Use & { channelId: string };
  guildId: string;
  server: GuildSettings;
  /** In the person's language for private replies, in the guild's for public ones. */
  t: Translate;
  /** Always in the person's language: refusals are private. */
  own: Translate;
  /**
   * The bot is used where it is not a member: in a direct message, or in a guild in which only the person has the app.
   * The command may then read nothing of a guild.
   */
  isOutside: boolean;
  manages: boolean;
  language: Language;
}

/** Who may use it: everybody, or Manage Server and the guild's manager role. */
export type Access = 'all' | 'manage';

/** A reply. Parts that are left out are empty. */
export interface Reply {
  content?: string;
  embeds?: APIEmbed[];
  components?: APIActionRowComponent<APIButtonComponent | APIStringSelectComponent>[];
  files?: { name: string; data: Buffer | string }[];
}

/** An autocomplete choice. The dispatcher cuts it to Discord's limits. */
export interface Choice {
  name: string;
  value: string;
}

/** The interactions that commands get: in a guild, unless the command works `anywhere` and the context is outside. */
export type CommandUse = ChatInputCommandInteraction<'cached' | 'raw'>;
export type AutocompleteUse = AutocompleteInteraction<'cached' | 'raw'>;
export type ButtonUse = ButtonInteraction<'cached' | 'raw'>;
export type MenuUse = StringSelectMenuInteraction<'cached' | 'raw'>;
export type FormUse = ModalSubmitInteraction<'cached' | 'raw'>;
export type MessageUse = MessageContextMenuCommandInteraction<'cached' | 'raw'>;

/** Any of them that gets a reply. */
export type Use = CommandUse | MessageUse | ButtonUse | MenuUse | FormUse;

export type FormData = APIModalInteractionResponseCallbackData;

interface Component {
  /** Default: people who may configure the bot. */
  access?: 'all';
}

/**
 * A button. Its custom ID is `command:action:arg:…`, so it still works after a restart; the arguments carry no
 * authority. It replaces the message (or replies in private when the message is somebody else's), or with `reply` it
 * always replies in private.
 */
export interface Button<Context = InteractionContext> extends Component {
  response?: 'reply';
  /** As in {@link Command}. */
  anywhere?: true;
  press: (interaction: ButtonUse, args: string[], context: Context) => Promise<Reply>;
}

/** A select menu. Its custom ID has a button's form; the chosen `values` carry no authority. */
export interface Menu<Context = InteractionContext> extends Component {
  response?: 'reply';
  choose: (interaction: MenuUse, args: string[], context: Context, values: string[]) => Promise<Reply>;
}

/** A button or select menu that opens a form instead of replying. Must be quick: nothing is deferred. */
export interface FormOpener<Context = InteractionContext> extends Component {
  /** `values`: a menu's; empty for a button. */
  form: (interaction: ButtonUse | MenuUse, args: string[], context: Context, values: string[]) => Promise<FormData>;
}

/**
 * A form, shown by a command's `opens`, or a menu's or button's `form`. Its custom ID has a button's form. `update`
 * replaces the person's own message that the form was opened from; otherwise the reply is private.
 */
export interface Form<Context = InteractionContext> extends Component {
  response?: 'update';
  /** The fields that are not kept for the button that opens the refused form again. */
  secrets?: readonly string[];
  submit: (interaction: FormUse, args: string[], context: Context) => Promise<Reply>;
}

/** One slash command: its definition and what it does. `Context` names what it needs to see. */
export interface Command<Context = InteractionContext> {
  data: RESTPostAPIChatInputApplicationCommandsJSONBody;
  /** For the whole command, or by subcommand; a subcommand that is not named needs `manage`. */
  access: Access | Record<string, Access>;
  /** Its heading in `/help`, which lists it only if it has one. */
  section?: 'watch' | 'understand' | 'lookUp' | 'service' | 'server';
  /** true: the reply is public, except a refusal; default: only the person who ran the command sees it. */
  public?: boolean;
  /** It also works where the bot is not a member; there `context.isOutside` is true. */
  anywhere?: true;
  /** Throws a {@link UserError} whose message is shown; any other error is logged and a fixed sentence is shown. */
  execute: (interaction: CommandUse, context: Context) => Promise<Reply>;
  autocomplete?: (interaction: AutocompleteUse, context: Context) => Promise<Choice[]>;
  /** By subcommand: the form that it opens instead of being executed. Must be quick: nothing is deferred. */
  opens?: Record<string, (interaction: CommandUse, context: Context) => Promise<FormData>>;
  buttons?: Record<string, Button<Context> | FormOpener<Context>>;
  menus?: Record<string, Menu<Context> | FormOpener<Context>>;
  forms?: Record<string, Form<Context>>;
}

/** One command of a message's context menu; its reply is always private. */
export interface MessageCommand<Context = InteractionContext> {
  kind: 'message';
  data: RESTPostAPIContextMenuApplicationCommandsJSONBody;
  access: Access;
  execute: (interaction: MessageUse, context: Context) => Promise<Reply>;
  buttons?: Record<string, Button<Context>>;
  menus?: Record<string, Menu<Context>>;
}

/** Anything that the bot registers at Discord. */
export type AnyCommand<Context = InteractionContext> = Command<Context> | MessageCommand<Context>;

/** Discord's limits for one message; lengths in characters. */

export const MAX_CONTENT = 2_000;
export const MAX_EMBEDS = 10;
export const MAX_FIELDS = 25;
export const MAX_TITLE = 256;
export const MAX_DESCRIPTION = 4_096;
export const MAX_FIELD = 1_024;
