import type { AutocompleteInteraction, Interaction } from 'discord.js';
import { type Clock, inTime } from '../domain/clock.ts';
import { cutTo } from '../domain/text.ts';
import { forLog } from '../errors.ts';
import { accessOf } from './authority.ts';
import { type BoundaryOptions, createBoundary, nameOf } from './boundary.ts';
import type { AnyCommand, AutocompleteUse, Choice, InteractionContext } from './command.ts';
import { commandHandlers } from './command-handlers.ts';
import { componentHandlers } from './component-handlers.ts';

/** How long choices may take; after that, none are offered. */
const CHOICES_TIMEOUT_MS = 2_000;

/** What the dispatcher needs. */
export interface DispatcherOptions<Services extends object> extends BoundaryOptions<Services> {
  commands: readonly AnyCommand<Services & InteractionContext>[];
  /** Milliseconds since 1970. */
  now(): number;
  after: Clock['after'];
}

/** Creates the one handler of interactions, which never rejects. */
export function createDispatcher<Services extends object>({ commands, now, ...options }: DispatcherOptions<Services>) {
  const { log, after } = options;
  const boundary = createBoundary(options);
  const byName = new Map(commands.map((command) => [command.data.name, command]));
  const { command, messageCommand } = commandHandlers(byName, boundary, after);
  const { component, form } = componentHandlers(byName, boundary);

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
      log.info({ ...line, ms: now() - started }, 'interaction handled');
    } catch (error) {
      // The interaction has ended for the person (expired, deleted, Discord unreachable), so nothing can be shown.
      log.warn({ ...line, ms: now() - started, err: forLog(error) }, 'cannot respond to interaction');
    }
  };

  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    const named = byName.get(interaction.commandName);
    const found = named && !('kind' in named) ? named : null;
    const choices = async (): Promise<Choice[]> => {
      if (!found?.autocomplete || !(interaction.inGuild() || found.anywhere)) return [];
      const used = interaction as AutocompleteUse;
      const context = await boundary.contextOf(used, false);
      if (accessOf(found, used) === 'manage' && !context.manages) return [];
      return found.autocomplete(used, context);
    };
    const offered = await inTime(choices(), CHOICES_TIMEOUT_MS, { after }).catch((error: unknown) => {
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
