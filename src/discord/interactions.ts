import { randomBytes } from 'node:crypto';
import {
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIEmbed,
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  DiscordAPIError,
  type Interaction,
  MessageFlags,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  type RESTPostAPIChannelMessageJSONBody,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from 'discord.js';
import type { Logger } from 'pino';
import type { Subscription } from '../domain/subscription.ts';
import { UserError } from '../errors.ts';
import type { Store } from '../store/tables.ts';
import type { Discovery } from '../upstream/discovery.ts';
import type { Explorer } from '../upstream/explorer.ts';
import type { Notification } from '../upstream/notification.ts';

/** What commands need to know of the configuration. */
export interface CommandSettings {
  maxSubscriptions: number;
  /** The explorer's web root, without a slash at its end. */
  explorerUrl: string | undefined;
  discoveryUrl: string | undefined;
  publicUrl: string;
  /** Where the operator's webhooks must point; holds the path secret, so only operator guilds may see it. */
  receiverUrl: string;
  operatorGuildIds: readonly string[];
  version: string;
}

/** Everything that a command sees besides its interaction. An interface that is off is null. */
export interface CommandContext {
  store: Store;
  explorer: Explorer | null;
  discovery: Discovery | null;
  /** The operator's project. */
  notification: Notification | null;
  settings: CommandSettings;
  /** Milliseconds since 1970. */
  now(): number;
  /** A line as the subscription would be told, marked as a sample. */
  sample(subscription: Subscription): RESTPostAPIChannelMessageJSONBody;
  /** The last delivery that was refused for its source address since the start. */
  lastRefused(): { source: string | null; at: number } | null;
  /** Whether the receiver answers at its public address. */
  probeReceiver(): Promise<'reachable' | 'unreachable' | 'other'>;
}

/** Who may use it: everybody, or Manage Server and the server's manager role. */
export type Access = 'all' | 'manage';

/** What is shown; everything left out is empty. */
export interface Reply {
  content?: string;
  embeds?: APIEmbed[];
  components?: APIActionRowComponent<APIButtonComponent>[];
}

/** What autocomplete offers; cut to Discord's limits by the dispatcher. */
export interface Choice {
  name: string;
  value: string;
}

/** Interactions as commands get them: always in a server. */
export type CommandUse = ChatInputCommandInteraction<'cached' | 'raw'>;
export type AutocompleteUse = AutocompleteInteraction<'cached' | 'raw'>;
export type ButtonUse = ButtonInteraction<'cached' | 'raw'>;

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

/** One slash command: its definition and what it does. */
export interface Command {
  data: { name: string; toJSON(): RESTPostAPIChatInputApplicationCommandsJSONBody };
  /** For the whole command, or by subcommand; a subcommand that is not named needs `manage`. */
  access: Access | Record<string, Access>;
  /** true: the answer is for the channel; default: only for the person who asked. */
  public?: boolean;
  /** Throws a {@link UserError} whose message is shown; anything else is logged and answered with a fixed sentence. */
  execute(interaction: CommandUse, context: CommandContext): Promise<Reply>;
  autocomplete?(interaction: AutocompleteUse, context: CommandContext): Promise<Choice[]>;
  buttons?: Record<string, Button>;
}

/** What the dispatcher needs. `autocompleteMs` is how long choices may take before none are offered. */
export interface DispatcherOptions {
  commands: readonly Command[];
  context: CommandContext;
  log: Logger;
  autocompleteMs?: number;
}

const GUILD_ONLY = 'I only work inside a server. Add me to yours, then use this command in one of its channels.';
const NO_ACCESS =
  'For this you need the **Manage Server** permission, or the manager role that an admin chose with `/setup server`.';
const UNKNOWN = 'I do not know this command any more. Reload Discord (Ctrl+R, or restart the app) and try again.';
const OLD_BUTTON = 'This button is from an older version. Use the command again.';

type Replying = CommandUse | ButtonUse;

/** Makes the one entry for interactions; what it returns never rejects. */
export function createDispatcher({ commands, context, log, autocompleteMs = 2_000 }: DispatcherOptions) {
  const byName = new Map(commands.map((command) => [command.data.name, command]));

  return async function dispatch(interaction: Interaction): Promise<void> {
    const started = context.now();
    const line = { guild: interaction.guildId, interaction: nameOf(interaction) };
    try {
      if (interaction.isAutocomplete()) await complete(interaction);
      else if (interaction.isChatInputCommand()) await command(interaction);
      else if (interaction.isButton()) await button(interaction);
      else return;
      log.info({ ...line, ms: context.now() - started }, 'interaction answered');
    } catch (error) {
      // The person's side is over (expired, deleted, Discord away): nothing is left to say to them.
      log.warn({ ...line, ms: context.now() - started, err: error }, 'interaction could not be answered');
    }
  };

  async function command(interaction: ChatInputCommandInteraction): Promise<void> {
    const found = byName.get(interaction.commandName);
    if (!interaction.inGuild() || !installedHere(interaction)) return tell(interaction, GUILD_ONLY);
    if (!found) return tell(interaction, UNKNOWN);
    const asked = interaction;
    await acknowledge(asked, () => asked.deferReply(found.public ? {} : { flags: MessageFlags.Ephemeral }));
    const reply = await guarded(asked, async () => {
      await requireAccess(asked, accessOf(found, asked));
      return found.execute(asked, context);
    });
    await asked.editReply(whole(reply.shown));
  }

  async function button(interaction: ButtonInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const found = byName.get(name)?.buttons?.[action];
    if (!interaction.inGuild()) return tell(interaction, GUILD_ONLY);
    if (!found) return tell(interaction, OLD_BUTTON);
    const pressed = interaction;
    const updates = found.answer === 'update' && isOwn(pressed);
    await acknowledge(pressed, () =>
      updates ? pressed.deferUpdate() : pressed.deferReply({ flags: MessageFlags.Ephemeral }),
    );
    const reply = await guarded(pressed, async () => {
      await requireAccess(pressed, found.access);
      return found.press(pressed, args, context);
    });
    // A refusal must not wipe out the message that the button is on.
    if (updates && reply.failed) {
      await pressed.followUp({ ...whole(reply.shown), flags: MessageFlags.Ephemeral });
    } else await pressed.editReply(whole(reply.shown));
  }

  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    const found = byName.get(interaction.commandName);
    const late = Promise.withResolvers<Choice[]>();
    const timer = setTimeout(() => late.resolve([]), autocompleteMs);
    const choices = async (): Promise<Choice[]> => {
      if (!found?.autocomplete || !interaction.inGuild()) return [];
      if (accessOf(found, interaction) === 'manage' && !(await mayManage(interaction, context))) return [];
      return found.autocomplete(interaction, context);
    };
    const offered = await Promise.race([choices(), late.promise])
      .catch((error: unknown) => {
        log.warn({ err: error, interaction: nameOf(interaction) }, 'autocomplete failed');
        return [];
      })
      .finally(() => clearTimeout(timer));
    await interaction.respond(
      offered
        .filter(({ value }) => value.length > 0 && value.length <= 100)
        .slice(0, 25)
        .map(({ name, value }) => ({ name: cut(name || value), value })),
    );
  }

  async function requireAccess(interaction: Replying, access: Access): Promise<void> {
    if (access === 'manage' && !(await mayManage(interaction, context))) throw new UserError(NO_ACCESS);
  }

  /** The one error boundary: a {@link UserError} is shown as it is, everything else gets an id that the log has too. */
  async function guarded(
    interaction: Replying,
    work: () => Promise<Reply>,
  ): Promise<{ failed: boolean; shown: Reply }> {
    try {
      return { failed: false, shown: await work() };
    } catch (error) {
      if (error instanceof UserError) return { failed: true, shown: { content: error.message } };
      const id = randomBytes(4).toString('hex');
      log.error({ err: error, id, guild: interaction.guildId, interaction: nameOf(interaction) }, 'command failed');
      const content =
        `Something went wrong on my side; it is noted as \`${id}\`. Try again in a minute. ` +
        'If it stays, tell the person who runs this bot that id.';
      return { failed: true, shown: { content } };
    }
  }
}

