import { randomBytes } from 'node:crypto';
import { DiscordAPIError, type Interaction } from 'discord.js';
import type { Logger } from 'pino';
import { cutTo } from '../domain/text.ts';
import { UserError } from '../errors.ts';
import { languageOf, translator } from '../languages/index.ts';
import { type Replying, whole } from './answer.ts';
import { mayManage } from './authority.ts';
import type { Access, AutocompleteUse, CommandContext, CommandServices, Reply } from './command.ts';

/** Discord's limit of a message's text. */
const CONTENT_MAX = 2_000;

/** What guarded work gave: what is to be shown; `failed`: a refusal or an error, told in private. */
export interface Guarded {
  failed: boolean;
  shown: Reply;
}

/** Between the interactions and the commands: what these see, and how what they answer or throw is shown to people. */
export function createBoundary(parts: CommandServices, log: Logger) {
  /** What a command sees: a private answer speaks the person's language, a public one the guild's. */
  async function contextOf(interaction: Replying | AutocompleteUse, isPublic: boolean): Promise<CommandContext> {
    const server = await parts.store.guilds.settings(interaction.guildId);
    const { locale, guildLocale } = interaction;
    const manages = mayManage(interaction, server);
    const own = languageOf(locale, server.language, guildLocale);
    const language = isPublic ? languageOf(server.language, guildLocale, locale) : own;
    return { ...parts, server, language, t: translator(language), own: translator(own), manages };
  }

  /** The one error boundary: a {@link UserError} is shown as it is, everything else gets an id that the log has too. */
  async function guarded(
    interaction: Replying,
    access: Access,
    isPublic: boolean,
    work: (context: CommandContext) => Promise<Reply>,
  ): Promise<Guarded> {
    let t = translator(languageOf(interaction.locale));
    try {
      const context = await contextOf(interaction, isPublic);
      t = context.own;
      if (access === 'manage' && !context.manages) {
        throw new UserError(t('dispatcher.noAccess'));
      }
      return { failed: false, shown: await work(context) };
    } catch (error) {
      if (error instanceof UserError) return { failed: true, shown: { content: cutTo(error.message, CONTENT_MAX) } };
      return { failed: true, shown: { content: t('dispatcher.failed', { id: noted(interaction, error) }) } };
    }
  }

  /** Writes an error down and gives its id. */
  function noted(interaction: Replying, error: unknown): string {
    const id = randomBytes(4).toString('hex');
    log.error(
      { err: forLog(error), id, guild: interaction.guildId, interaction: nameOf(interaction) },
      'command failed',
    );
    return id;
  }

  /** Shows an answer. That Discord does not take it as it is is an error like others, told by `tellError`. */
  async function show(
    used: Replying,
    shown: Reply,
    tellError: (reply: Reply) => Promise<unknown> = (reply) => used.editReply(whole(reply)),
  ): Promise<void> {
    try {
      // What was attached to the answer before does not belong to this one.
      await used.editReply({ ...whole(shown), attachments: [] });
    } catch (error) {
      const status = error instanceof DiscordAPIError ? error.status : null;
      if (status !== 400 && status !== 413) throw error;
      const t = translator(languageOf(used.locale));
      await tellError({ content: t('dispatcher.failed', { id: noted(used, error) }) });
    }
  }

  return { contextOf, guarded, show };
}

/** An error without what else hangs on it: the library's own carry the request, with its tokens and the whole answer. */
export function forLog(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack, code, status } = error as Error & { code?: unknown; status?: unknown };
  return { type, message, stack, code, status };
}

/** What was used, as the log names it. */
export function nameOf(interaction: Interaction): string {
  if (interaction.isMessageComponent() || interaction.isModalSubmit())
    return interaction.customId.split(':').slice(0, 2).join(' ');
  if (interaction.isMessageContextMenuCommand()) return interaction.commandName;
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return 'other';
  const sub = interaction.options.getSubcommand(false);
  return `${interaction.commandName}${sub ? ` ${sub}` : ''}${interaction.isAutocomplete() ? ' (choices)' : ''}`;
}
