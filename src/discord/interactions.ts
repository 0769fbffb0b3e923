import { randomBytes } from 'node:crypto';
import {
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  DiscordAPIError,
  type Interaction,
  type MessageContextMenuCommandInteraction,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
} from 'discord.js';
import type { Logger } from 'pino';
import { type Clock, inTime } from '../domain/clock.ts';
import { type GuildSettings, NO_SETTINGS } from '../domain/guild.ts';
import { cutTo } from '../domain/text.ts';
import { forLog, type OtherText, UserError } from '../errors.ts';
import { languageOf, translator } from '../languages/index.ts';
import {
  type Access,
  type AnyCommand,
  type AutocompleteUse,
  type ButtonUse,
  type Choice,
  type CommandUse,
  type FormData,
  type FormUse,
  type InteractionContext,
  MAX_CONTENT,
  type MenuUse,
  type MessageUse,
  type Reply,
  type Use,
} from './command.ts';
import {
  AGAIN,
  accessOf,
  createRefusals,
  inPrivate,
  installedHere,
  isHere,
  mayManage,
  refilled,
  replyWith,
  retyped,
  whole,
  withButtons,
} from './reply.ts';

/** How long a public command may run before its reply is deferred; Discord allows 3 s. */
const DEFER_AFTER_MS = 1_000;
const CHOICES_TIMEOUT_MS = 2_000;

export interface InteractionOptions<Services extends object> {
  commands(): Promise<readonly AnyCommand<Services & InteractionContext>[]>;
  services: Services;
  settingsOf(guildId: string): Promise<GuildSettings>;
  log: Logger;
  now(): number;
  after: Clock['after'];
}

interface Outcome {
  isError: boolean;
  reply: Reply;
  readings?: readonly OtherText[];
}

