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
  /** The guild's settings when the interaction arrived. */
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
  /** Whether the person may configure the bot here. */
  manages: boolean;
  /** The language of `t`. */
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

/**
 * What happens when a button is pressed. Its custom ID is `command:action:arg:…`, so it still works after a restart;
 * the arguments carry no authority. `update` replaces the message (or replies in private when the message is somebody
 * else's), `reply` replies in private.
 */
export interface Button<Context = InteractionContext> {
  access: Access;
  response: 'update' | 'reply';
  /** As in {@link Command}. */
  anywhere?: true;
  press: (interaction: ButtonUse, args: string[], context: Context) => Promise<Reply>;
}

/** What a select menu does. Its custom ID has a button's form; the chosen `values` carry no authority. */
export interface Menu<Context = InteractionContext> {
  access: Access;
  response: 'update' | 'reply';
  choose: (interaction: MenuUse, args: string[], values: string[], context: Context) => Promise<Reply>;
}

/** A select menu that opens a form instead of replying. Must be quick: nothing is deferred. */
export interface FormMenu<Context = InteractionContext> {
  access: Access;
  form: (
    interaction: MenuUse,
    args: string[],
    values: string[],
    context: Context,
  ) => Promise<APIModalInteractionResponseCallbackData>;
}

/** A button that opens a form instead of replying. Must be quick: nothing is deferred. */
export interface FormButton<Context = InteractionContext> {
  access: Access;
  form: (interaction: ButtonUse, args: string[], context: Context) => Promise<APIModalInteractionResponseCallbackData>;
}

/**
 * A form, shown by a command's `opens`, or a menu's or button's `form`. Its custom ID has a button's form. `update`
 * replaces the person's own message that the form was opened from; otherwise the reply is private.
 */
export interface Form<Context = InteractionContext> {
  access: Access;
  response?: 'update';
  submit: (interaction: FormUse, args: string[], context: Context) => Promise<Reply>;
}

/** One slash command: its definition and what it does. `Context` names what it needs to see. */
export interface Command<Context = InteractionContext> {
  data: { name: string; toJSON(): RESTPostAPIChatInputApplicationCommandsJSONBody };
  /** For the whole command, or by subcommand; a subcommand that is not named needs `manage`. */
  access: Access | Record<string, Access>;
  /** true: the reply is public, except a refusal; default: only the person who ran the command sees it. */
  public?: boolean;
  /** It also works where the bot is not a member; there `context.isOutside` is true. */
  anywhere?: true;
  /** Throws a {@link UserError} whose message is shown; any other error is logged and a fixed sentence is shown. */
  execute: (interaction: CommandUse, context: Context) => Promise<Reply>;
  autocomplete?: (interaction: AutocompleteUse, context: Context) => Promise<Choice[]>;
  /** By subcommand: the form that it opens instead of being executed. Must be quick: nothing is deferred. */
  opens?: Record<
    string,
    (interaction: CommandUse, context: Context) => Promise<APIModalInteractionResponseCallbackData>
  >;
  buttons?: Record<string, Button<Context> | FormButton<Context>>;
  menus?: Record<string, Menu<Context> | FormMenu<Context>>;
  forms?: Record<string, Form<Context>>;
}

/** One command of a message's context menu; its reply is always private. */
export interface MessageCommand<Context = InteractionContext> {
  kind: 'message';
  data: { name: string; toJSON(): RESTPostAPIContextMenuApplicationCommandsJSONBody };
  access: Access;
  execute: (interaction: MessageUse, context: Context) => Promise<Reply>;
  buttons?: Record<string, Button<Context>>;
  menus?: Record<string, Menu<Context>>;
}

/** Anything that the bot registers at Discord. */
export type AnyCommand<Context = InteractionContext> = Command<Context> | MessageCommand<Context>;
