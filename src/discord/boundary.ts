import { randomBytes } from 'node:crypto';
import {
  type APIModalInteractionResponseCallbackData,
  DiscordAPIError,
  type Interaction,
  MessageFlags,
} from 'discord.js';
import type { Logger } from 'pino';
import { type GuildSettings, NO_SETTINGS } from '../domain/guild.ts';
import { cutTo } from '../domain/text.ts';
import { forLog, UserError } from '../errors.ts';
import { languageOf, translator } from '../languages/index.ts';
import { installedHere, mayManage } from './authority.ts';
import type {
  Access,
  AutocompleteUse,
  ButtonUse,
  CommandUse,
  FormUse,
  InteractionContext,
  MenuUse,
  Reply,
} from './command.ts';
import { MAX_CONTENT } from './message-limits.ts';
import { type Replying, whole } from './reply.ts';

/** What the boundary needs, and the services that it passes to commands. */
export interface BoundaryOptions<Services extends object> {
  /** Passed to every command together with the {@link InteractionContext}. */
  services: Services;
  settingsOf(guildId: string): Promise<GuildSettings>;
  /** Turns the names of commands in a reply into links. */
  link(reply: Reply): Reply;
  log: Logger;
}

/** A command's reply; `failed`: it is a refusal or an error, which is shown in private. */
export interface Outcome {
  failed: boolean;
  shown: Reply;
}

/** The error boundary around commands. */
export type Boundary<Services extends object> = ReturnType<typeof createBoundary<Services>>;

/** Creates the boundary around commands: their context, and how replies and errors are shown. */
export function createBoundary<Services extends object>({
  services,
  settingsOf,
  log,
  link,
}: BoundaryOptions<Services>) {
  type Context = Services & InteractionContext;

  /** A command's context. A private reply is in the person's language, a public one in the guild's. */
  async function contextOf(interaction: Replying | AutocompleteUse, isPublic: boolean): Promise<Context> {
    const isOutside = !interaction.inGuild() || !installedHere(interaction);
    const server = isOutside ? NO_SETTINGS : await settingsOf(interaction.guildId);
    const { locale, guildLocale } = interaction;
    const manages = !isOutside && mayManage(interaction, server);
    const own = languageOf(locale, server.language, guildLocale);
    const language = isPublic ? languageOf(server.language, guildLocale, locale) : own;
    return { ...services, server, language, t: translator(language), own: translator(own), isOutside, manages };
  }

  /** The one error boundary: a {@link UserError} is shown; any other error is logged, and its ID is shown. */
  async function run(
    interaction: Replying,
    access: Access,
    isPublic: boolean,
    work: (context: Context) => Promise<Reply>,
  ): Promise<Outcome> {
    let t = translator(languageOf(interaction.locale));
    try {
      const context = await contextOf(interaction, isPublic);
      t = context.own;
      if (access === 'manage' && !context.manages) {
        throw new UserError(t('dispatcher.noAccess'));
      }
      return { failed: false, shown: link(await work(context)) };
    } catch (error) {
      if (error instanceof UserError)
        return { failed: true, shown: link({ content: cutTo(error.message, MAX_CONTENT) }) };
      return { failed: true, shown: { content: t('dispatcher.failed', { id: logError(interaction, error) }) } };
    }
  }

  /** Opens a form, or replies why it cannot be opened. */
  async function openForm(
    interaction: CommandUse | MenuUse | ButtonUse,
    access: Access,
    formOf: (context: Context) => Promise<APIModalInteractionResponseCallbackData>,
  ): Promise<void> {
    const opened = await run(interaction, access, false, async (context) => {
      await interaction.showModal(await formOf(context));
      return {};
    });
    if (opened.failed) await interaction.reply({ ...whole(opened.shown), flags: MessageFlags.Ephemeral });
  }

  /** Logs an error; returns the ID that the log line and the person's message share. */
  function logError(interaction: Replying, error: unknown): string {
    const id = randomBytes(4).toString('hex');
    log.error(
      { err: forLog(error), id, guild: interaction.guildId, interaction: nameOf(interaction) },
      'command failed',
    );
    return id;
  }

  /** Shows a reply. If Discord refuses its content, that is an error like any other, shown with `showError`. */
  async function show(
    interaction: Replying,
    shown: Reply,
    showError: (reply: Reply) => Promise<unknown> = (reply) => interaction.editReply(whole(reply)),
  ): Promise<void> {
    try {
      // Files of the previous reply do not belong to this one.
      await interaction.editReply({ ...whole(shown), attachments: [] });
    } catch (error) {
      const status = error instanceof DiscordAPIError ? error.status : null;
      if (status !== 400 && status !== 413) throw error;
      const t = translator(languageOf(interaction.locale));
      await showError({ content: t('dispatcher.failed', { id: logError(interaction, error) }) });
    }
  }

  /**
   * Shows the result of a button, a menu or a form. `updates`: the reply replaces the message that it is on; a refusal
   * or an error must not, and is shown in private instead.
   */
  async function showResult(
    interaction: ButtonUse | MenuUse | FormUse,
    { failed, shown }: Outcome,
    updates: boolean,
  ): Promise<void> {
    const inPrivate = (reply: Reply) => interaction.followUp({ ...whole(reply), flags: MessageFlags.Ephemeral });
    if (updates && failed) await inPrivate(shown);
    else await show(interaction, shown, updates ? inPrivate : undefined);
  }

  return { contextOf, run, openForm, show, showResult };
}

/** Name of the interaction in log lines. */
export function nameOf(interaction: Interaction): string {
  if (interaction.isMessageComponent() || interaction.isModalSubmit())
    return interaction.customId.split(':').slice(0, 2).join(' ');
  if (interaction.isMessageContextMenuCommand()) return interaction.commandName;
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return 'other';
  const sub = interaction.options.getSubcommand(false);
  return `${interaction.commandName}${sub ? ` ${sub}` : ''}${interaction.isAutocomplete() ? ' (choices)' : ''}`;
}