export function createInteractions<Services extends object>(options: InteractionOptions<Services>) {
  type Context = Services & InteractionContext;
  const { services, settingsOf, log, now, after } = options;
  const refusals = createRefusals<Outcome>();
  let loading: Promise<Map<string, AnyCommand<Context>>> | undefined;
  /** Turns commands that a reply names into mentions, once Discord has sent their IDs. */
  let mention = (reply: Reply): Reply => reply;

  const loaded = () =>
    (loading ??= options.commands().then((all) => new Map(all.map((command) => [command.data.name, command]))));

  /** A private reply is in the person's language, a public one in the guild's. */
  async function contextOf(interaction: Use | AutocompleteUse, isPublic: boolean): Promise<Context> {
    const isOutside = !interaction.inGuild() || !installedHere(interaction);
    const server = isOutside ? NO_SETTINGS : await settingsOf(interaction.guildId);
    const { locale, guildLocale } = interaction;
    const manages = !isOutside && mayManage(interaction, server);
    const person = languageOf(locale, server.language, guildLocale);
    const language = isPublic ? languageOf(server.language, guildLocale, locale) : person;
    const use = interaction as Context['interaction'];
    const [t, own] = [translator(language), translator(person)];
    return { ...services, interaction: use, guildId: use.guildId, server, language, t, own, isOutside, manages };
  }

  /** A {@link UserError} is shown; any other error is logged, and its ID is shown. */
  async function run(
    interaction: Use,
    access: Access,
    isPublic: boolean,
    work: (context: Context) => Promise<Reply>,
  ): Promise<Outcome> {
    let t = translator(languageOf(interaction.locale));
    try {
      const context = await contextOf(interaction, isPublic);
      t = context.own;
      if (access === 'manage' && !context.manages) throw new UserError(t('dispatcher.noAccess'));
      return { isError: false, reply: mention(await work(context)) };
    } catch (error) {
      if (!(error instanceof UserError))
        return { isError: true, reply: { content: t('dispatcher.failed', { id: logError(interaction, error) }) } };
      const reply = mention({ content: cutTo(error.message, MAX_CONTENT) });
      return { isError: true, reply, readings: error.readings };
    }
  }

  function logError(interaction: Use, error: unknown): string {
    const id = randomBytes(4).toString('hex');
    log.error(
      { err: forLog(error), id, guild: interaction.guildId, interaction: nameOf(interaction) },
      'command failed',
    );
    return id;
  }

  /** If Discord refuses the reply's content, that is an error like any other, shown with `showError`. */
  async function show(
    interaction: Use,
    reply: Reply,
    showError: (reply: Reply) => Promise<unknown> = (error) => interaction.editReply(whole(error)),
  ): Promise<void> {
    try {
      // Files of the previous reply do not belong to this one.
      await interaction.editReply({ ...whole(reply), attachments: [] });
    } catch (error) {
      const status = error instanceof DiscordAPIError ? error.status : null;
      if (status !== 400 && status !== 413) throw error;
      const t = translator(languageOf(interaction.locale));
      await showError({ content: t('dispatcher.failed', { id: logError(interaction, error) }) });
    }
  }

  async function openForm(
    interaction: CommandUse | MenuUse | ButtonUse,
    access: Access,
    formOf: (context: Context) => Promise<FormData>,
  ): Promise<void> {
    const { isError, reply } = await run(interaction, access, false, async (context) => {
      const shown = await formOf(context);
      refusals.opened(interaction.user.id, shown);
      await interaction.showModal(shown);
      return {};
    });
    if (isError) await interaction.reply(inPrivate(reply));
  }

  async function slashCommand(interaction: ChatInputCommandInteraction): Promise<void> {
    const found = (await loaded()).get(interaction.commandName);
    const isAnywhere = found && !('kind' in found) && found.anywhere;
    if (!isAnywhere && !isHere(interaction)) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found || 'kind' in found) return replyWith(interaction, 'dispatcher.unknownCommand');
    // Outside of a guild, `context.isOutside` keeps the command from reading the guild's ID.
    const used = interaction as CommandUse;
    const access = accessOf(found, used);
    const formOf = found.opens?.[used.options.getSubcommand(false) ?? ''];
    if (formOf) return openForm(used, access, (context) => formOf(used, context));
    const work = async (isPublic: boolean, by: CommandUse = used): Promise<Outcome> => {
      const outcome = await run(by, access, isPublic, (context) => found.execute(by, context));
      const again = refusals.readings(outcome.readings ?? [], (button, text) => work(false, retyped(by, button, text)));
      return { ...outcome, reply: withButtons(outcome.reply, again) };
    };
    await (found.public ? publicly(used, work(true)) : respond(used, false, () => work(false)));
  }

  /**
   * Shows a refusal only to the person. A deferred reply cannot change between public and private, so the command gets
   * a moment before it is deferred.
   */
  async function publicly(used: CommandUse, work: Promise<Outcome>): Promise<void> {
    const early = await inTime(work, DEFER_AFTER_MS, { after });
    if (early?.isError) return void (await used.reply(inPrivate(early.reply)));
    await used.deferReply();
    const { isError, reply } = early ?? (await work);
    const deleted = () => used.deleteReply().then(() => true);
    const isTakenBack = isError && (await deleted().catch(() => false));
    // A public refusal is better than none.
    await (isTakenBack ? used.followUp(inPrivate(reply)) : show(used, reply));
  }

  async function messageCommand(interaction: MessageContextMenuCommandInteraction): Promise<void> {
    const found = (await loaded()).get(interaction.commandName);
    if (!isHere(interaction)) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found || !('kind' in found)) return replyWith(interaction, 'dispatcher.unknownCommand');
    const used = interaction as MessageUse;
    await respond(used, false, () => run(used, found.access, false, (context) => found.execute(used, context)));
  }

  async function component(interaction: ButtonInteraction | StringSelectMenuInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const refused = name === AGAIN && interaction.inGuild() ? refusals.find(action) : undefined;
    if (refused) return again(interaction as ButtonUse, refused);
    const command = (await loaded()).get(name);
    const found = interaction.isButton() ? own(command?.buttons, action) : own(command?.menus, action);
    const isAnywhere = found && 'anywhere' in found && found.anywhere;
    if (!isAnywhere && !interaction.inGuild()) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found) return replyWith(interaction, 'dispatcher.oldButton');
    const used = interaction as ButtonUse | MenuUse;
    const values = used.isStringSelectMenu() ? used.values : [];
    const { access = 'manage' } = found;
    if ('form' in found) return openForm(used, access, (context) => found.form(used, args, context, values));
    const updates = found.response !== 'reply' && isOwn(used);
    const isPublic = updates && !used.message.flags.has(MessageFlags.Ephemeral);
    const work = (context: Context) =>
      'press' in found
        ? found.press(used as ButtonUse, args, context)
        : found.choose(used as MenuUse, args, context, values);
    await respond(used, updates, () => run(used, access, isPublic, work));
  }

  async function form(interaction: ModalSubmitInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const command = (await loaded()).get(name);
    const found = command && 'forms' in command ? own(command.forms, action) : undefined;
    if (!interaction.inGuild()) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found) return replyWith(interaction, 'dispatcher.oldButton');
    const used: FormUse = interaction;
    const updates = found.response === 'update' && used.isFromMessage() && isOwn(used);
    const { access = 'manage' } = found;
    const work = async (by: FormUse = used): Promise<Outcome> => {
      const outcome = await run(by, access, false, (context) => found.submit(by, args, context));
      if (!outcome.isError) return outcome;
      const buttons = [
        ...refusals.readings(outcome.readings ?? [], (button, text) => work(refilled(by, button, text))),
        ...refusals.form(
          by,
          found.secrets ?? [],
          translator(languageOf(by.locale, by.guildLocale))('dispatcher.tryAgain'),
        ),
      ];
      return { ...outcome, reply: withButtons(outcome.reply, buttons) };
    };
    await respond(used, updates, work);
  }

  async function again(used: ButtonUse, refused: NonNullable<ReturnType<typeof refusals.find>>): Promise<void> {
    if ('form' in refused) return openForm(used, 'all', async () => refused.form);
    await used.deferUpdate();
    await show(used, (await refused.work(used)).reply);
  }

  /**
   * `updates`: the reply replaces the message with the component; a refusal or an error must not, and is shown in
   * private instead.
   */
  async function respond(used: Use, updates: boolean, work: () => Promise<Outcome>): Promise<void> {
    await (updates ? (used as ButtonUse).deferUpdate() : used.deferReply({ flags: MessageFlags.Ephemeral }));
    const { isError, reply } = await work();
    const followUp = (shown: Reply) => used.followUp(inPrivate(shown));
    if (updates && isError) await followUp(reply);
    else await show(used, reply, updates ? followUp : undefined);
  }

  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    const choices = async (): Promise<Choice[]> => {
      const found = (await loaded()).get(interaction.commandName);
      if (!found || 'kind' in found || !found.autocomplete || !(interaction.inGuild() || found.anywhere)) return [];
      const used = interaction as AutocompleteUse;
      const context = await contextOf(used, false);
      if (accessOf(found, used) === 'manage' && !context.manages) return [];
      return found.autocomplete(used, context);
    };
    const offered = await inTime(choices(), CHOICES_TIMEOUT_MS, { after }).catch((error: unknown) => {
      // What another option has so far may be wrong.
      if (!(error instanceof UserError))
        log.warn({ err: forLog(error), interaction: nameOf(interaction) }, 'autocomplete failed');
      return null;
    });
    await interaction.respond(
      (offered ?? [])
        .filter(({ value }) => value.length > 0 && value.length <= 100)
        .slice(0, 25)
        .map(({ name, value }) => ({ name: cutTo(name || value, 100), value })),
    );
  }

  return {
    commands: async () => [...(await loaded()).values()],
    mentionWith(turn: (reply: Reply) => Reply): void {
      mention = turn;
    },
    async dispatch(interaction: Interaction): Promise<void> {
      const started = now();
      const line = { guild: interaction.guildId, interaction: nameOf(interaction) };
      try {
        if (interaction.isAutocomplete()) await complete(interaction);
        else if (interaction.isChatInputCommand()) await slashCommand(interaction);
        else if (interaction.isMessageContextMenuCommand()) await messageCommand(interaction);
        else if (interaction.isButton() || interaction.isStringSelectMenu()) await component(interaction);
        else if (interaction.isModalSubmit()) await form(interaction);
        else return log.warn(line, 'unknown interaction type');
        log.info({ ...line, ms: now() - started }, 'interaction handled');
      } catch (error) {
        // The interaction has ended for the person (expired, deleted, Discord unreachable), so nothing can be shown.
        log.warn({ ...line, ms: now() - started, err: forLog(error) }, 'cannot respond to interaction');
      }
    },
  };
}

/** A custom ID may contain `constructor`, which every object inherits. */
function own<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether the message is the response to this person's command. Posts without a command belong to everybody. */
function isOwn(interaction: ButtonUse | MenuUse | FormUse): boolean {
  const { interactionMetadata: asked, flags } = interaction.message ?? {};
  return asked?.user.id === interaction.user.id || flags?.has(MessageFlags.Ephemeral) === true;
}

function nameOf(interaction: Interaction): string {
  if (interaction.isMessageComponent() || interaction.isModalSubmit())
    return interaction.customId.split(':').slice(0, 2).join(' ');
  if (interaction.isMessageContextMenuCommand()) return interaction.commandName;
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return 'other';
  const sub = interaction.options.getSubcommand(false);
  return `${interaction.commandName}${sub ? ` ${sub}` : ''}${interaction.isAutocomplete() ? ' (choices)' : ''}`;
}
