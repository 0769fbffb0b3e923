import {
  type APIModalInteractionResponseCallbackData,
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type Interaction,
  type MessageContextMenuCommandInteraction,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
} from 'discord.js';
import { inTime } from '../domain/clock.ts';
import { cutTo } from '../domain/text.ts';
import { acknowledge, tell, whole } from './answer.ts';
import { accessOf, installedHere } from './authority.ts';
import { type BoundaryOptions, createBoundary, forLog, nameOf, type Outcome } from './boundary.ts';
import type {
  Access,
  AnyCommand,
  ButtonUse,
  Choice,
  Command,
  CommandUse,
  FormUse,
  InteractionContext,
  MenuUse,
  MessageUse,
  Reply,
} from './command.ts';

/** What the dispatcher needs. `autocompleteMs` is how long choices may take before none are offered. */
export interface DispatcherOptions<Services extends object> extends BoundaryOptions<Services> {
  commands: readonly AnyCommand<Services & InteractionContext>[];
  /** Milliseconds since 1970. */
  now(): number;
  autocompleteMs?: number;
}

/** How long a public command may work before its answer is begun; Discord waits 3 s for that. */
const PUBLIC_MS = 1_000;

/** Makes the one entry for interactions; what it returns never rejects. */
export function createDispatcher<Services extends object>({
  commands,
  now,
  autocompleteMs = 2_000,
  ...options
}: DispatcherOptions<Services>) {
  type Context = Services & InteractionContext;
  const { log } = options;
  const { contextOf, run, show } = createBoundary(options);
  const byName = new Map(commands.map((command) => [command.data.name, command]));
  const slash = (name: string): Command<Context> | null => {
    const found = byName.get(name);
    return found && !('kind' in found) ? found : null;
  };

  return async function dispatch(interaction: Interaction): Promise<void> {
    const started = now();
    const line = { guild: interaction.guildId, interaction: nameOf(interaction) };
    try {
      if (interaction.isAutocomplete()) await complete(interaction);
      else if (interaction.isChatInputCommand()) await command(interaction);
      else if (interaction.isMessageContextMenuCommand()) await messageCommand(interaction);
      else if (interaction.isButton() || interaction.isStringSelectMenu()) await component(interaction);
      else if (interaction.isModalSubmit()) await form(interaction);
      else return log.warn(line, 'unknown interaction type');
      log.info({ ...line, ms: now() - started }, 'interaction answered');
    } catch (error) {
      // The interaction is over for the person (expired, deleted, Discord away), so there is nothing left to show.
      log.warn({ ...line, ms: now() - started, err: forLog(error) }, 'cannot respond to interaction');
    }
  };

  async function command(interaction: ChatInputCommandInteraction): Promise<void> {
    const found = slash(interaction.commandName);
    if (!interaction.inGuild() || !installedHere(interaction)) return tell(interaction, 'dispatcher.serverOnly');
    if (!found) return tell(interaction, 'dispatcher.unknownCommand');
    const used: CommandUse = interaction;
    const access = accessOf(found, used);
    const formOf = found.opens?.[used.options.getSubcommand(false) ?? ''];
    if (formOf) return openForm(used, access, (context) => formOf(used, context));
    const work = (isPublic: boolean) => run(used, access, isPublic, (context) => found.execute(used, context));
    if (found.public) return publicly(used, work(true));
    await acknowledge(used, () => used.deferReply({ flags: MessageFlags.Ephemeral }));
    await show(used, (await work(false)).shown);
  }

  /**
   * Answers the channel, but with a refusal only the person. Which of the two an answer is cannot be changed once it is
   * begun, so the work gets a moment before that.
   */
  async function publicly(used: CommandUse, work: Promise<Outcome>): Promise<void> {
    const early = await inTime(work, PUBLIC_MS);
    const refusal = ({ shown }: Outcome) => ({ ...whole(shown), flags: MessageFlags.Ephemeral }) as const;
    if (early?.failed) return acknowledge(used, () => used.reply(refusal(early)));
    await acknowledge(used, () => used.deferReply());
    const reply = early ?? (await work);
    if (!reply.failed) return show(used, reply.shown);
    const isTakenBack = await used.deleteReply().then(
      () => true,
      () => false,
    );
    // Better told to all than to nobody.
    await (isTakenBack ? used.followUp(refusal(reply)) : show(used, reply.shown));
  }

  /** Answers with a form, or with why there is none. */
  async function openForm(
    used: CommandUse | MenuUse,
    access: Access,
    formOf: (context: Context) => Promise<APIModalInteractionResponseCallbackData>,
  ): Promise<void> {
    const opened = await run(used, access, false, async (context) => {
      await used.showModal(await formOf(context));
      return {};
    });
    if (opened.failed) await used.reply({ ...whole(opened.shown), flags: MessageFlags.Ephemeral });
  }

  async function messageCommand(interaction: MessageContextMenuCommandInteraction): Promise<void> {
    const found = byName.get(interaction.commandName);
    if (!interaction.inGuild() || !installedHere(interaction)) return tell(interaction, 'dispatcher.serverOnly');
    if (!found || !('kind' in found)) return tell(interaction, 'dispatcher.unknownCommand');
    const used: MessageUse = interaction;
    await acknowledge(used, () => used.deferReply({ flags: MessageFlags.Ephemeral }));
    const reply = await run(used, found.access, false, (context) => found.execute(used, context));
    await show(used, reply.shown);
  }

  async function component(interaction: ButtonInteraction | StringSelectMenuInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const command = byName.get(name);
    const found = interaction.isButton() ? own(command?.buttons, action) : own(command?.menus, action);
    if (!interaction.inGuild()) return tell(interaction, 'dispatcher.serverOnly');
    if (!found) return tell(interaction, 'dispatcher.oldButton');
    const used: ButtonUse | MenuUse = interaction;
    if ('form' in found) {
      const menu = used as MenuUse;
      return openForm(menu, found.access, (context) => found.form(menu, args, menu.values, context));
    }
    const updates = found.answer === 'update' && isOwn(used);
    await acknowledge(used, () => (updates ? used.deferUpdate() : used.deferReply({ flags: MessageFlags.Ephemeral })));
    const isPublic = updates && !used.message.flags.has(MessageFlags.Ephemeral);
    const reply = await run(used, found.access, isPublic, (context) =>
      'press' in found
        ? found.press(used as ButtonUse, args, context)
        : found.choose(used as MenuUse, args, (used as MenuUse).values, context),
    );
    // A refusal must not wipe out the message that the button is on.
    const beside = (shown: Reply) => used.followUp({ ...whole(shown), flags: MessageFlags.Ephemeral });
    if (updates && reply.failed) await beside(reply.shown);
    else await show(used, reply.shown, updates ? beside : undefined);
  }

  async function form(interaction: ModalSubmitInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const found = own(slash(name)?.forms, action);
    if (!interaction.inGuild()) return tell(interaction, 'dispatcher.serverOnly');
    if (!found) return tell(interaction, 'dispatcher.oldButton');
    const used: FormUse = interaction;
    await acknowledge(used, () => used.deferReply({ flags: MessageFlags.Ephemeral }));
    const reply = await run(used, found.access, false, (context) => found.submit(used, args, context));
    await show(used, reply.shown);
  }

  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    const found = slash(interaction.commandName);
    const choices = async (): Promise<Choice[]> => {
      if (!found?.autocomplete || !interaction.inGuild()) return [];
      const context = await contextOf(interaction, false);
      if (accessOf(found, interaction) === 'manage' && !context.manages) return [];
      return found.autocomplete(interaction, context);
    };
    const offered = await inTime(choices(), autocompleteMs).catch((error: unknown) => {
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
}

/** What a record itself has: a custom id may say `constructor`, which every object inherits. */
function own<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether the message with the button answers this person's own command; unknown counts as own. */
function isOwn(interaction: ButtonUse | MenuUse): boolean {
  const asker = interaction.message.interactionMetadata?.user.id;
  return asker === undefined || asker === interaction.user.id;
}
