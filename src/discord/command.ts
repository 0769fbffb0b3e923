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
  RESTPostAPIChannelMessageJSONBody,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
  RESTPostAPIContextMenuApplicationCommandsJSONBody,
  StringSelectMenuInteraction,
} from 'discord.js';
import type { AddressText } from '../domain/address.ts';
import type { ExplorerRoot } from '../domain/explorer.ts';
import type { GuildSettings } from '../domain/guild.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Transfer } from '../domain/transfer.ts';
import type { Language, Translate } from '../languages/index.ts';
import type { ReceiverPaths } from '../receiver/paths.ts';
import type { Store } from '../store/store.ts';
import type { ReadAttachment } from '../upstream/attachment.ts';
import type { Discovery } from '../upstream/discovery.ts';
import type { Explorer } from '../upstream/explorer.ts';
import type { Projects } from '../upstream/projects.ts';
import type { Bars } from './chart.ts';

/** What commands need to know of the configuration. */
export interface CommandSettings extends ExplorerRoot {
  maxSubscriptions: number;
  discoveryUrl: string | undefined;
  publicUrl: string;
  /** How the native coin is written; undefined: as its events say. */
  nativeSymbol: string | undefined;
  operatorGuildIds: readonly string[];
  version: string;
  /** Of the database. */
  schema: number;
}

/** Everything that a command sees besides its interaction. An interface that is off is null. */
export interface CommandContext extends CommandServices {
  /** The guild's settings as they were when the interaction came. */
  server: GuildSettings;
  /** In the person's language for private answers, in the guild's for public ones. */
  t: Translate;
  /** In the person's language always: refusals are private. */
  own: Translate;
  /** Whether the person may configure the bot here. */
  manages: boolean;
  /** The language of `t`. */
  language: Language;
}

/** What is the same for every interaction. */
export interface CommandServices {
  store: Store;
  explorer: Explorer | null;
  discovery: Discovery | null;
  /** Which notification project a guild uses. */
  projects: Projects;
  /** Where the events of a project must be sent; only who may manage the project may see it. */
  receiver: ReceiverPaths;
  settings: CommandSettings;
  /** Milliseconds since 1970. */
  now(): number;
  /** What a transfer moved ("5 `USDC`"), and the name of that alone, safe for Discord. */
  moved(transfer: Transfer, language: Language): string;
  assetName(transfer: Transfer, language: Language): string;
  /** Draws a bar chart as a PNG; rejects when it cannot be drawn here. */
  chart(bars: Bars): Promise<Buffer>;
  /** These addresses are called otherwise in a guild now: so many messages are to say so, which may be the latest only. */
  onRelabeled(guildId: string, addresses: readonly AddressText[]): Promise<{ messages: number; isAll: boolean }>;
  /** Erases everything that is stored about a guild. */
  eraseGuild(guildId: string): Promise<void>;
  /** A line as the subscription would be told in the guild's language, marked as a sample. */
  sample(subscription: Subscription, language: string | null): RESTPostAPIChannelMessageJSONBody;
  /** Reads a file that came with a command. */
  readAttachment: ReadAttachment;
  /** The last delivery since the start that came from an address that is no source: at one scope's URL, or at any. */
  lastRefused(scope: number | 'any'): { source: string | null; at: number } | null;
  /** Whether the receiver answers at its public address. */
  probeReceiver(): Promise<'reachable' | 'unreachable' | 'other'>;
}

/** Who may use it: everybody, or Manage Server and the guild's manager role. */
export type Access = 'all' | 'manage';

/** What is shown; everything left out is empty. */
export interface Reply {
  content?: string;
  embeds?: APIEmbed[];
  components?: APIActionRowComponent<APIButtonComponent | APIStringSelectComponent>[];
  files?: { name: string; data: Buffer | string }[];
}

/** What autocomplete offers; cut to Discord's limits by the dispatcher. */
export interface Choice {
  name: string;
  value: string;
}

/** Interactions as commands get them: always in a guild. */
export type CommandUse = ChatInputCommandInteraction<'cached' | 'raw'>;
export type AutocompleteUse = AutocompleteInteraction<'cached' | 'raw'>;
export type ButtonUse = ButtonInteraction<'cached' | 'raw'>;
export type MenuUse = StringSelectMenuInteraction<'cached' | 'raw'>;
export type FormUse = ModalSubmitInteraction<'cached' | 'raw'>;
export type MessageUse = MessageContextMenuCommandInteraction<'cached' | 'raw'>;

/**
 * A button's work. Its custom id is `command:action:arg:…`, so that it outlives a restart; the arguments carry no
 * authority. `update` replaces the message (or answers somebody else's public one in private), `reply` answers in
 * private.
 */
export interface Button {
  access: Access;
  answer: 'update' | 'reply';
  press(interaction: ButtonUse, args: string[], context: CommandContext): Promise<Reply>;
}

/** A select menu's work; its custom id is made like a button's. `values` are what was chosen and carry no authority. */
export interface Menu {
  access: Access;
  answer: 'update' | 'reply';
  choose(interaction: MenuUse, args: string[], values: string[], context: CommandContext): Promise<Reply>;
}

/** A select menu that opens a form instead of answering. Must be quick: nothing is deferred. */
export interface FormMenu {
  access: Access;
  form(
    interaction: MenuUse,
    args: string[],
    values: string[],
    context: CommandContext,
  ): Promise<APIModalInteractionResponseCallbackData>;
}

/** A form: what it shows comes from a command's `opens` or a menu's `form`; its custom id is made like a button's. Answered in private. */
export interface Form {
  access: Access;
  submit(interaction: FormUse, args: string[], context: CommandContext): Promise<Reply>;
}

/** One slash command: its definition and what it does. */
export interface Command {
  data: { name: string; toJSON(): RESTPostAPIChatInputApplicationCommandsJSONBody };
  /** For the whole command, or by subcommand; a subcommand that is not named needs `manage`. */
  access: Access | Record<string, Access>;
  /** true: the answer is for the channel, save a refusal; default: only for the person who asked. */
  public?: boolean;
  /** Throws a {@link UserError} whose message is shown; anything else is logged and answered with a fixed sentence. */
  execute(interaction: CommandUse, context: CommandContext): Promise<Reply>;
  autocomplete?(interaction: AutocompleteUse, context: CommandContext): Promise<Choice[]>;
  /** By subcommand: the form that it opens instead of being executed. Must be quick: nothing is deferred. */
  opens?: Record<
    string,
    (interaction: CommandUse, context: CommandContext) => Promise<APIModalInteractionResponseCallbackData>
  >;
  buttons?: Record<string, Button>;
  menus?: Record<string, Menu | FormMenu>;
  forms?: Record<string, Form>;
}

/** One command of a message's context menu; always answered in private. */
export interface MessageCommand {
  kind: 'message';
  data: { name: string; toJSON(): RESTPostAPIContextMenuApplicationCommandsJSONBody };
  access: Access;
  execute(interaction: MessageUse, context: CommandContext): Promise<Reply>;
  buttons?: Record<string, Button>;
  menus?: Record<string, Menu>;
}