/**
 * Whether the member may configure the bot here: Manage Server (Administrator and the owner have it), or the server's
 * manager role.
 */
async function mayManage(
  interaction: Replying | AutocompleteUse,
  { store }: Pick<CommandContext, 'store'>,
): Promise<boolean> {
  // Always there at Discord itself.
  if (interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  const { managerRole } = await store.servers.settings(interaction.guildId);
  if (managerRole === null || managerRole === interaction.guildId) return false;
  const { roles } = interaction.member;
  return Array.isArray(roles) ? roles.includes(managerRole) : roles.cache.has(managerRole);
}

function accessOf(command: Command, interaction: CommandUse | AutocompleteUse): Access {
  if (typeof command.access === 'string') return command.access;
  return command.access[interaction.options.getSubcommand(false) ?? ''] ?? 'manage';
}

/** Discord names who installed the app; without this server among them the bot is not a member here. */
function installedHere(interaction: ChatInputCommandInteraction): boolean {
  const { guildId, userId } = interaction.authorizingIntegrationOwners;
  return userId === null || guildId !== null;
}

/** Whether the message with the button answers this person's own command; unknown counts as own. */
function isOwn(interaction: ButtonUse): boolean {
  const asker = interaction.message.interactionMetadata?.user.id;
  return asker === undefined || asker === interaction.user.id;
}

/**
 * Defers the answer. A connection that breaks is tried once more, and "already acknowledged" then means that Discord
 * took the first try.
 */
async function acknowledge(interaction: Replying, defer: () => Promise<unknown>): Promise<void> {
  try {
    await defer().catch((error: unknown) => (error instanceof DiscordAPIError ? Promise.reject(error) : defer()));
  } catch (error) {
    const known = error instanceof DiscordAPIError ? error.code : null;
    if (known !== RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged) throw error;
    interaction.deferred = true;
  }
}

async function tell(interaction: ChatInputCommandInteraction | ButtonInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

function whole({ content, embeds = [], components = [] }: Reply) {
  return { content: content ?? '', embeds, components };
}

function nameOf(interaction: Interaction): string {
  if (interaction.isButton()) return interaction.customId.split(':').slice(0, 2).join(' ');
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return 'other';
  const sub = interaction.options.getSubcommand(false);
  return `${interaction.commandName}${sub ? ` ${sub}` : ''}${interaction.isAutocomplete() ? ' (choices)' : ''}`;
}

/** At most 100 characters without cutting a surrogate pair in two. */
function cut(name: string): string {
  if (name.length <= 100) return name;
  const short = name.slice(0, 99);
  return `${/[\ud800-\udbff]$/.test(short) ? short.slice(0, -1) : short}…`;
}
